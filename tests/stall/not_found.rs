//! What is not reported: what may go on, or could, for all that is known.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use parking_lot::Mutex as PlainMutex;
use rt::net::TcpListener;
use rt::runtime::{LockKind, WaitsFor};
use rt::sync::{Notify, RwLock, Semaphore, mpsc};

use super::*;

/// Waits until this task waits.
fn until_it_waits(watched: &Watched, task: Id) {
    let waits = || watched.runtime.handle().tasks().iter().any(|info| info.id == task && info.state.is_waiting());
    while !waits() {
        std::thread::yield_now();
    }
}

#[track_caller]
fn nothing_is_reported_of(watched: &Watched, tasks: impl IntoIterator<Item = Id>) {
    tasks.into_iter().for_each(|task| until_it_waits(watched, task));
    let reports = watched.reported();
    assert!(reports.is_empty(), "{reports:?}");
}

#[test]
fn a_program_that_only_waits() {
    let _watchdog = watchdog();
    let watched = watched();
    let _context = watched.runtime.enter();
    let spawn = |future: Pin<Box<dyn Future<Output = ()> + Send>>| watched.runtime.spawn(future).id();
    let long = Duration::from_secs(100_000);
    let lock = Arc::new(Mutex::new(()));
    let (send, mut receive) = mpsc::channel::<()>(1);
    let notify = Arc::new(Notify::new());
    let semaphore = Arc::new(Semaphore::new(0));
    let held = Arc::new(Mutex::new(()));
    let _guard = held.clone().try_lock_owned().unwrap();

    // All of them are detached, as in a server.
    let mut tasks = vec![
        spawn(Box::pin(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            while listener.accept().await.is_ok() {}
        })),
        spawn(Box::pin(rt::time::sleep(long))),
        spawn(Box::pin(async move { while receive.recv().await.is_some() {} })),
        spawn({
            let notify = notify.clone();
            Box::pin(async move { notify.notified().await })
        }),
        spawn({
            let semaphore = semaphore.clone();
            Box::pin(async move { drop(semaphore.acquire().await) })
        }),
        // The main thread holds this one.
        spawn(Box::pin(async move { drop(held.lock().await) })),
        // A lock of a task that sleeps.
        spawn({
            let lock = lock.clone();
            Box::pin(async move {
                let _guard = lock.lock().await;
                rt::time::sleep(long).await;
            })
        }),
    ];
    until_it_waits(&watched, tasks[6]);
    tasks.push(spawn(Box::pin(async move { drop(lock.lock().await) })));
    // The end of one that sleeps.
    let sleeper = watched.runtime.spawn(rt::time::sleep(long));
    tasks.push(spawn(Box::pin(async move { sleeper.await.unwrap() })));
    nothing_is_reported_of(&watched, tasks);
    drop((send, notify, semaphore));
}

/// Nobody has a waker of it, but somebody a handle, which may end it.
#[test]
fn a_task_that_is_kept() {
    let _watchdog = watchdog();
    let watched = watched();
    let (kept, other) = (watched.runtime.spawn(never()), watched.runtime.spawn(never()));
    let id = other.id();
    let _abort = other.abort_handle();
    drop(other);
    nothing_is_reported_of(&watched, [kept.id(), id]);
}

/// It waits for itself, but not only.
#[test]
fn a_task_that_has_another_way_out() {
    let _watchdog = watchdog();
    let watched = watched();
    let with_limit = watched.runtime.spawn(async {
        let lock = Mutex::new(());
        let _once = lock.lock().await;
        let _ = rt::time::timeout(Duration::from_secs(100_000), lock.lock()).await;
    });
    // A future that says nothing, and has a waker.
    let wakers = Arc::new(PlainMutex::new(Vec::new()));
    let foreign = watched.runtime.spawn({
        let wakers = wakers.clone();
        async move {
            let lock = Mutex::new(());
            let _once = lock.lock().await;
            let mut twice = pin!(lock.lock());
            poll_fn(|cx| {
                wakers.lock().push(cx.waker().clone());
                twice.as_mut().poll(cx).map(drop)
            })
            .await;
        }
    });
    // One that may be aborted.
    let aborted = watched.runtime.spawn(wait_for_itself());
    let abort = aborted.abort_handle();
    nothing_is_reported_of(&watched, [with_limit.id(), foreign.id(), aborted.id()]);
    drop((wakers, abort));
}

/// As below a combinator that polls with wakers of its own: the lock is not where the task's waker is.
#[test]
fn a_task_whose_waker_is_somewhere_else() {
    let _watchdog = watchdog();
    let watched = watched();
    let wakers = Arc::new(PlainMutex::new(Vec::new()));
    let task = watched.runtime.spawn({
        let wakers = wakers.clone();
        async move {
            let lock = Mutex::new(());
            let _once = lock.lock().await;
            let mut twice = pin!(lock.lock());
            poll_fn(|cx| {
                wakers.lock().push(cx.waker().clone());
                twice.as_mut().poll(&mut Context::from_waker(Waker::noop())).map(drop)
            })
            .await;
        }
    });
    nothing_is_reported_of(&watched, [task.id()]);
    drop(wakers);
}

/// It has asked for the lock, and for a task's end, and gave it up in the same poll, to wait for something that says
/// nothing.
#[test]
fn a_task_that_waits_for_it_no_longer() {
    let _watchdog = watchdog();
    let watched = watched();
    let wakers = Arc::new(PlainMutex::new(Vec::new()));
    let keep = |wakers: &Arc<PlainMutex<Vec<Waker>>>| {
        let (wakers, mut kept) = (wakers.clone(), false);
        poll_fn(move |cx| {
            if !std::mem::replace(&mut kept, true) {
                wakers.lock().push(cx.waker().clone());
            }
            Poll::<()>::Pending
        })
    };
    async fn poll_once<F: Future + Unpin>(mut future: F) {
        poll_fn(|cx| {
            assert!(Pin::new(&mut future).poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
    }
    let of_lock = keep(&wakers);
    let one = watched.runtime.spawn(async move {
        let lock = Mutex::new(());
        let _once = lock.lock().await;
        poll_once(Box::pin(lock.lock())).await;
        of_lock.await;
    });
    // Each has the other's handle.
    let (of_join, (send, receive)) = (keep(&wakers), rt::sync::oneshot::channel::<JoinHandle<()>>());
    let two = watched.runtime.spawn(async move {
        poll_once(receive.await.unwrap()).await;
        of_join.await;
    });
    let id = two.id();
    let three = watched.runtime.spawn(async move { two.await.unwrap() });
    let third = three.id();
    until_it_waits(&watched, third);
    send.send(three).unwrap();
    while wakers.lock().len() < 2 {
        std::thread::yield_now();
    }
    nothing_is_reported_of(&watched, [one.id(), id, third]);
    drop(wakers);
}

/// A guard that is made to be given away says nothing of who has it.
#[test]
fn a_lock_that_may_have_been_given_away() {
    let _watchdog = watchdog();
    let watched = watched();
    let lock = Arc::new(Mutex::new(()));
    let (send, receive) = rt::sync::oneshot::channel();
    let task = watched.runtime.spawn(async move {
        let guard = lock.clone().lock_owned().await;
        drop(send.send(guard));
        drop(lock.lock().await);
    });
    until_it_waits(&watched, task.id());
    let guard = watched.runtime.block_on(receive).unwrap();
    nothing_is_reported_of(&watched, [task.id()]);
    drop(guard);
    watched.runtime.block_on(task).unwrap();
}

/// The task that forgot its guard is not the holder of another lock that lies at the same address later.
#[test]
fn a_lock_at_the_address_of_one_whose_guard_was_forgotten() {
    let _watchdog = watchdog();
    let watched = watched();
    let (lend, lent) = std::sync::mpsc::channel();
    let task = watched.runtime.spawn(async move {
        let mut lock = Arc::new(RwLock::new(()));
        std::mem::forget(lock.write().await);
        *Arc::get_mut(&mut lock).unwrap() = RwLock::new(());
        lend.send(lock.clone().read_owned().await).unwrap();
        drop(lock.write().await);
    });
    let read = lent.recv().unwrap();
    nothing_is_reported_of(&watched, [task.id()]);
    let waits = watched.runtime.handle().tasks().into_iter().find(|info| info.id == task.id()).unwrap().waits_for;
    assert!(matches!(waits, Some(WaitsFor::Lock { kind: LockKind::RwLockWrite, holder: None, .. })), "{waits:?}");
    drop(read);
    watched.runtime.block_on(task).unwrap();
}

/// It is told which task acquired the lock, and nothing is made of it.
#[test]
fn a_lock_whose_guard_was_forgotten_by_a_task_that_has_ended() {
    let _watchdog = watchdog();
    let watched = watched();
    let lock = Arc::new(Mutex::new(()));
    let forgets = watched.runtime.spawn({
        let lock = lock.clone();
        async move { std::mem::forget(lock.lock().await) }
    });
    let ended = forgets.id();
    watched.runtime.block_on(forgets).unwrap();
    let waits = watched.runtime.spawn({
        let lock = lock.clone();
        async move { drop(lock.lock().await) }
    });
    nothing_is_reported_of(&watched, [waits.id()]);
    let tasks = watched.runtime.handle().tasks();
    let told = tasks.iter().find(|info| info.id == waits.id()).unwrap().waits_for.clone();
    assert!(matches!(told, Some(WaitsFor::Lock { holder: Some(holder), .. }) if holder == ended), "{told:?}");
    assert!(tasks.iter().all(|info| info.id != ended));
}
