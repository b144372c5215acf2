//! I1: a wake during or after a poll leads to another poll, which sees what was written before the wake.
//!
//! A lost wake shows as a hang here, which the watchdog ends. Mutations that these tests are for: a wake that finds the
//! task running and does not mark it; a `finish_poll` that goes idle without looking at the mark; an injector push
//! without an unpark; a park that does not look at the queues once more; a `yield_now` that takes whatever waker for
//! its task's.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use parking_lot::Mutex;
use rt::runtime::Runtime;
use rt_test_util::*;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Many threads tell one task something and wake it, and each goes on only when the task has seen it: so every single
/// wake counts, whatever the task is doing at that moment. The relaxed counters see to it that the wake has to publish
/// them.
fn storm(threads: usize, rounds: usize, run: impl FnOnce(Boxed)) {
    let told = Arc::new(AtomicUsize::new(0));
    let seen = Arc::new(AtomicUsize::new(0));
    let (send_waker, wakers) = mpsc::channel::<Waker>();
    let stormers = {
        let (told, seen) = (told.clone(), seen.clone());
        thread::spawn(move || {
            let waker = wakers.recv().unwrap();
            scope(|scope| {
                for thread in 0..threads {
                    let (told, seen, waker) = (&told, &seen, waker.clone());
                    scope.spawn(move || {
                        for round in 0..rounds {
                            let ticket = told.fetch_add(1, Relaxed) + 1;
                            if (thread + round) % 2 == 0 {
                                waker.wake_by_ref()
                            } else {
                                let copy = waker.clone();
                                copy.wake()
                            }
                            eventually(|| seen.load(Relaxed) >= ticket);
                        }
                    });
                }
            });
        })
    };
    let mut first = true;
    run(Box::pin(poll_fn(move |cx| {
        if std::mem::take(&mut first) {
            send_waker.send(cx.waker().clone()).unwrap();
        }
        let now = told.load(Relaxed);
        seen.store(now, Relaxed);
        if now == threads * rounds { Poll::Ready(()) } else { Poll::Pending }
    })));
    stormers.join().unwrap();
}

#[test]
fn i1_no_wake_of_32_threads_is_lost_on_a_task() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = multi(workers);
        // Waited for by a plain thread, so that the workers are on their own.
        storm(32, 60, |task| {
            let task = runtime.spawn(task);
            eventually(|| task.is_finished());
        });
    }
}

#[test]
fn i1_no_wake_of_32_threads_is_lost_on_a_current_thread_runtime() {
    let _watchdog = watchdog();
    let runtime = current();
    storm(32, 60, |task| runtime.block_on(async { rt::spawn(task).await.unwrap() }));
}

#[test]
fn i1_no_wake_of_32_threads_is_lost_on_a_main_future() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(1), multi(2)] {
        storm(32, 60, |main| runtime.block_on(main));
    }
}

#[test]
fn i1_no_wake_is_lost_on_callers_of_block_on_beyond_the_guest_slots() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let all_in = Gate::new();
    scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                storm(4, 60, |main| {
                    all_in.pass();
                    runtime.block_on(main);
                });
            });
        }
        all_in.wait_for(8);
        all_in.open();
    });
}

#[test]
fn i1_wakes_during_one_poll_lead_to_one_more_poll() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        for wakes in [1, 3] {
            let before = runtime.handle().metrics().totals().polls;
            let polls = Arc::new(AtomicUsize::new(0));
            let counter = polls.clone();
            let woken = poll_fn(move |cx| {
                if counter.fetch_add(1, SeqCst) == 5 {
                    return Poll::Ready(());
                }
                for _ in 0..wakes {
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            });
            runtime.block_on(async { rt::spawn(woken).await.unwrap() });
            assert_eq!(polls.load(SeqCst), 6);
            // Were it queued once for each wake, some of the polls would find it complete.
            assert_eq!(runtime.handle().metrics().totals().polls - before, 6);
        }
    });
}

#[test]
fn i1_a_wake_from_another_thread_during_a_poll_leads_to_another_poll() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        for by_value in [false, true] {
            let mut polls = 0;
            let task = poll_fn(move |cx| {
                polls += 1;
                if polls == 20 {
                    return Poll::Ready(polls);
                }
                let waker = cx.waker().clone();
                // Over before this poll is: the wake finds the task running, each time.
                thread::spawn(move || if by_value { waker.wake() } else { waker.wake_by_ref() }).join().unwrap();
                Poll::Pending
            });
            assert_eq!(runtime.block_on(async { rt::spawn(task).await.unwrap() }), 20);
        }
    });
}

#[test]
fn i1_a_wake_that_races_with_the_end_of_a_poll_is_not_lost() {
    let _watchdog = watchdog();
    const ROUNDS: usize = 3000;
    for runtime in [current(), multi(1), multi(2)] {
        let (send, receive) = mpsc::channel::<Waker>();
        let waking = thread::spawn(move || receive.into_iter().for_each(Waker::wake));
        let mut polls = 0;
        let task = poll_fn(move |cx| {
            polls += 1;
            if polls > ROUNDS {
                return Poll::Ready(());
            }
            // The other thread has it now, and may use it before, while or after this poll ends.
            send.send(cx.waker().clone()).unwrap();
            for _ in 0..polls % 64 {
                std::hint::spin_loop();
            }
            Poll::Pending
        });
        runtime.block_on(async { rt::spawn(task).await.unwrap() });
        waking.join().unwrap();
    }
}

#[test]
fn i1_wakers_can_be_cloned_and_dropped_everywhere() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let token = drops.token();
        let kept = Arc::new(Mutex::new(None::<Waker>));
        let done = Signal::new();
        let wakers = kept.clone();
        let finished = done.clone();
        let task = runtime.spawn(poll_fn(move |cx| {
            let _alive = &token;
            *wakers.lock() = Some(cx.waker().clone());
            if finished.is_set() { Poll::Ready(()) } else { Poll::Pending }
        }));
        let juggle = || {
            scope(|scope| {
                for thread in 0..8 {
                    let kept = &kept;
                    scope.spawn(move || {
                        let mut pile = Vec::new();
                        for n in 0..300 {
                            let Some(waker) = kept.lock().clone() else { continue };
                            match (thread + n) % 5 {
                                0 => drop(waker),
                                1 => pile.push(waker.clone()),
                                2 => pile.truncate(n / 3),
                                3 => waker.wake_by_ref(),
                                _ => waker.wake(),
                            }
                        }
                    });
                }
            });
        };
        let juggling = || {
            juggle();
            // The last word: a waker that is still good after all that.
            done.set();
            eventually(|| kept.lock().is_some());
            kept.lock().clone().unwrap().wake();
        };
        drive_while(&runtime, juggling, task);
        kept.lock().take();
        assert_eq!(drops.count(), 1, "and nobody kept the future");
    });
}

/// Runs a closure on a thread while the runtime runs, and then waits for the task.
fn drive_while(runtime: &Runtime, f: impl FnOnce() + Send, task: rt::task::JoinHandle<()>) {
    scope(|scope| {
        scope.spawn(f);
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn i1_waking_a_complete_task_does_nothing() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let polls = Arc::new(AtomicUsize::new(0));
        let counter = polls.clone();
        let task = async move {
            poll_fn(|cx| {
                counter.fetch_add(1, SeqCst);
                Poll::Ready(cx.waker().clone())
            })
            .await
        };
        let waker = runtime.block_on(async { rt::spawn(task).await.unwrap() });
        let before = runtime.handle().metrics().totals();
        scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..50).map(|_| waker.clone()).for_each(Waker::wake));
            }
        });
        runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
        assert_eq!(polls.load(SeqCst), 1);
        let after = runtime.handle().metrics().totals();
        assert_eq!(after.polls - before.polls, 1, "only the task that was spawned to see");
    });
}

/// A task that yields tells its worker only, without a wake. But a task may poll `yield_now` with the waker of another.
#[test]
fn i1_a_yield_wakes_the_waker_that_it_was_polled_with() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let polls = Arc::new(AtomicUsize::new(0));
        let waker = Arc::new(Mutex::new(None));
        let waits = {
            let (polls, waker) = (polls.clone(), waker.clone());
            runtime.spawn(poll_fn(move |cx| {
                *waker.lock() = Some(cx.waker().clone());
                if polls.fetch_add(1, SeqCst) == 1 { Poll::Ready(()) } else { Poll::Pending }
            }))
        };
        let yields = runtime.spawn(async move {
            let other = loop {
                let left = waker.lock().take();
                if let Some(waker) = left {
                    break waker;
                }
                rt::task::yield_now().await;
            };
            let mut given = std::pin::pin!(rt::task::yield_now());
            assert!(given.as_mut().poll(&mut Context::from_waker(&other)).is_pending());
            assert!(given.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        });
        runtime.block_on(async {
            waits.await.unwrap();
            yields.await.unwrap();
        });
        assert_eq!(polls.load(SeqCst), 2);
    });
}
