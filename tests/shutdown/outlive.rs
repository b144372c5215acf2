//! What outlives its runtime: wakers, handles, sockets, timers. They do nothing, or say what is wrong; none hangs or
//! crashes.
//!
//! Mutations that these tests are for: a waker that does not keep the memory it points to; a wake that queues a task
//! when no worker is left to take it; a driver that closes without waking its waiters.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Runtime;
use rt_test_util::*;

/// Wakers of tasks that wait, are queued, are complete; some tasks have other handles, some none.
fn wakers_of(runtime: &Runtime, drops: &Drops) -> Vec<Waker> {
    let channel = Channel::<Waker>::new();
    for n in 0..30 {
        let (tell, token) = (channel.clone(), drops.token());
        let task = runtime.spawn(async move {
            let _token = token;
            let mut polls = 0;
            poll_fn(move |cx| {
                polls += 1;
                if polls == 1 {
                    tell.send(cx.waker().clone());
                }
                match n % 3 {
                    0 => Poll::Ready(()),
                    1 => Poll::Pending,
                    _ => {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                }
            })
            .await;
        });
        if n % 2 == 0 {
            drop(task);
        }
    }
    runtime.block_on(async {
        let mut wakers = Vec::new();
        for _ in 0..30 {
            wakers.push(channel.receive().await);
        }
        wakers
    })
}

#[test]
fn a_waker_outlives_its_runtime() {
    let _watchdog = watchdog();
    for _ in 0..10 {
        on_each_runtime(|runtime| {
            let drops = Drops::new();
            let wakers = wakers_of(&runtime, &drops);
            let handle = runtime.handle().clone();
            drop(runtime);
            drops.assert_all();
            // In different orders, from different threads, with the last handle gone before or after.
            let (here, there): (Vec<_>, Vec<_>) = wakers.into_iter().enumerate().partition(|(n, _)| n % 4 < 2);
            let thread = thread::spawn(move || {
                for (n, waker) in there {
                    waker.wake_by_ref();
                    let copy = waker.clone();
                    if n % 3 == 0 { drop(copy) } else { copy.wake() }
                }
            });
            for (n, waker) in here {
                if n % 5 == 0 { drop(waker) } else { waker.wake() }
            }
            drop(handle);
            thread.join().unwrap();
        });
    }
}

#[test]
fn a_spawn_on_a_dead_runtime_is_cancelled() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (handle, drops) = (runtime.handle().clone(), Drops::new());
        drop(runtime);
        let (token, blocking) = (drops.token(), drops.token());
        let task = handle.spawn(async move { drop(token) });
        let job = handle.spawn_blocking(move || drop(blocking));
        drops.assert_all();
        assert!(task.is_finished() && job.is_finished());
        let other = current();
        assert!(other.block_on(task).unwrap_err().is_cancelled());
        assert!(other.block_on(job).unwrap_err().is_cancelled());
        // Through the context too, and it leaves no trace.
        let _guard = handle.enter();
        assert!(other.block_on(rt::spawn(async {})).unwrap_err().is_cancelled());
    });
}

#[test]
fn block_on_of_a_dead_runtime_still_polls_its_future() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let handle = runtime.handle().clone();
        drop(runtime);
        let signal = Signal::new();
        let setter = signal.clone();
        let waiting = signal.clone();
        let thread = thread::spawn(move || {
            eventually(|| waiting.waiters() > 0);
            setter.set();
        });
        handle.block_on(async {
            signal.wait().await;
            yield_by_hand().await;
            assert!(rt::spawn(async {}).await.unwrap_err().is_cancelled());
        });
        thread.join().unwrap();
    });
}

#[test]
fn join_and_abort_handles_outlive_their_runtime() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let idle = runtime.spawn(pending::<()>());
        let done = runtime.spawn(async { "done" });
        runtime.block_on(async {
            while !done.is_finished() {
                rt::task::yield_now().await;
            }
        });
        let (idle_abort, done_abort) = (idle.abort_handle(), done.abort_handle());
        drop(runtime);
        thread::spawn(move || {
            idle_abort.abort();
            done_abort.abort();
            let other = current();
            assert!(other.block_on(idle).unwrap_err().is_cancelled());
            assert_eq!(other.block_on(done).unwrap(), "done");
            assert!(idle_abort.is_finished());
        })
        .join()
        .unwrap();
    });
}

#[test]
fn a_joiner_on_another_runtime_is_told_when_the_runtime_ends() {
    let _watchdog = watchdog();
    let other = multi(1);
    on_each_runtime(|runtime| {
        let task = runtime.spawn(pending::<()>());
        let waiting = Signal::new();
        let tell = waiting.clone();
        let joiner = other.spawn(async move {
            let mut task = std::pin::pin!(task);
            assert!(poll_once(task.as_mut()).await.is_pending());
            tell.set();
            task.await.unwrap_err().is_cancelled()
        });
        eventually(|| waiting.is_set());
        drop(runtime);
        assert!(other.block_on(joiner).unwrap());
    });
}

#[test]
fn sockets_that_outlive_their_runtime_give_errors_and_can_be_dropped() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (listener, mut client, server) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            (listener, client, server)
        });
        drop(runtime);
        let other = current();
        other.block_on(async {
            // Nothing to read or to accept: each would have to wait for a driver that is gone.
            let error = client.read(&mut [0]).await.unwrap_err();
            assert!(error.to_string().contains("shut down"), "{error}");
            assert!(listener.accept().await.unwrap_err().to_string().contains("shut down"));
            assert!(server.readable().await.unwrap_err().to_string().contains("shut down"));
            // And one of the new runtime still works.
            let again = TcpListener::bind(listener.local_addr().unwrap()).await;
            assert!(again.is_err(), "the old one still listens");
        });
        // Without the driver, they are still sockets: the peer sees the end when one is dropped.
        drop(listener);
        let server = server.into_std().unwrap();
        server.set_nonblocking(false).unwrap();
        drop(client);
        assert_eq!(std::io::Read::read(&mut &server, &mut [0]).unwrap(), 0);
    });
}

#[test]
fn a_socket_awaited_on_another_runtime_wakes_with_an_error_when_its_own_ends() {
    let _watchdog = watchdog();
    let other = multi(1);
    on_each_runtime(|runtime| {
        let (mut client, server) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            (client, listener.accept().await.unwrap().0)
        });
        let waiting = Signal::new();
        let tell = waiting.clone();
        let reader = other.spawn(async move {
            let mut byte = [0];
            let mut read = Box::pin(client.read(&mut byte));
            assert!(poll_once(read.as_mut()).await.is_pending());
            tell.set();
            read.await
        });
        eventually(|| waiting.is_set());
        drop(runtime);
        assert!(other.block_on(reader).unwrap().is_err());
        drop(server);
    });
}

#[test]
fn a_sleep_that_outlives_its_runtime_panics_when_polled_and_can_be_dropped() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (mut set, fresh, mut interval) = runtime.block_on(async {
            let mut set = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
            assert!(poll_once(set.as_mut()).await.is_pending());
            let fresh = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
            (set, fresh, rt::time::interval(Duration::from_secs(3600)))
        });
        let dropped_later = runtime.block_on(async {
            let mut set = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
            assert!(poll_once(set.as_mut()).await.is_pending());
            vec![set]
        });
        drop(runtime);
        let other = current();
        for sleep in [set.as_mut(), Box::pin(fresh).as_mut().get_mut().as_mut()] {
            let polled = catch_unwind(AssertUnwindSafe(|| other.block_on(sleep)));
            assert!(message_of(&*polled.unwrap_err()).contains("shut down"));
        }
        let ticked = catch_unwind(AssertUnwindSafe(|| {
            other.block_on(async {
                interval.tick().await;
                interval.tick().await;
            });
        }));
        assert!(message_of(&*ticked.unwrap_err()).contains("shut down"));
        thread::spawn(move || drop((dropped_later, interval, set))).join().unwrap();
        // Counters are all that a handle's metrics still show.
        other.block_on(async { rt::time::sleep(Duration::from_millis(1)).await });
    });
}

#[test]
fn metrics_and_handles_of_a_dead_runtime_can_be_read() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
        let (handle, metrics) = (runtime.handle().clone(), runtime.handle().metrics());
        drop(runtime);
        assert_eq!((metrics.totals().spawns, metrics.num_alive_tasks()), (1, 0));
        assert_eq!((metrics.global_queue_depth(), metrics.num_blocking_threads()), (0, 0));
        assert_eq!(metrics.drivers().io_registered, 0);
        assert!(!format!("{handle:?} {metrics:?}").is_empty());
    });
}

#[test]
fn writing_to_a_peer_of_a_dead_runtime_still_goes_through_the_socket() {
    let _watchdog = watchdog();
    // Both ends on different runtimes; one of these ends.
    let (one, two) = (multi(1), multi(1));
    let listener = one.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = two.block_on(async { TcpStream::connect(address).await.unwrap() });
    let (server, _) = one.block_on(listener.accept()).unwrap();
    drop(one);
    two.block_on(async {
        client.write_all(b"still").await.unwrap();
        drop(server);
        // The bytes were not read: the peer's close resets, or ends, the connection. Either is an end.
        let _ = client.read(&mut [0; 8]).await;
    });
}
