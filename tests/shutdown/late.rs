//! What is begun after the end, through a handle that is left: each operation says at once that there is no runtime to
//! do it. And descriptors, which outlive their runtime like sockets.
//!
//! Mutations that these tests are for: a driver that still takes registrations when no events are delivered any more; a
//! job that is queued where no thread comes by; a registration that is not given back.

use std::future::{pending, ready};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncWriteExt as _, Interest};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Handle, Runtime, is_rt_shutdown_err};
use rt::task::JoinSet;
use rt_test_util::*;

const AN_HOUR: Duration = Duration::from_secs(3600);

/// The handles of runtimes that have ended, in each of the ways.
fn dead(runtime: Runtime, way: usize) -> Handle {
    let handle = runtime.handle().clone();
    match way % 3 {
        0 => drop(runtime),
        1 => runtime.shutdown_timeout(Duration::from_secs(1000)),
        _ => {
            let last = runtime.spawn(pending::<()>());
            runtime.shutdown_background();
            // The drivers are closed a little later than the tasks.
            eventually(|| last.is_finished());
            eventually(|| handle.block_on(TcpListener::bind("127.0.0.1:0")).is_err());
        }
    }
    handle
}

fn on_each_dead(test: impl Fn(Handle)) {
    for way in 0..3 {
        on_each_runtime(|runtime| test(dead(runtime, way)));
    }
}

#[test]
fn sockets_opened_on_a_dead_runtime_are_errors() {
    let _watchdog = watchdog();
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listening.local_addr().unwrap();
    on_each_dead(|handle| {
        let says = |error: std::io::Error| assert!(error.to_string().contains("shut down"), "{error}");
        handle.block_on(async {
            says(TcpListener::bind("127.0.0.1:0").await.unwrap_err());
            says(TcpStream::connect(address).await.unwrap_err());
            // A name is looked up by the blocking pool, which is closed too.
            assert!(TcpStream::connect(("localhost", address.port())).await.is_err());
            let (stream, _peer) = UnixStream::pair().unwrap();
            stream.set_nonblocking(true).unwrap();
            let (stream, error) = AsyncFd::try_new(stream).unwrap_err().into_parts();
            says(error);
            drop(stream);
        });
        let _guard = handle.enter();
        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        std.set_nonblocking(true).unwrap();
        says(TcpListener::from_std(std).unwrap_err());
        assert_eq!(handle.metrics().drivers().io_registered, 0);
    });
}

#[test]
fn timers_set_on_a_dead_runtime_panic_when_they_would_have_to_wait() {
    let _watchdog = watchdog();
    on_each_dead(|handle| {
        let says = |caught: Caught| assert!(caught.message.contains("shut down"), "{caught:?}");
        says(catch(|| handle.block_on(async { rt::time::sleep(AN_HOUR).await })));
        says(catch(|| handle.block_on(async { _ = rt::time::timeout(AN_HOUR, pending::<()>()).await })));
        says(catch(|| {
            handle.block_on(async {
                let mut interval = rt::time::interval(AN_HOUR);
                interval.tick().await;
                interval.tick().await;
            });
        }));
        handle.block_on(async {
            // What need not wait does not.
            rt::time::sleep_until(rt::time::Instant::now() - AN_HOUR).await;
            assert_eq!(rt::time::timeout(AN_HOUR, ready(7)).await.unwrap(), 7);
        });
    });
}

#[test]
fn jobs_given_to_a_dead_runtime_are_cancelled_from_within_too() {
    let _watchdog = watchdog();
    on_each_dead(|handle| {
        let drops = Drops::new();
        let (one, other) = (drops.token(), drops.token());
        handle.block_on(async {
            let job = rt::spawn_blocking(move || drop(one));
            assert!(job.is_finished());
            assert!(job.await.unwrap_err().is_cancelled());
            let builder = rt::task::Builder::new().name("late");
            assert!(is_rt_shutdown_err(&builder.spawn_blocking(|| ()).unwrap_err()));
            let mut set = JoinSet::new();
            assert!(set.build_task().spawn_blocking_on(|| (), &handle).is_err() && set.is_empty());
            let task = rt::task::Builder::new().name("late").spawn(async move { drop(other) }).unwrap();
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        });
        drops.assert_all();
        assert_eq!(handle.metrics().num_blocking_threads(), 0);
    });
}

#[test]
fn a_guard_may_keep_a_dead_runtime_the_current_one() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let handle = runtime.handle().clone();
        let _guard = handle.enter();
        let task = rt::spawn(pending::<()>());
        drop(runtime);
        assert!(task.is_finished());
        assert!(rt::spawn(async {}).is_finished());
        assert!(Handle::current().metrics().num_alive_tasks() == 0);
        assert!(current().block_on(task).unwrap_err().is_cancelled());
    });
}

fn descriptor(runtime: &Runtime) -> (AsyncFd<UnixStream>, UnixStream) {
    let _guard = runtime.enter();
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (AsyncFd::new(ours).unwrap(), theirs)
}

#[test]
fn descriptors_that_outlive_their_runtime_give_errors_and_their_object_back() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (fd, mut theirs) = descriptor(&runtime);
        let (dropped, mut peer) = descriptor(&runtime);
        let handle = runtime.handle().clone();
        drop(runtime);
        let other = multi(1);
        other.block_on(async {
            for interest in [Interest::READABLE, Interest::WRITABLE, Interest::READABLE | Interest::WRITABLE] {
                let error = fd.ready(interest).await.unwrap_err();
                assert!(error.to_string().contains("shut down"), "{error}");
                let error = fd.async_io(interest, |_| -> std::io::Result<()> { unreachable!() }).await.unwrap_err();
                assert!(error.to_string().contains("shut down"), "{error}");
            }
            // To try needs no driver, but to wait does.
            assert_eq!(fd.try_io(Interest::READABLE, |_| Ok(7)).unwrap(), 7);
            let error = fd.try_io(Interest::READABLE, |mut object| object.read(&mut [0])).unwrap_err();
            assert!(error.to_string().contains("shut down"), "{error}");
        });
        // The object is as good as ever, and can go to another runtime.
        let object = fd.into_inner();
        theirs.write_all(b"still").unwrap();
        other.block_on(async {
            let again = AsyncFd::new(object).unwrap();
            let mut buffer = [0; 8];
            let n = again.async_io(Interest::READABLE, |mut object| object.read(&mut buffer)).await.unwrap();
            assert_eq!(&buffer[..n], b"still");
        });
        drop(dropped);
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
        assert_eq!(handle.metrics().drivers().io_registered, 0);
    });
}

#[test]
fn all_waiters_for_a_descriptor_on_other_runtimes_are_told_of_the_end() {
    let _watchdog = watchdog();
    let other = multi(2);
    on_each_runtime(|runtime| {
        let (fd, _theirs) = descriptor(&runtime);
        let (fd, waiting) = (Arc::new(fd), Signal::new());
        // In the list, for different things; and in a slot.
        let mut tasks: Vec<_> = (0..6)
            .map(|_| {
                let (fd, tell) = (fd.clone(), waiting.clone());
                other.spawn(async move {
                    let mut readable = Box::pin(fd.readable());
                    assert!(poll_once(readable.as_mut()).await.is_pending());
                    // (Only to be counted as a waiter.)
                    let mut told = std::pin::pin!(tell.wait());
                    assert!(poll_once(told.as_mut()).await.is_pending());
                    readable.await.is_err()
                })
            })
            .collect();
        let (slot, tell) = (fd.clone(), waiting.clone());
        tasks.push(other.spawn(async move {
            let mut polled = false;
            std::future::poll_fn(|cx| {
                let outcome = slot.poll_read_ready(cx).map(|outcome| outcome.is_err());
                if !std::mem::replace(&mut polled, true) {
                    assert!(outcome.is_pending());
                    let mut told = std::pin::pin!(tell.wait());
                    assert!(told.as_mut().poll(cx).is_pending());
                }
                outcome
            })
            .await
        }));
        eventually(|| waiting.waiters() == 7);
        drop(runtime);
        for task in tasks {
            assert!(other.block_on(task).unwrap(), "an error");
        }
    });
}

#[test]
fn what_needs_the_blocking_pool_of_a_dead_runtime_says_that_it_is_shut_down() {
    let _watchdog = watchdog();
    on_each_dead(|handle| {
        let _guard = handle.enter();
        let error = handle.block_on(rt::fs::read("/dev/null")).unwrap_err();
        assert!(rt::runtime::is_rt_shutdown_err(&error), "{error:?}");
        let error = handle.block_on(async { rt::io::stderr().write_all(b"nobody sees this").await }).unwrap_err();
        assert!(rt::runtime::is_rt_shutdown_err(&error), "{error:?}");
        let error = handle.block_on(rt::net::lookup_host("localhost:80")).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Other, "who is told `Interrupted` tries again: {error:?}");
    });
}
