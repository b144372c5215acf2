//! I2: a task is polled by at most one thread at a time, and never while, or after, its future is dropped.
//!
//! Mutations that these tests are for: a wake that queues a running task; an abort that drops the future on the
//! aborter's thread; a steal that leaves the stolen task where it was.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Context, Poll, Waker};
use std::thread;

use parking_lot::Mutex;
use rt::runtime::Runtime;
use rt_test_util::*;

/// What the threads see of a task under watch.
#[derive(Default)]
struct Watched {
    /// Somebody is inside the future's `poll` or `drop`.
    occupied: AtomicBool,
    gone: AtomicBool,
    violations: AtomicUsize,
    polls: AtomicUsize,
    waker: Mutex<Option<Waker>>,
    stop: AtomicBool,
}

impl Watched {
    fn enter(&self) {
        if self.occupied.swap(true, SeqCst) || self.gone.load(SeqCst) {
            self.violations.fetch_add(1, SeqCst);
        }
    }

    fn leave(&self) {
        self.occupied.store(false, SeqCst);
    }
}

struct Guarded(Arc<Watched>);

impl Future for Guarded {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let watched = &self.0;
        watched.enter();
        let polls = watched.polls.fetch_add(1, SeqCst);
        if polls == 0 {
            *watched.waker.lock() = Some(cx.waker().clone());
        }
        match polls % 3 {
            // Long enough for a second poll to run into this one, on one core too.
            0 => thread::yield_now(),
            1 => cx.waker().wake_by_ref(),
            _ => {}
        }
        let done = watched.stop.load(SeqCst);
        watched.leave();
        if done { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.enter();
        thread::yield_now();
        self.0.gone.store(true, SeqCst);
        self.0.leave();
    }
}

/// Wakes a few tasks from all sides, aborts half of them in the middle of it, lets the others finish.
fn wake_and_abort(runtime: &Runtime) {
    const TASKS: usize = 24;
    let watched: Vec<_> = (0..TASKS).map(|_| Arc::<Watched>::default()).collect();
    let tasks: Vec<_> = watched.iter().map(|watched| runtime.spawn(Guarded(watched.clone()))).collect();
    scope(|scope| {
        for thread in 0..6 {
            let (watched, tasks) = (&watched, &tasks);
            scope.spawn(move || {
                let mut random = Random::new(thread);
                for round in 0..500 {
                    let one = random.below(TASKS as u64) as usize;
                    let waker = watched[one].waker.lock().clone();
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                    if round > 200 && one.is_multiple_of(2) {
                        tasks[one].abort();
                    }
                }
            });
        }
        let all = async {
            eventually(|| watched.iter().all(|watched| watched.polls.load(SeqCst) > 0 || watched.gone.load(SeqCst)));
        };
        // A current-thread runtime needs a thread that drives it meanwhile.
        if runtime.handle().runtime_flavor() == rt::runtime::RuntimeFlavor::CurrentThread {
            runtime.block_on(async {
                while watched.iter().any(|w| w.polls.load(SeqCst) == 0 && !w.gone.load(SeqCst)) {
                    yield_by_hand().await;
                }
            });
        } else {
            runtime.block_on(all);
        }
    });
    for watched in &watched {
        watched.stop.store(true, SeqCst);
        if let Some(waker) = watched.waker.lock().take() {
            waker.wake();
        }
    }
    runtime.block_on(async {
        for (one, task) in tasks.into_iter().enumerate() {
            match task.await {
                Ok(()) => {}
                Err(error) => assert!(one % 2 == 0 && error.is_cancelled(), "task {one}: {error}"),
            }
        }
    });
    for (one, watched) in watched.iter().enumerate() {
        assert_eq!(watched.violations.load(SeqCst), 0, "task {one} was polled twice at once, or with its future gone");
        assert!(watched.gone.load(SeqCst));
    }
}

#[test]
fn i2_no_two_polls_at_once_under_wakes_and_aborts() {
    let _watchdog = watchdog();
    for _ in 0..4 {
        on_each_runtime(|runtime| wake_and_abort(&runtime));
    }
}

#[test]
fn i2_no_two_polls_at_once_while_tasks_are_stolen() {
    let _watchdog = watchdog();
    let runtime = multi(4);
    let watched: Vec<_> = (0..64).map(|_| Arc::<Watched>::default()).collect();
    let copies = watched.clone();
    runtime.block_on(async move {
        // All on one worker's lanes at first; each wakes itself a third of the time and its neighbour always.
        let tasks: Vec<_> = copies.iter().map(|watched| rt::spawn(Guarded(watched.clone()))).collect();
        for _ in 0..300 {
            for watched in &copies {
                let waker = watched.waker.lock().clone();
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            yield_by_hand().await;
        }
        for watched in &copies {
            watched.stop.store(true, SeqCst);
        }
        while copies.iter().any(|watched| watched.waker.lock().is_none()) {
            yield_by_hand().await;
        }
        for (watched, task) in copies.iter().zip(tasks) {
            watched.waker.lock().take().unwrap().wake();
            task.await.unwrap();
        }
    });
    assert!(watched.iter().all(|watched| watched.violations.load(SeqCst) == 0));
}
