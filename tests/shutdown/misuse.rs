//! Wrong uses panic at once, say what is wrong and what to do, and point at the caller's line.
//!
//! Mutations that these tests are for: a missing `#[track_caller]`; a message for another case; a hang in place of a
//! panic.

use std::time::Duration;

use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Handle, Runtime};
use rt_test_util::*;

/// The panic is the caller's: this file, that line.
#[track_caller]
fn assert_says(caught: &Caught, words: &str) {
    assert!(caught.message.contains(words), "{caught:?}");
    assert!(caught.file.ends_with("misuse.rs"), "not at the caller: {caught:?}");
}

macro_rules! panics_here {
    ($words:expr, $what:expr) => {{
        let (caught, line) = (catch(|| $what), line!());
        assert_says(&caught, $words);
        assert_eq!(caught.line, line, "not at the caller's line: {caught:?}");
    }};
}

const NO_RUNTIME: &str = "there is no reactor running on this thread, for it is in no rt runtime";

#[test]
fn without_a_runtime_everything_that_needs_one_says_so() {
    let _watchdog = watchdog();
    panics_here!(NO_RUNTIME, rt::spawn(async {}));
    panics_here!(NO_RUNTIME, rt::spawn_blocking(|| ()));
    panics_here!("`spawn_local` called from outside of a `task::LocalSet`", rt::spawn_local(async {}));
    panics_here!(NO_RUNTIME, rt::task::Builder::new().spawn(async {}).unwrap());
    panics_here!(NO_RUNTIME, Handle::current());
    panics_here!(NO_RUNTIME, rt::time::sleep(Duration::ZERO));
    panics_here!(NO_RUNTIME, rt::time::sleep_until(rt::time::Instant::now()));
    panics_here!(NO_RUNTIME, rt::time::timeout(Duration::ZERO, async {}));
    panics_here!(NO_RUNTIME, rt::time::interval(Duration::from_secs(1)));
    panics_here!(NO_RUNTIME, rt::time::pause());
    panics_here!("outside of a task", rt::task::id());
    let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    std.set_nonblocking(true).unwrap();
    panics_here!(NO_RUNTIME, TcpListener::from_std(std));
    assert!(Handle::try_current().is_err_and(|error| error.to_string().contains(NO_RUNTIME)));
}

/// Polls a future on a thread without a runtime.
fn poll_alone<T>(future: impl Future<Output = T>) {
    let mut future = std::pin::pin!(future);
    let _ = future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
}

#[test]
fn without_a_runtime_a_socket_says_so_when_polled_and_names_the_caller() {
    let _watchdog = watchdog();
    let bind = catch(|| poll_alone(TcpListener::bind("127.0.0.1:0")));
    assert!(bind.message.contains(NO_RUNTIME) && bind.message.contains("misuse.rs"), "{bind:?}");
    let connect = catch(|| poll_alone(TcpStream::connect("127.0.0.1:1")));
    assert!(connect.message.contains(NO_RUNTIME) && connect.message.contains("misuse.rs"), "{connect:?}");
}

#[test]
fn without_the_timer_driver_timers_say_how_to_get_it() {
    let _watchdog = watchdog();
    for builder in [Builder::new_current_thread().enable_io(), Builder::new_multi_thread().worker_threads(1)] {
        let runtime = builder.build().unwrap();
        let _guard = runtime.enter();
        panics_here!("enable_time", rt::time::sleep(Duration::from_secs(1)));
        panics_here!("enable_time", rt::time::interval(Duration::from_secs(1)));
        panics_here!("enable_time", rt::time::timeout(Duration::from_secs(1), async {}));
        // `Instant` needs no driver.
        let _ = rt::time::Instant::now();
    }
}

#[test]
fn without_the_io_driver_sockets_say_how_to_get_it() {
    let _watchdog = watchdog();
    for builder in [Builder::new_current_thread().enable_time(), Builder::new_multi_thread().worker_threads(1)] {
        let runtime = builder.build().unwrap();
        let bind = catch(|| runtime.block_on(async { TcpListener::bind("127.0.0.1:0").await }));
        assert!(bind.message.contains("enable_io") && bind.message.contains("misuse.rs"), "{bind:?}");
        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        std.set_nonblocking(true).unwrap();
        let _guard = runtime.enter();
        panics_here!("enable_io", TcpListener::from_std(std));
    }
}

#[test]
fn block_on_inside_of_a_runtime_is_refused() {
    let _watchdog = watchdog();
    let words = "`block_on` was called inside a runtime";
    on_each_runtime(|runtime| {
        let other = current();
        runtime.block_on(async {
            panics_here!(words, Handle::current().block_on(async {}));
            panics_here!(words, other.block_on(async {}));
            let in_task = rt::spawn(async { catch(|| Handle::current().block_on(async {})) }).await.unwrap();
            assert_says(&in_task, words);
        });
        // And all is well afterwards.
        runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    });
}

#[test]
fn a_runtime_dropped_in_async_code_panics_instead_of_waiting_for_itself_and_ends() {
    let _watchdog = watchdog();
    let words = "dropped inside a task or `block_on`";
    // Inside another one's `block_on`.
    for runtime in [multi(1), current()] {
        let (drops, outer) = (Drops::new(), current());
        let token = drops.token();
        let task = runtime.spawn(async move {
            let _token = token;
            std::future::pending::<()>().await;
        });
        outer.block_on(async {
            let caught = catch(|| drop(runtime));
            assert!(caught.message.contains(words) && caught.message.contains("shutdown_background"), "{caught:?}");
        });
        eventually(|| task.is_finished());
        drops.assert_all();
    }
    // Inside a task of its own.
    let runtime = multi(1);
    let handle = runtime.handle().clone();
    let task = handle.spawn(async move { catch(|| drop(runtime)).message });
    eventually(|| task.is_finished());
    assert!(current().block_on(task).unwrap().contains(words));
}

#[test]
fn shutdown_timeout_in_async_code_is_refused_unless_it_waits_for_nothing() {
    let _watchdog = watchdog();
    let outer = current();
    let (one, two) = (multi(1), multi(1));
    outer.block_on(async {
        one.shutdown_timeout(Duration::ZERO);
        panics_here!("inside a task or `block_on`", two.shutdown_timeout(Duration::from_secs(1)));
    });
}

#[test]
fn a_drop_while_panicking_in_async_code_does_not_abort() {
    let _watchdog = watchdog();
    let outer = current();
    let inner = multi(1);
    let caught = catch(|| {
        outer.block_on(async move {
            let _inner = inner;
            panic!("the first panic");
        })
    });
    assert_eq!(caught.message, "the first panic");
}

#[test]
fn a_shutdown_with_a_timeout_while_panicking_in_async_code_does_not_abort() {
    let _watchdog = watchdog();
    struct Ends(Option<Runtime>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.take().unwrap().shutdown_timeout(Duration::from_secs(1000));
        }
    }
    for inner in [multi(1), current()] {
        let (drops, outer) = (Drops::new(), current());
        let token = drops.token();
        let task = inner.spawn(async move {
            let _token = token;
            std::future::pending::<()>().await;
        });
        let caught = catch(|| {
            outer.block_on(async move {
                let _ends = Ends(Some(inner));
                panic!("the first panic");
            })
        });
        assert_eq!(caught.message, "the first panic");
        eventually(|| task.is_finished());
        drops.assert_all();
    }
}

#[test]
fn moving_the_clock_where_it_cannot_be_moved_is_refused() {
    let _watchdog = watchdog();
    let multi = multi(1);
    let guard = multi.enter();
    panics_here!("current-thread runtime", rt::time::pause());
    panics_here!("current-thread runtime", rt::time::resume());
    drop(guard);
    let current = current();
    current.block_on(async {
        panics_here!("not paused", rt::time::resume());
        let early = catch(|| poll_alone(rt::time::advance(Duration::from_secs(1))));
        assert!(early.message.contains("not paused"), "{early:?}");
        rt::time::pause();
        panics_here!("paused already", rt::time::pause());
    });
    let _guard = current.enter();
    panics_here!("period", rt::time::interval(Duration::ZERO));
}
