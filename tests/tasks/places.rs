//! Panics that are the caller's fault have the caller's place: this file, and the line of the call or of the `.await`.
//!
//! (The words of those that need a runtime, and the options of the builder, are tested in `shutdown/misuse.rs` and
//! `options.rs`.)

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use rt::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use rt::runtime::{Builder, Handle};
use rt::task::coop::{cooperative, unconstrained};
use rt::time::{Instant, interval, sleep, timeout};
use rt_test_util::*;

/// Panics at the line where it stands.
macro_rules! panics_here {
    ($what:expr) => {
        assert_here(catch(|| $what), line!())
    };
}

#[track_caller]
fn assert_here(caught: Caught, line: u32) -> Caught {
    assert!(caught.file.ends_with("places.rs"), "not at the caller: {caught:?}");
    assert_eq!(caught.line, line, "not at the caller's line: {caught:?}");
    caught
}

/// Polls a future on a thread without a runtime.
fn poll_alone<T>(future: impl Future<Output = T>) {
    let mut future = std::pin::pin!(future);
    let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

const LATER: Duration = Duration::from_secs(3600);

#[test]
fn functions_that_need_a_runtime() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let handle = runtime.handle().clone();
    panics_here!(rt::spawn(async {}));
    panics_here!(rt::spawn_blocking(|| ()));
    panics_here!(rt::spawn_local(async {}));
    panics_here!(rt::task::Builder::new().spawn(async {}).unwrap());
    panics_here!(rt::task::Builder::new().spawn_blocking(|| ()).unwrap());
    panics_here!(rt::task::Builder::new().spawn_local(async {}).unwrap());
    panics_here!(rt::task::id());
    panics_here!(Handle::current());
    panics_here!(sleep(LATER));
    panics_here!(rt::time::sleep_until(Instant::now()));
    panics_here!(timeout(LATER, async {}));
    panics_here!(rt::time::timeout_at(Instant::now(), async {}));
    panics_here!(interval(LATER));
    panics_here!(rt::time::interval_at(Instant::now(), LATER));
    panics_here!(rt::time::pause());
    panics_here!(rt::time::resume());
    let listener = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    };
    panics_here!(TcpListener::from_std(listener()));
    panics_here!(TcpListener::try_from(listener()));
    let server = listener();
    let stream = || std::net::TcpStream::connect(server.local_addr().unwrap()).unwrap();
    panics_here!(TcpStream::from_std(stream()));
    panics_here!(TcpStream::try_from(stream()));
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    panics_here!(socket.listen(1));
    // A runtime of the wrong kind.
    let _guard = handle.enter();
    panics_here!(rt::spawn_local(async {}));
    panics_here!(rt::time::pause());
    panics_here!(interval(Duration::ZERO));
    panics_here!(rt::time::interval_at(Instant::now(), Duration::ZERO));
}

#[cfg(unix)]
#[test]
fn descriptors() {
    use rt::io::unix::AsyncFd;
    let _watchdog = watchdog();
    let socket = || std::os::unix::net::UnixDatagram::unbound().unwrap();
    panics_here!(AsyncFd::new(socket()));
    panics_here!(AsyncFd::with_interest(socket(), rt::io::Interest::READABLE));
    panics_here!(AsyncFd::try_new(socket()));
    panics_here!(AsyncFd::try_with_interest(socket(), rt::io::Interest::READABLE));
}

#[test]
fn large_futures_and_closures_which_go_through_a_box() {
    let _watchdog = watchdog();
    let large = || async {
        let large = [0_u8; 100_000];
        std::future::pending::<()>().await;
        std::hint::black_box(large);
    };
    let array = [0_u8; 100_000];
    panics_here!(rt::spawn(large()));
    panics_here!(rt::spawn_local(large()));
    panics_here!(rt::spawn_blocking(move || _ = std::hint::black_box(array)));
    let runtime = current();
    runtime.block_on(async {
        panics_here!(Handle::current().block_on(large()));
        panics_here!(rt::spawn_local(large()));
    });
}

#[test]
fn futures_that_need_a_runtime() {
    let _watchdog = watchdog();
    let address = "127.0.0.1:1";
    for caught in [
        panics_here!(poll_alone(async { TcpStream::connect(address).await })),
        panics_here!(poll_alone(async { TcpListener::bind(address).await })),
        panics_here!(poll_alone(async { TcpSocket::new_v4().unwrap().connect(address.parse().unwrap()).await })),
        panics_here!(poll_alone(async { lookup_host("localhost:1").await.map(drop) })),
        panics_here!(poll_alone(async { timeout_beside(TcpStream::connect("localhost:1")).await.map(drop) })),
    ] {
        assert!(caught.message.contains("no rt runtime"), "{caught:?}");
        assert!(caught.message.contains("places.rs"), "it also says where the future was made: {caught:?}");
    }
    // One that is made here, and awaited inside of some combinator.
    let made = TcpStream::connect(address);
    let caught = catch(|| poll_alone(Box::pin(made)));
    assert!(caught.message.contains("started at tests/tasks/places.rs"), "{caught:?}");
    // No name, no lookup.
    poll_alone(async { assert_eq!(lookup_host(address).await.unwrap().count(), 1) });
    panics_here!(poll_alone(async { rt::time::advance(LATER).await }));
    let runtime = current();
    runtime.block_on(async { panics_here!(poll_alone(async { rt::time::advance(LATER).await })) });
    let paused = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    paused.block_on(async { panics_here!(poll_alone(async { rt::time::advance(Duration::MAX).await })) });
}

/// The runtime's own wrappers pass the place on.
fn timeout_beside<F: Future>(future: F) -> impl Future<Output = F::Output> {
    unconstrained(cooperative(future))
}

#[allow(clippy::redundant_async_block)] // it is the `.await` that has the place
#[test]
fn timers_of_a_runtime_that_is_gone() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let guard = runtime.enter();
    let (alone, wrapped, limit) = (sleep(LATER), sleep(LATER), timeout(LATER, std::future::pending::<()>()));
    let (mut one, mut other) = (rt::time::interval_at(Instant::now() + LATER, LATER), interval(LATER));
    drop(guard);
    drop(runtime);
    let runtime = current();
    panics_here!(runtime.block_on(async { alone.await }));
    panics_here!(runtime.block_on(async { cooperative(unconstrained(wrapped)).await }));
    panics_here!(runtime.block_on(async { limit.await.map(drop) }));
    panics_here!(runtime.block_on(async { one.tick().await }));
    panics_here!(other.poll_tick(&mut Context::from_waker(Waker::noop())));
}

#[test]
fn handles() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let mut task = runtime.spawn(async {});
    runtime.block_on(&mut task).unwrap();
    panics_here!(Pin::new(&mut task).poll(&mut Context::from_waker(Waker::noop())));
    let aborted = runtime.spawn(std::future::pending::<()>());
    aborted.abort();
    let error = runtime.block_on(aborted).unwrap_err();
    panics_here!(drop(error.into_panic()));
}

#[test]
fn blocking_in_the_wrong_place() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(1)] {
        let (gone, local) = (multi(1), Builder::new_current_thread().build_local(Default::default()).unwrap());
        runtime.block_on(async {
            panics_here!(Handle::current().block_on(async {}));
            panics_here!(gone.block_on(async {}));
            panics_here!(local.block_on(async {}));
            panics_here!(gone.shutdown_timeout(LATER));
        });
    }
    current().block_on(async { panics_here!(rt::task::block_in_place(|| ())) });
}

#[test]
fn a_runtime_dropped_in_async_code_says_where_it_was_built() {
    let _watchdog = watchdog();
    // A drop has no place of its own.
    let (outer, inner, line) = (current(), Builder::new_multi_thread().worker_threads(1).build().unwrap(), line!());
    let caught = outer.block_on(async { catch(|| drop(inner)) });
    assert!(caught.message.contains(&format!("built at tests/tasks/places.rs:{line}:")), "{caught:?}");
    let (local, line) = (Builder::new_current_thread().build_local(Default::default()).unwrap(), line!());
    let caught = outer.block_on(async { catch(|| drop(local)) });
    assert!(caught.message.contains(&format!("built at tests/tasks/places.rs:{line}:")), "{caught:?}");
    let (usual, line) = (rt::runtime::Runtime::new().unwrap(), line!());
    let caught = outer.block_on(async { catch(|| drop(usual)) });
    assert!(caught.message.contains(&format!("built at tests/tasks/places.rs:{line}:")), "{caught:?}");
}

#[test]
fn arithmetic() {
    let _watchdog = watchdog();
    let now = Instant::now();
    let mut moved = now;
    panics_here!(now + Duration::MAX);
    panics_here!(now - Duration::MAX);
    panics_here!(moved += Duration::MAX);
    panics_here!(moved -= Duration::MAX);
}

#[test]
fn macros() {
    let _watchdog = watchdog();
    let never = false;
    let select = async {
        rt::select! { () = async {}, if never => {} }
    };
    let caught = catch(|| poll_alone(select));
    assert!(caught.file.ends_with("places.rs"), "{caught:?}");
}
