//! What a task waits for, of each kind of thing.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rt::io::AsyncReadExt;
use rt::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use rt::runtime::{ChannelKind, LockKind, SocketKind, WaitsFor};
use rt::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use rt::task::{CancellationToken, JoinSet};

use super::*;

/// What this future waits for, as a task. It must not be ready.
async fn seen_of(future: impl Future<Output: Send> + Send + 'static) -> TaskInfo {
    let task = rt::spawn(future);
    let seen = until(&task, |task| task.state.is_waiting()).await;
    task.abort();
    assert!(task.await.is_err());
    seen
}

async fn waits_for(future: impl Future<Output: Send> + Send + 'static) -> WaitsFor {
    let seen = seen_of(future).await;
    assert!(!seen.waits_for_others, "{seen:?}");
    seen.waits_for.expect("it waits")
}

async fn channel(future: impl Future<Output: Send> + Send + 'static) -> ChannelKind {
    match waits_for(future).await {
        WaitsFor::Channel { kind, .. } => kind,
        other => panic!("{other:?}"),
    }
}

async fn lock(future: impl Future<Output: Send> + Send + 'static) -> LockKind {
    match waits_for(future).await {
        WaitsFor::Lock { kind, .. } => kind,
        other => panic!("{other:?}"),
    }
}

fn run(test: impl AsyncFn()) {
    for runtime in runtimes() {
        runtime.block_on(test());
    }
}

#[test]
fn a_task_a_job_or_a_group() {
    run(async || {
        let task = rt::spawn(never());
        let id = task.id();
        let waits = waits_for(async { _ = task.await }).await;
        assert_eq!(waits.to_string(), format!("end of task {id}"));
        assert!(matches!(waits, WaitsFor::Join { task, .. } if task == id));

        let gate = Gate::default();
        let job = rt::spawn_blocking({
            let gate = gate.clone();
            move || gate.block()
        });
        assert_eq!(waits_for(async { _ = job.await }).await, WaitsFor::BlockingJob);
        gate.open();

        let group = async {
            let mut set = JoinSet::new();
            set.spawn(never());
            set.join_next().await;
        };
        assert_eq!(waits_for(group).await, WaitsFor::TaskGroup);
    });
}

#[cfg(unix)]
#[test]
fn a_signal_or_a_stream_in_memory() {
    run(async || {
        let waits = waits_for(async { _ = rt::signal::ctrl_c().await }).await;
        assert!(matches!(waits, WaitsFor::Signal { number: 2, .. }) && waits.to_string() == "signal 2", "{waits:?}");

        let (mut here, _there) = rt::io::duplex(1);
        assert_eq!(waits_for(async move { here.read(&mut [0]).await }).await, WaitsFor::MemoryStream);

        // A signal is what ends the wait for something else.
        let (listener, mut signals) = (
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            rt::signal::unix::signal(rt::signal::unix::SignalKind::hangup()).unwrap(),
        );
        let seen = seen_of(async move {
            rt::select! {
                biased;
                _ = listener.accept() => {}
                _ = signals.recv() => {}
            }
        })
        .await;
        assert!(seen.waits_for_others && matches!(seen.waits_for, Some(WaitsFor::Socket { .. })), "{seen:?}");
    });
}

#[test]
fn a_timer() {
    run(async || {
        let deadline = rt::time::Instant::now() + Duration::from_secs(1_000);
        let waits = waits_for(rt::time::sleep_until(deadline)).await;
        let WaitsFor::Timer { deadline: Some(told), .. } = waits else { panic!("{waits:?}") };
        assert_eq!(told, deadline.into_std());
        let mut ticks = rt::time::interval_at(deadline, Duration::from_secs(1));
        assert_eq!(waits_for(async move { _ = ticks.tick().await }).await, waits);
    });
}

#[test]
fn a_time_limit_is_told_only_if_there_is_nothing_else() {
    run(async || {
        let limit = Duration::from_secs(1_000);
        let (_send, receive) = oneshot::channel::<()>();
        let seen = seen_of(async move { _ = rt::time::timeout(limit, receive).await }).await;
        assert!(seen.waits_for_others);
        assert!(
            matches!(seen.waits_for, Some(WaitsFor::Channel { kind: ChannelKind::OneshotReceiver, .. })),
            "{seen:?}"
        );
        let seen = seen_of(async move { _ = rt::time::timeout(limit, never()).await }).await;
        assert!(matches!(seen.waits_for, Some(WaitsFor::Timer { .. })), "{seen:?}");
    });
}

/// What has lost a race, or was given up at its limit, is over, whatever the task waits for next.
#[test]
fn what_a_task_has_given_up_is_not_told() {
    /// Says what it waits for, and is never ready.
    async fn channel_that_is_open() {
        let (_send, receive) = oneshot::channel::<()>();
        _ = receive.await;
    }
    /// Whether a task that waits for a timer after this is told to wait for nothing else.
    async fn is_over(gives_up: impl Future<Output: Send> + Send + 'static) -> bool {
        let then_sleeps = async {
            gives_up.await;
            rt::time::sleep(Duration::from_secs(1_000)).await;
        };
        let seen = seen_of(then_sleeps).await;
        !seen.waits_for_others && matches!(seen.waits_for, Some(WaitsFor::Timer { deadline: Some(_), .. }))
    }
    run(async || {
        let race = async {
            rt::select! {
                biased;
                () = channel_that_is_open() => {}
                () = std::future::ready(()) => {}
            }
        };
        let waiting = async {
            channel_that_is_open().await;
            Ok(())
        };
        let failure = async { rt::try_join!(biased; waiting, async { Err::<(), _>(()) }) };
        let limit = async {
            let past = rt::time::Instant::now() - Duration::from_secs(1);
            rt::time::timeout_at(past, channel_that_is_open()).await
        };
        let cancelled = async {
            let token = CancellationToken::new();
            let cancels = async {
                // It has said something before it finds that it is cancelled.
                let mut open = std::pin::pin!(channel_that_is_open());
                poll_fn(|cx| {
                    token.cancel();
                    open.as_mut().poll(cx)
                })
                .await;
            };
            token.run_until_cancelled(cancels).await
        };
        let all_over = [is_over(race).await, is_over(failure).await, is_over(limit).await, is_over(cancelled).await];
        assert_eq!(all_over, [true; 4]);
    });
}

/// A race that is over beside something that goes on.
#[test]
fn what_was_said_before_a_race_stays() {
    run(async || {
        let (_send, receive) = oneshot::channel::<()>();
        let both = async {
            let race = async {
                rt::select! {
                    biased;
                    () = rt::time::sleep(Duration::from_secs(1_000)) => {}
                    () = std::future::ready(()) => {}
                }
            };
            rt::join!(biased; receive, race)
        };
        let waits = waits_for(both).await;
        assert!(matches!(waits, WaitsFor::Channel { kind: ChannelKind::OneshotReceiver, .. }), "{waits:?}");
    });
}

#[test]
fn a_foreign_future() {
    run(async || assert_eq!(waits_for(never()).await, WaitsFor::Unknown));
}

#[test]
fn channels() {
    run(async || {
        let (send, mut receive) = mpsc::channel::<()>(1);
        send.send(()).await.unwrap();
        assert_eq!(
            channel({
                let send = send.clone();
                async move { send.send(()).await.unwrap() }
            })
            .await,
            ChannelKind::MpscSender
        );
        receive.recv().await;
        assert_eq!(channel(async move { _ = receive.recv().await }).await, ChannelKind::MpscReceiver);
        let (_send, mut receive) = mpsc::unbounded_channel::<()>();
        assert_eq!(channel(async move { _ = receive.recv().await }).await, ChannelKind::MpscReceiver);
        let (mut send, receive) = oneshot::channel::<()>();
        assert_eq!(channel(async move { _ = send.closed().await }).await, ChannelKind::OneshotSender);
        drop(receive);
        let (_send, mut receive) = broadcast::channel::<()>(1);
        assert_eq!(channel(async move { _ = receive.recv().await }).await, ChannelKind::BroadcastReceiver);
        let (send, receive) = watch::channel(());
        let mut other = receive.clone();
        assert_eq!(channel(async move { _ = other.changed().await }).await, ChannelKind::WatchReceiver);
        assert_eq!(channel(async move { _ = send.closed().await }).await, ChannelKind::WatchSender);
        drop(receive);
    });
}

#[test]
fn locks_and_the_like() {
    run(async || {
        let mutex = Arc::new(Mutex::new(()));
        let held = mutex.clone().lock_owned().await;
        assert_eq!(lock(async move { _ = mutex.lock().await }).await, LockKind::Mutex);
        drop(held);
        let locked = Arc::new(RwLock::new(()));
        let held = locked.clone().write_owned().await;
        let (read, write) = (locked.clone(), locked);
        assert_eq!(lock(async move { _ = read.read().await }).await, LockKind::RwLockRead);
        assert_eq!(lock(async move { _ = write.write().await }).await, LockKind::RwLockWrite);
        drop(held);
        let none = Arc::new(Semaphore::new(0));
        assert_eq!(lock(async move { _ = none.acquire().await }).await, LockKind::Semaphore);
        let notify = Arc::new(Notify::new());
        assert_eq!(
            lock({
                let notify = notify.clone();
                async move { _ = notify.notified().await }
            })
            .await,
            LockKind::Notify
        );
        assert_eq!(lock(notify.notified_owned()).await, LockKind::Notify);
        let barrier = Barrier::new(2);
        assert_eq!(lock(async move { _ = barrier.wait().await }).await, LockKind::Barrier);
        let token = CancellationToken::new();
        assert_eq!(lock(token.clone().cancelled_owned()).await, LockKind::CancellationToken);
        let cell = Arc::new(OnceCell::<()>::new());
        let making = rt::spawn({
            let cell = cell.clone();
            async move { _ = cell.get_or_init(never).await }
        });
        until(&making, |task| task.state.is_waiting()).await;
        assert_eq!(lock(async move { _ = cell.get_or_init(never).await }).await, LockKind::OnceCell);
        making.abort();
    });
}

#[test]
fn sockets_and_their_peers() {
    run(async || {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (accepted, peer) = listener.accept().await.unwrap();
        let own = stream.local_addr().unwrap();
        assert_eq!(own, peer);
        let waits = waits_for(async move { _ = stream.read_u8().await }).await;
        let WaitsFor::Socket { kind, local, peer, .. } = waits else { panic!("{waits:?}") };
        assert_eq!((kind, local, peer), (SocketKind::Tcp, Some(own), Some(address)));
        drop(accepted);
        let waits = waits_for(async move { _ = listener.accept().await }).await;
        let WaitsFor::Socket { kind, local, peer, .. } = waits else { panic!("{waits:?}") };
        assert_eq!((kind, local, peer), (SocketKind::Tcp, Some(address), None));

        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let waits = waits_for(async move { _ = socket.recv(&mut [0]).await }).await;
        assert!(matches!(waits, WaitsFor::Socket { kind: SocketKind::Udp, local: Some(_), peer: None, .. }));
        let (mut one, _other) = UnixStream::pair().unwrap();
        let waits = waits_for(async move { _ = one.read_u8().await }).await;
        assert!(matches!(waits, WaitsFor::Socket { kind: SocketKind::Unix, .. }));
    });
}

#[test]
fn polls_for_nothing_are_counted() {
    run(async || {
        let before = Handle::current().metrics().totals().spurious_polls;
        let (_send, receive) = oneshot::channel::<()>();
        let wakers = Arc::new(parking_lot::Mutex::new(None));
        let task = rt::spawn({
            let wakers = wakers.clone();
            async move {
                let mut receive = std::pin::pin!(receive);
                poll_fn(|cx| {
                    *wakers.lock() = Some(cx.waker().clone());
                    receive.as_mut().poll(cx)
                })
                .await
                .unwrap();
            }
        });
        for polls in 1..=4 {
            let seen = until(&task, |task| task.state.is_waiting() && task.polls == polls).await;
            assert_eq!((seen.wakes, seen.spurious_polls), (polls - 1, polls - 1));
            let waker = wakers.lock().take();
            waker.unwrap().wake();
        }
        until(&task, |task| task.state.is_waiting() && task.polls == 5).await;
        assert_eq!(Handle::current().metrics().totals().spurious_polls - before, 4);
        task.abort();
    });
}

/// Beside a timer, a signal or a token there may be something that rt knows nothing of, for which the task was woken.
#[cfg(unix)]
#[test]
fn polls_beside_a_limit_are_not_said_to_be_for_nothing() {
    run(async || {
        let messages = Arc::new(parking_lot::Mutex::new((0, None::<std::task::Waker>)));
        let task = rt::spawn({
            let messages = messages.clone();
            async move {
                // A channel of another library.
                let receive = || {
                    poll_fn(|cx| {
                        let (count, waker) = &mut *messages.lock();
                        *waker = Some(cx.waker().clone());
                        if std::mem::take(count) > 0 { Poll::Ready(()) } else { Poll::Pending }
                    })
                };
                let mut ctrl_c = std::pin::pin!(rt::signal::ctrl_c());
                loop {
                    rt::select! {
                        () = receive() => {}
                        _ = &mut ctrl_c => return,
                    }
                }
            }
        });
        for polls in 1..=4 {
            let seen = until(&task, |task| task.state.is_waiting() && task.polls == polls).await;
            assert_eq!((seen.wakes, seen.spurious_polls), (polls - 1, 0));
            let waker = {
                let (count, waker) = &mut *messages.lock();
                *count += 1;
                waker.take()
            };
            waker.unwrap().wake();
        }
        task.abort();
    });
}

#[test]
fn the_holder_of_a_lock() {
    run(async || {
        // From a first look on it is noted who has a lock.
        Handle::current().tasks();
        let mutex = Arc::new(Mutex::new(()));
        let lock = Arc::new(RwLock::new(()));
        let (given, has_both) = oneshot::channel();
        let holder = rt::spawn({
            let (mutex, lock) = (mutex.clone(), lock.clone());
            async move {
                let (mutex, lock) = (mutex.lock().await, lock.write().await);
                given.send(()).unwrap();
                never().await;
                drop((mutex, lock));
            }
        });
        has_both.await.unwrap();
        let held_by = |waits| match waits {
            WaitsFor::Lock { holder, .. } => holder,
            other => panic!("{other:?}"),
        };
        let waits = [
            waits_for({
                let mutex = mutex.clone();
                async move { drop(mutex.lock().await) }
            })
            .await,
            waits_for({
                let lock = lock.clone();
                async move { drop(lock.read().await) }
            })
            .await,
            waits_for({
                let lock = lock.clone();
                async move { drop(lock.write().await) }
            })
            .await,
        ];
        assert_eq!(waits.map(held_by), [Some(holder.id()); 3]);
        holder.abort();
        assert!(holder.await.is_err());

        // It is known of no reader, and of no guard that may be given away.
        let reader = lock.clone().write_owned().await.downgrade();
        let owned = mutex.clone().lock_owned().await;
        let waits = [
            waits_for(async move { drop(lock.write().await) }).await,
            waits_for(async move { drop(mutex.lock().await) }).await,
        ];
        assert_eq!(waits.map(held_by), [None; 2]);
        drop((reader, owned));
    });
}

/// The next holder could be noted already: so the note of the task before must be gone by then.
#[test]
fn a_lock_that_is_given_back_has_no_holder_any_more() {
    use std::pin::pin;
    use std::task::{Context, Wake, Waker};

    /// The waker of the next in line: looks who has the lock, for one that waits behind it.
    struct Looks {
        runtime: Handle,
        behind: rt::task::Id,
        seen: parking_lot::Mutex<Option<WaitsFor>>,
    }
    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            let waits = self.runtime.tasks().into_iter().find(|task| task.id == self.behind);
            *self.seen.lock() = waits.and_then(|task| task.waits_for);
        }
    }

    let runtime = multi(1);
    let handle = runtime.handle().clone();
    handle.tasks();
    let mutex = Arc::new(Mutex::new(()));
    let (give_back, told) = oneshot::channel::<()>();
    let (given, has_it) = oneshot::channel();
    let holder = runtime.spawn({
        let mutex = mutex.clone();
        async move {
            let guard = mutex.lock().await;
            given.send(()).unwrap();
            told.await.unwrap();
            drop(guard);
        }
    });
    runtime.block_on(has_it).unwrap();
    let mut next = pin!(mutex.lock());
    assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let behind = runtime.spawn({
        let mutex = mutex.clone();
        async move { drop(mutex.lock().await) }
    });
    let seen = runtime.block_on(runtime.spawn(async move {
        let seen = until(&behind, |task| task.state.is_waiting()).await;
        (seen, behind)
    }));
    let (seen, behind) = seen.unwrap();
    let holder_of = |waits| match waits {
        Some(WaitsFor::Lock { holder, .. }) => holder,
        other => panic!("{other:?}"),
    };
    assert_eq!(holder_of(seen.waits_for), Some(holder.id()));
    let looks = Arc::new(Looks { runtime: handle, behind: behind.id(), seen: Default::default() });
    let waker = Waker::from(looks.clone());
    assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    give_back.send(()).unwrap();
    runtime.block_on(holder).unwrap();
    assert_eq!(holder_of(looks.seen.lock().take()), None);
    let guard = next.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(guard.is_ready());
    drop(guard);
    runtime.block_on(behind).unwrap();
}
