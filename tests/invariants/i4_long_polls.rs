//! I4, where polls are long, though not so long that they count as blocked: timers are served as soon as the monitor
//! notices, and what they wake is not passed on from worker to worker.
//!
//! Mutations that these tests are for: a worker that is not told that the drivers are not served, and learns how long
//! its polls are only after `event_interval` of them; a task woken by a timer that is stolen onto a lane where it
//! waits again; two workers with long polls that each take the other for missing; tasks left to others that have no
//! turn; a worker that looks at one peer only, at random, for tasks that nobody comes for.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::Poll;
use std::time::{Duration, Instant};

use rt::runtime::{Builder, Runtime, worker_index};
use rt::task::JoinHandle;
use rt_test_util::*;

/// How many workers there are at most.
const WORKERS: usize = 2;

/// Tasks that compute for a time at each poll, and count their polls, until they are told to end.
#[derive(Clone, Default)]
struct Burners {
    /// By the worker.
    polls: Arc<[AtomicUsize; WORKERS]>,
    end: Arc<AtomicBool>,
}

impl Burners {
    fn spawn(&self, runtime: &Runtime, tasks: usize, each: Duration) -> Vec<JoinHandle<()>> {
        let burn = |burners: Self| async move {
            while !burners.end.load(SeqCst) {
                burners.polls[worker_index().unwrap()].fetch_add(1, SeqCst);
                let start = Instant::now();
                while start.elapsed() < each {
                    std::hint::spin_loop();
                }
                rt::task::yield_now().await;
            }
        };
        (0..tasks).map(|_| runtime.spawn(burn(self.clone()))).collect()
    }

    fn polls_of_each(&self) -> [usize; WORKERS] {
        self.polls.each_ref().map(|polls| polls.load(SeqCst))
    }

    fn polls(&self) -> usize {
        self.polls_of_each().into_iter().sum()
    }

    fn end(&self, runtime: &Runtime, tasks: Vec<JoinHandle<()>>) {
        self.end.store(true, SeqCst);
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}

fn runtime(workers: usize, event_interval: u32) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(workers)
        .event_interval(event_interval)
        .rescue_blocked(false)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn i4_timers_do_not_wait_for_an_interval_of_long_polls() {
    let _watchdog = watchdog();
    for workers in 1..=WORKERS {
        // Two thousand polls would take ten seconds.
        let runtime = runtime(workers, 2000);
        let burners = Burners::default();
        let tasks = burners.spawn(&runtime, 4, Duration::from_millis(10));
        while burners.polls() < 4 {
            std::thread::yield_now();
        }
        let before = burners.polls();
        let sleep = runtime.spawn(async { rt::time::sleep(Duration::from_millis(1)).await });
        runtime.block_on(sleep).unwrap();
        let polls = burners.polls() - before;
        assert!(polls < 500, "{polls} polls");
        burners.end(&runtime, tasks);
    }
}

#[test]
fn i4_what_a_timer_wakes_is_not_passed_from_worker_to_worker() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS, 61);
    let burners = Burners::default();
    let tasks = burners.spawn(&runtime, 100, Duration::from_millis(1));
    let watch = burners.clone();
    let longest = runtime.spawn(async move {
        let (mut rounds, mut longest) = (0, 0);
        while rounds < 200 {
            let before = watch.polls_of_each();
            let mut sleep = pin!(rt::time::sleep(Duration::from_millis(1)));
            let mut is_due_in_its_poll = false;
            poll_fn(|cx| {
                let polled = sleep.as_mut().poll(cx);
                is_due_in_its_poll |= polled.is_pending() && rt::time::Instant::now() >= sleep.deadline();
                polled
            })
            .await;
            let after = watch.polls_of_each();
            // The system has let its worker wait in the middle of its poll, and the other one has woken it meanwhile.
            // If that comes twice it counts as one that yields, and waits in the line of those.
            if is_due_in_its_poll {
                continue;
            }
            // While the system lets one worker wait the other polls on, and cannot help what that one has in its hands:
            // this task, or the drivers. What is passed on waits for the polls of both.
            longest = longest.max((0..WORKERS).map(|worker| after[worker] - before[worker]).min().unwrap());
            rounds += 1;
        }
        longest
    });
    let longest = runtime.block_on(longest).unwrap();
    assert!(longest < 30, "{longest} polls of each worker");
    burners.end(&runtime, tasks);
}

#[test]
fn i4_tasks_that_are_left_to_others_have_their_turn() {
    let _watchdog = watchdog();
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .blocked_threshold(Duration::from_millis(2))
        .on_blocked(|_| ())
        .enable_all()
        .build()
        .unwrap();
    // All of them block the worker, time and again: one spare passes over them all.
    let (polls, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (polls, end) = (polls.clone(), end.clone());
            runtime.spawn(async move {
                let (mut last, mut longest) = (polls.load(SeqCst), 0);
                while !end.load(SeqCst) {
                    let now = polls.fetch_add(1, SeqCst);
                    longest = longest.max(now - std::mem::replace(&mut last, now));
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_millis(12) {
                        std::hint::spin_loop();
                    }
                    rt::task::yield_now().await;
                }
                longest.max(polls.load(SeqCst) - last)
            })
        })
        .collect();
    while polls.load(SeqCst) < 400 {
        std::thread::yield_now();
    }
    assert!(runtime.handle().metrics().num_spare_threads() > 0);
    end.store(true, SeqCst);
    runtime.block_on(async {
        for task in tasks {
            let longest = task.await.unwrap();
            // 4K ticks, and one in 61 for the injector, and one in four for those left to others.
            assert!(longest < (4 * 20 * 61 / 60 + 61) * 4 / 3, "{longest} polls of others");
        }
    });
}

#[test]
fn i4_tasks_of_a_worker_that_does_not_move_are_found_however_many_workers_there_are() {
    const WORKERS: usize = 32;
    const POLL: Duration = Duration::from_millis(2);
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS, 61);
    // One worker is never without a task, and its polls are counted. It does not give way, which would have it help
    // others in any case.
    let (polls, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, is_over) = (polls.clone(), end.clone());
    let busy = runtime.spawn(poll_fn(move |cx| {
        count.fetch_add(1, SeqCst);
        std::thread::sleep(POLL);
        cx.waker().wake_by_ref();
        if is_over.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }));
    // Of the others none moves: so nobody can be woken for what one of them has on its queue.
    let (standing, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let stand = |standing: &AtomicUsize, go_on: &AtomicBool| {
        standing.fetch_add(1, SeqCst);
        while !go_on.load(SeqCst) {
            std::thread::sleep(POLL);
        }
    };
    let stands = |standing: Arc<AtomicUsize>, go_on: Arc<AtomicBool>| async move { stand(&standing, &go_on) };
    let standers: Vec<_> = (0..WORKERS - 2).map(|_| runtime.spawn(stands(standing.clone(), go_on.clone()))).collect();
    while standing.load(SeqCst) < WORKERS - 2 {
        std::thread::yield_now();
    }
    let count = polls.clone();
    let longest = runtime.spawn(async move {
        let waits = |_| {
            let (sender, taken) = std::sync::mpsc::channel();
            let before = count.load(SeqCst);
            drop(rt::spawn(async move { _ = sender.send(()) }));
            taken.recv().expect("it is polled");
            count.load(SeqCst) - before
        };
        (0..5).map(waits).max()
    });
    let longest = runtime.block_on(longest).unwrap().unwrap();
    go_on.store(true, SeqCst);
    end.store(true, SeqCst);
    runtime.block_on(async {
        for task in standers.into_iter().chain([busy]) {
            task.await.unwrap();
        }
    });
    // Two polls until it counts as stalled, and the turns of those that came before; a few more where the system lets
    // the worker wait, for it goes by how long its own polls take.
    assert!(longest < 12, "{longest} polls of the worker that could have come for it");
}
