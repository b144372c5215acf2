//! `unhandled_panic`: a panic of a task that ends the runtime, or the local set, and that whoever drives it hears of.
//!
//! Mutations that these tests are for: a panic that is not told, or to one thread only; tasks that stay; a runtime that
//! can be driven again; a set that drops its tasks while it polls one of them; a panic that is handled and ends
//! everything all the same.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Poll;
use std::thread;

use rt::runtime::{Builder, LocalOptions, Runtime, UnhandledPanic};
use rt::task::LocalSet;
use rt_test_util::*;

fn runtime(behavior: UnhandledPanic) -> Runtime {
    Builder::new_current_thread().enable_all().unhandled_panic(behavior).build().unwrap()
}

/// What it panics with.
fn message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    payload.downcast_ref::<&str>().map(|text| text.to_string()).unwrap_or_else(|| *payload.downcast().unwrap())
}

const OF_RUNTIME: &str = "a spawned task panicked and the runtime is configured to shut down on unhandled panic";
const OF_SET: &str = "a spawned task panicked and the LocalSet is configured to shutdown on unhandled panic";

#[test]
fn it_ends_the_runtime_for_good() {
    let _watchdog = watchdog();
    let runtime = runtime(UnhandledPanic::ShutdownRuntime);
    let drops = Drops::new();
    let token = drops.token();
    let other = runtime.spawn(async move {
        let _token = token;
        pending::<()>().await;
    });
    let said = message(|| {
        runtime.block_on(async {
            // Somebody has the handle, and would handle it.
            let handle = rt::spawn(async { panic!("on purpose") });
            assert!(handle.await.unwrap_err().is_panic());
            pending::<()>().await;
        })
    });
    assert_eq!(said, OF_RUNTIME);
    drops.assert_all();
    assert!(futures_lite::future::block_on(other).unwrap_err().is_cancelled());
    let refused = runtime.spawn(async {});
    assert!(futures_lite::future::block_on(refused).unwrap_err().is_cancelled());
    assert_eq!(message(|| runtime.block_on(async {})), OF_RUNTIME);
    assert_eq!(message(|| runtime.handle().block_on(async {})), OF_RUNTIME);
    assert_eq!(message(|| runtime.run()), OF_RUNTIME);
}

#[test]
fn all_threads_in_block_on_hear_of_it() {
    let _watchdog = watchdog();
    let runtime = Arc::new(runtime(UnhandledPanic::ShutdownRuntime));
    let inside = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (runtime, inside) = (runtime.clone(), inside.clone());
            let drive = move || {
                runtime.block_on(async {
                    inside.fetch_add(1, SeqCst);
                    pending::<()>().await;
                })
            };
            thread::spawn(|| message(drive))
        })
        .collect();
    eventually(|| inside.load(SeqCst) == 3);
    runtime.spawn(async { panic!("on purpose") });
    for thread in threads {
        assert_eq!(thread.join().unwrap(), OF_RUNTIME);
    }
}

#[test]
fn a_thread_that_may_not_drive_hears_of_it_too() {
    let _watchdog = watchdog();
    let mut builder = Builder::new_current_thread();
    let runtime =
        builder.unhandled_panic(UnhandledPanic::ShutdownRuntime).build_local(LocalOptions::default()).unwrap();
    let (handle, inside) = (runtime.handle().clone(), Signal::new());
    let tell = inside.clone();
    let thread = thread::spawn(move || {
        message(|| {
            handle.block_on(async {
                tell.set();
                pending::<()>().await;
            })
        })
    });
    let said = message(|| {
        runtime.block_on(async {
            inside.wait().await;
            rt::task::spawn_local(async { panic!("on purpose") });
            pending::<()>().await;
        })
    });
    assert_eq!((said.as_str(), thread.join().unwrap().as_str()), (OF_RUNTIME, OF_RUNTIME));
}

#[test]
fn a_panic_in_the_drop_after_the_last_poll_is_one() {
    let _watchdog = watchdog();
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let runtime = runtime(UnhandledPanic::ShutdownRuntime);
    // It is dropped with the future, and not in the poll.
    let bomb = Bomb;
    let future = poll_fn(move |_| {
        let _ = &bomb;
        Poll::Ready(())
    });
    runtime.spawn(future);
    assert_eq!(message(|| runtime.block_on(pending::<()>())), OF_RUNTIME);
}

#[test]
fn nothing_keeps_a_runtime_whose_end_a_thread_has_waited_for() {
    let _watchdog = watchdog();
    let drops = Drops::new();
    let token = drops.token();
    let mut builder = Builder::new_current_thread();
    let runtime =
        builder.unhandled_panic(UnhandledPanic::ShutdownRuntime).on_thread_park(move || _ = &token).build().unwrap();
    runtime.spawn(async { panic!("on purpose") });
    assert_eq!(message(|| runtime.run()), OF_RUNTIME);
    drop((runtime, builder));
    drops.assert_all();
}

#[test]
fn a_runtime_that_is_driven_by_hand_tells_too() {
    let _watchdog = watchdog();
    let runtime = runtime(UnhandledPanic::ShutdownRuntime);
    runtime.spawn(async { panic!("on purpose") });
    assert_eq!(message(|| _ = runtime.run_until_stalled()), OF_RUNTIME);
    assert_eq!(message(|| _ = runtime.try_tick()), OF_RUNTIME);
}

#[test]
fn it_is_the_same_on_a_local_runtime() {
    let _watchdog = watchdog();
    let mut builder = Builder::new_current_thread();
    let runtime =
        builder.unhandled_panic(UnhandledPanic::ShutdownRuntime).build_local(LocalOptions::default()).unwrap();
    let said = message(|| {
        runtime.block_on(async {
            rt::task::spawn_local(async { panic!("on purpose") });
            pending::<()>().await;
        })
    });
    assert_eq!(said, OF_RUNTIME);
}

#[test]
fn without_it_a_panic_is_the_handles() {
    let _watchdog = watchdog();
    let runtime = runtime(UnhandledPanic::Ignore);
    runtime.block_on(async {
        assert!(rt::spawn(async { panic!("on purpose") }).await.unwrap_err().is_panic());
        rt::spawn(async {}).await.unwrap();
    });
}

#[test]
fn a_closure_on_the_blocking_pool_is_no_task() {
    let _watchdog = watchdog();
    let runtime = runtime(UnhandledPanic::ShutdownRuntime);
    runtime.block_on(async {
        assert!(rt::spawn_blocking(|| panic!("on purpose")).await.unwrap_err().is_panic());
        rt::spawn(async {}).await.unwrap();
    });
}

#[test]
#[should_panic = "only supported in current thread mode"]
fn several_threads_cannot_be_ended_so() {
    Builder::new_multi_thread().unhandled_panic(UnhandledPanic::ShutdownRuntime);
}

#[rt::test(flavor = "current_thread", unhandled_panic = "shutdown_runtime")]
#[should_panic = "configured to shut down on unhandled panic"]
async fn the_attribute_has_it() {
    let _ = rt::spawn(async { panic!("on purpose") }).await;
    pending::<()>().await;
}

#[test]
fn it_ends_a_local_set_and_not_the_runtime() {
    let _watchdog = watchdog();
    let runtime = Runtime::new().unwrap();
    let mut set = LocalSet::new();
    set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let drops = Drops::new();
    let token = drops.token();
    set.spawn_local(async move {
        let _token = token;
        pending::<()>().await;
    });
    set.spawn_local(async { panic!("on purpose") });
    assert_eq!(message(|| set.block_on(&runtime, pending::<()>())), OF_SET);
    drops.assert_all();
    assert_eq!(message(|| set.block_on(&runtime, pending::<()>())), OF_SET);
    let refused = set.spawn_local(async {});
    runtime.block_on(async {
        assert!(refused.await.unwrap_err().is_cancelled());
        rt::spawn(async {}).await.unwrap();
    });
    assert_eq!(message(|| runtime.block_on(set)), OF_SET);
}

#[test]
fn all_that_drive_a_set_hear_of_it() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).unwrap();
    let mut set = LocalSet::new();
    set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let set = Rc::new(set);
    runtime.block_on(async {
        let waits = set.clone();
        let waits = rt::task::spawn_local(async move { waits.run_until(pending::<()>()).await });
        rt::task::yield_now().await;
        let spawns = rt::task::spawn_local(async move {
            // In a run of this one's, so that the other is not called for it.
            let panics = async {
                rt::task::spawn_local(async { panic!("on purpose") });
                pending::<()>().await;
            };
            set.run_until(panics).await
        });
        for driver in [spawns, waits] {
            assert!(driver.await.unwrap_err().is_panic());
        }
    });
}

#[test]
fn a_set_that_a_task_of_its_own_drives_ends_when_that_is_over() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build().unwrap();
    let mut set = LocalSet::new();
    set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let set = Rc::new(set);
    let drops = Drops::new();
    let (inner, of_driver, of_other) = (set.clone(), drops.token(), drops.token());
    let (count, seen) = (drops.clone(), Rc::new(Cell::new(None)));
    let see = seen.clone();
    set.spawn_local(async move {
        let _token = of_driver;
        let mut driving = pin!(inner.run_until(pending::<()>()));
        // The run inside of the run polls the task that panics.
        let said = poll_fn(|cx| Poll::Ready(message(|| _ = driving.as_mut().poll(cx)))).await;
        see.set(Some((said, count.count())));
        pending::<()>().await;
    });
    set.spawn_local(async move {
        let _token = of_other;
        pending::<()>().await;
    });
    set.spawn_local(async { panic!("on purpose") });
    assert_eq!(message(|| set.block_on(&runtime, pending::<()>())), OF_SET);
    drops.assert_all();
    assert_eq!(seen.take(), Some((OF_SET.to_owned(), 0)), "no task is dropped while one is polled");
}
