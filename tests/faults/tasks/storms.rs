//! Floods of wakes: from many threads on one task, and from a task on itself.
//!
//! Mutations that these tests are for: a wake that is lost against the end of a poll; one that queues a task twice; a
//! task that is polled again before the others have had a turn.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;

use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

const THREADS: usize = 32;
const WAKES: u64 = 1_000;

/// What the storm and the task see of each other.
struct Eye {
    /// How many wakes each thread has begun. Nothing but the wake itself publishes it to the task.
    wakes: [AtomicU64; THREADS],
    polls: AtomicUsize,
    inside: AtomicBool,
    violations: AtomicUsize,
    wakers: Channel<Waker>,
}

impl Eye {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            wakes: [const { AtomicU64::new(0) }; THREADS],
            polls: AtomicUsize::new(0),
            inside: AtomicBool::new(false),
            violations: AtomicUsize::new(0),
            wakers: Channel::new(),
        })
    }
}

/// Is done when it has seen every thread's last wake.
struct InTheStorm(Arc<Eye>);

impl InTheStorm {
    fn enter(&self) {
        if self.0.inside.swap(true, Relaxed) {
            self.0.violations.fetch_add(1, SeqCst);
        }
    }

    fn leave(&self) {
        self.0.inside.store(false, Relaxed);
    }
}

impl Future for InTheStorm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.enter();
        let eye = &*self.0;
        let first = eye.polls.fetch_add(1, Relaxed) == 0;
        if first {
            eye.wakers.send(cx.waker().clone());
        }
        let done = !first && eye.wakes.iter().all(|wakes| wakes.load(Relaxed) == WAKES);
        if !done {
            // Most wakes, and with luck the last, come between the look and the end of the poll.
            thread::yield_now();
        }
        self.leave();
        if done { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for InTheStorm {
    fn drop(&mut self) {
        self.enter();
    }
}

/// Lets it loose on a new task. Returns how often that was polled, and how often two were inside of it.
fn storm(runtime: &Runtime) -> (usize, usize) {
    let eye = Eye::new();
    let task = runtime.spawn(InTheStorm(eye.clone()));
    let waker = runtime.block_on(eye.wakers.receive());
    let begin = Barrier::new(THREADS);
    scope(|scope| {
        for number in 0..THREADS {
            let (eye, begin, waker) = (&eye, &begin, waker.clone());
            scope.spawn(move || {
                begin.wait();
                for wake in 1..=WAKES {
                    eye.wakes[number].store(wake, Relaxed);
                    // The last one is of another kind in each thread.
                    match (wake + number as u64) % 3 {
                        0 => waker.wake_by_ref(),
                        1 => {
                            let copy = waker.clone();
                            copy.wake();
                        }
                        _ => {
                            let copy = waker.clone();
                            copy.wake_by_ref();
                        }
                    }
                }
            });
        }
        drop(waker);
        // The last poll, too, comes from a wake: no queue holds the task otherwise.
        runtime.block_on(task).unwrap();
    });
    (eye.polls.load(SeqCst), eye.violations.load(SeqCst))
}

#[test]
fn a_task_in_a_storm_of_wakes_is_polled_after_the_last_and_never_twice_at_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        for _ in 0..5 {
            let (polls, violations) = storm(&runtime);
            assert_eq!(violations, 0);
            assert!(polls >= 2 && polls as u64 <= 1 + THREADS as u64 * WAKES, "{polls} polls");
        }
    });
}

#[test]
fn a_local_task_in_a_storm_of_wakes_is_polled_at_home() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    let eye = Eye::new();
    let task = runtime.spawn_local(InTheStorm(eye.clone()));
    let waker = runtime.block_on(eye.wakers.receive());
    scope(|scope| {
        for number in 0..THREADS {
            let (eye, waker) = (&eye, waker.clone());
            scope.spawn(move || {
                for wake in 1..=WAKES {
                    eye.wakes[number].store(wake, Relaxed);
                    waker.wake_by_ref();
                }
            });
        }
        runtime.block_on(task).unwrap();
    });
    assert_eq!(eye.violations.load(SeqCst), 0);
}

#[test]
fn a_storm_that_outlasts_its_task_does_no_harm() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (wakers, polls, drops) = (Channel::<Waker>::new(), Arc::new(AtomicUsize::new(0)), Drops::new());
        let (tell, count, token) = (wakers.clone(), polls.clone(), drops.token());
        let task = runtime.spawn(async move {
            let _token = token;
            std::future::poll_fn(|cx| {
                let before = count.fetch_add(1, SeqCst);
                if before == 0 {
                    tell.send(cx.waker().clone());
                }
                if before < 100 { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
        });
        let waker = runtime.block_on(wakers.receive());
        let ended = AtomicBool::new(false);
        scope(|scope| {
            for _ in 0..THREADS {
                let (waker, ended) = (waker.clone(), &ended);
                scope.spawn(move || {
                    while !ended.load(SeqCst) {
                        waker.wake_by_ref();
                    }
                    (0..WAKES).for_each(|_| waker.wake_by_ref());
                });
            }
            runtime.block_on(task).unwrap();
            ended.store(true, SeqCst);
        });
        drops.assert_all();
        waker.wake();
        assert_eq!(polls.load(SeqCst), 101, "not polled after its end");
    });
}

/// Wakes itself in every poll, until it is told to stop.
async fn restless(stop: Arc<AtomicBool>, turns: Arc<AtomicUsize>) {
    while !stop.load(SeqCst) {
        turns.fetch_add(1, SeqCst);
        yield_by_hand().await;
    }
}

#[test]
fn a_task_that_wakes_itself_for_ever_lets_ten_thousand_others_end() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let hogs: Vec<_> = (0..4).map(|_| runtime.spawn(restless(stop.clone(), turns.clone()))).collect();
        // From outside, from the main future, and from a task.
        let outside: Vec<_> = (0..3_000).map(|n| runtime.spawn(several_turns(n))).collect();
        let sum = runtime.block_on(async {
            let main: Vec<_> = (3_000..6_000).map(|n| rt::spawn(several_turns(n))).collect();
            let inside = rt::spawn(async { (6_000..10_000).map(|n| rt::spawn(several_turns(n))).collect::<Vec<_>>() });
            let mut sum = 0;
            for task in outside.into_iter().chain(main).chain(inside.await.unwrap()) {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, (0..10_000).sum::<usize>());
        assert!(turns.load(SeqCst) > 0);
        stop.store(true, SeqCst);
        runtime.block_on(async {
            for hog in hogs {
                hog.await.unwrap();
            }
        });
    });
}

/// Needs a few polls, some of them after a wake by a timer.
async fn several_turns(n: usize) -> usize {
    for _ in 0..n % 5 {
        rt::task::yield_now().await;
    }
    if n.is_multiple_of(10) {
        rt::time::sleep(std::time::Duration::from_micros(500)).await;
    }
    n
}
