//! How long its polls took is said of a task itself, and of no other: not what another task's poll took, nor what the
//! runtime does between polls.
//!
//! Mutations that these tests are for: the end of a poll is read by another clock than the one that its beginning was
//! read by; the worker does not begin a group of polls anew after it was with the drivers, or has called a hook, an
//! observer, or a waker; the end of a poll is read after the observer was told; the main future's time stays in a
//! group; after a long poll and one of the main future the worker does not measure the next one alone.
//!
//! Should the operating system interrupt a thread in the middle of a short poll, that poll has taken long. So each of
//! these is tried until that has not happened, and what counts as long is longer each time.

use std::future::{Future, pending, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use rt::runtime::{Builder, Histogram, Runtime, TaskEventKind, TaskInfo};
use rt::task::JoinHandle;
use rt_test_util::*;

/// What counts as long at the first try, and at the last ones.
const LONG: Range<Duration> = Duration::from_millis(2)..Duration::from_millis(200);

fn compute(long: Duration) {
    let began = Instant::now();
    while began.elapsed() < long {
        std::hint::spin_loop();
    }
}

/// What was counted in buckets of durations that are as long.
fn long_polls(runtime: &Runtime, long: Duration) -> u64 {
    let histogram = runtime.metrics().poll_times();
    let buckets = histogram.buckets().iter().enumerate();
    buckets.filter(|&(bucket, _)| Histogram::bucket_range(bucket).end > long).map(|(_, count)| count).sum()
}

/// Everybody's records.
fn infos(runtime: &Runtime) -> Vec<TaskInfo> {
    runtime.handle().tasks()
}

/// Lets others go first, this number of times.
async fn yield_times(yields: usize) {
    for _ in 0..yields {
        rt::task::yield_now().await;
    }
}

/// A task that does this, and then waits.
fn idler(runtime: &Runtime, yields: usize) -> JoinHandle<()> {
    runtime.spawn(async move {
        yield_times(yields).await;
        pending::<()>().await;
    })
}

/// Waits until all tasks of the runtime wait.
async fn until_all_wait(runtime: &Runtime) {
    while !infos(runtime).iter().all(|task| task.state.is_waiting()) {
        rt::task::yield_now().await;
    }
}

/// Whether none of the runtime's tasks was charged with so much, all its polls together.
fn is_nobody_charged(runtime: &Runtime, long: Duration) -> bool {
    infos(runtime).iter().all(|task| task.longest_poll < long && task.total_poll_time < long)
}

/// Tries it until it is so, by what counts as long.
fn until(mut is_so: impl FnMut(Duration) -> bool) {
    let mut long = LONG.start;
    while !is_so(long) {
        long = (long * 2).min(LONG.end);
    }
}

/// Tries it on new runtimes.
fn on_each_until(builder: impl Fn(&mut Builder, Duration), is_so: impl Fn(&Runtime, Duration) -> bool) {
    let _watchdog = watchdog();
    let current = || (Builder::new_current_thread(), 1);
    let multi = |workers| move || (Builder::new_multi_thread(), workers);
    let kinds: [Box<dyn Fn() -> (Builder, usize)>; 3] = [Box::new(current), Box::new(multi(1)), Box::new(multi(2))];
    for kind in kinds {
        until(|long| {
            let (mut new, workers) = kind();
            new.worker_threads(workers).enable_all();
            builder(&mut new, long);
            is_so(&new.build().unwrap(), long)
        });
    }
}

/// A task computes, in every poll, between tasks that do nothing.
#[test]
fn only_the_task_that_took_the_time_is_charged_with_it() {
    on_each_until(
        |_, _| (),
        |runtime, long| {
            runtime.block_on(async {
                let idlers: Vec<_> = (0..4).map(|_| idler(runtime, 20)).collect();
                let busy = runtime.spawn(async move {
                    for _ in 0..20 {
                        compute(long);
                        rt::task::yield_now().await;
                    }
                    pending::<()>().await;
                });
                let idlers: Vec<_> = idlers.into_iter().chain((0..4).map(|_| idler(runtime, 20))).collect();
                until_all_wait(runtime).await;
                let (its, others): (Vec<_>, Vec<_>) = infos(runtime).into_iter().partition(|task| task.id == busy.id());
                assert_eq!((its.len(), others.len()), (1, idlers.len()));
                let are_others_free = others.iter().all(|task| task.longest_poll < long && task.total_poll_time < long);
                its[0].longest_poll >= long && are_others_free
            })
        },
    );
}

/// What is dropped with a task that is over takes long: that is its last poll's, and no other's.
#[test]
fn the_end_of_a_task_is_not_charged_to_the_next() {
    struct TakesLong(Duration);
    impl Drop for TakesLong {
        fn drop(&mut self) {
            compute(self.0);
        }
    }
    on_each_until(
        |_, _| (),
        |runtime, long| {
            runtime.block_on(async {
                for _ in 0..5 {
                    let (dropped_with_it, mut polls) = (TakesLong(long), 0);
                    drop(runtime.spawn(poll_fn(move |cx| {
                        let _ = &dropped_with_it;
                        cx.waker().wake_by_ref();
                        polls += 1;
                        if polls < 3 { Poll::Pending } else { Poll::Ready(TakesLong(long)) }
                    })));
                    (0..4).for_each(|_| drop(idler(runtime, 5)));
                    until_all_wait(runtime).await;
                }
                is_nobody_charged(runtime, long)
            })
        },
    );
}

#[test]
fn an_observer_takes_no_polls_time() {
    on_each_until(
        |builder, long| {
            builder.on_task_event(move |event| {
                if matches!(event.kind, TaskEventKind::Polled | TaskEventKind::Pending | TaskEventKind::Completed) {
                    compute(long);
                }
            });
        },
        |runtime, long| {
            runtime.block_on(async {
                let idlers: Vec<_> = (0..3).map(|_| idler(runtime, 3)).collect();
                rt::spawn(async {}).await.unwrap();
                until_all_wait(runtime).await;
                drop(idlers);
                is_nobody_charged(runtime, long) && long_polls(runtime, long) == 0
            })
        },
    );
}

/// Hooks that are not called before and after polls: then polls are measured in groups.
#[test]
fn hooks_of_spawns_and_of_ends_take_no_polls_time() {
    on_each_until(
        |builder, long| {
            builder.on_task_spawn(move |_| compute(long)).on_task_terminate(move |_| compute(long));
        },
        |runtime, long| {
            let idlers: Vec<_> = (0..3).map(|_| idler(runtime, 300)).collect();
            runtime.block_on(async {
                for _ in 0..3 {
                    runtime.spawn(rt::task::yield_now()).await.unwrap();
                }
                until_all_wait(runtime).await;
                drop(idlers);
                is_nobody_charged(runtime, long) && long_polls(runtime, long) == 0
            })
        },
    );
}

#[test]
fn hooks_take_no_polls_time() {
    on_each_until(
        |builder, long| {
            builder.on_thread_park(move || compute(long)).on_thread_unpark(move || compute(long));
        },
        |runtime, long| {
            let idlers: Vec<_> = (0..3).map(|_| idler(runtime, 3)).collect();
            runtime.block_on(async {
                for _ in 0..3 {
                    // All fall asleep, and one is woken.
                    rt::time::sleep(Duration::from_millis(1)).await;
                    rt::spawn(async {}).await.unwrap();
                }
                until_all_wait(runtime).await;
                drop(idlers);
                is_nobody_charged(runtime, long) && long_polls(runtime, long) == 0
            })
        },
    );
}

/// The drivers call a waker that takes long, of a future that is no task's.
#[test]
fn what_the_drivers_do_takes_no_polls_time() {
    struct TakesLong(Duration, AtomicBool);
    impl Wake for TakesLong {
        fn wake(self: Arc<Self>) {
            compute(self.0);
            self.1.store(true, Ordering::SeqCst);
        }
    }
    on_each_until(
        |_, _| (),
        |runtime, long| {
            let idlers: Vec<_> = (0..3).map(|_| idler(runtime, usize::MAX)).collect();
            let is_so = runtime.block_on(async {
                for _ in 0..3 {
                    let called = Arc::new(TakesLong(long, AtomicBool::new(false)));
                    let waker = Waker::from(called.clone());
                    let mut sleep = pin!(rt::time::sleep(Duration::from_millis(1)));
                    poll_fn(|_| Poll::Ready(sleep.as_mut().poll(&mut Context::from_waker(&waker)))).await.is_pending();
                    while !called.1.load(Ordering::SeqCst) {
                        rt::task::yield_now().await;
                    }
                }
                infos(runtime).iter().all(|task| task.longest_poll < long) && long_polls(runtime, long) == 0
            });
            idlers.iter().for_each(JoinHandle::abort);
            is_so
        },
    );
}

#[test]
fn the_main_future_takes_no_tasks_time() {
    let _watchdog = watchdog();
    until(|long| {
        let runtime = Builder::new_current_thread().build().unwrap();
        let idlers: Vec<_> = (0..3).map(|_| idler(&runtime, 50)).collect();
        runtime.block_on(async {
            for _ in 0..5 {
                compute(long);
                rt::task::yield_now().await;
            }
            until_all_wait(&runtime).await;
            assert_eq!(infos(&runtime).len(), idlers.len());
            is_nobody_charged(&runtime, long) && long_polls(&runtime, long) == 0
        })
    });
}

/// The thread is in the middle of a group of short polls when a task takes long. Then the main future has its turn,
/// with the drivers before it. What tasks do after that is measured poll by poll, as ever after a long one.
#[test]
fn after_a_long_poll_the_next_is_measured_although_the_main_future_comes_between() {
    let _watchdog = watchdog();
    /// One round. Whether only those are charged with time that took it.
    async fn is_so(runtime: &Runtime, long: Duration) -> bool {
        runtime.spawn(yield_times(1_000)).await.unwrap();
        let ends = runtime.spawn(async move { compute(long) });
        rt::task::yield_now().await;
        assert!(ends.is_finished());
        let busy = runtime.spawn(async move {
            compute(long);
            pending::<()>().await;
        });
        let idlers = [idler(runtime, 3), idler(runtime, 3)];
        until_all_wait(runtime).await;
        let (its, others): (Vec<_>, Vec<_>) = infos(runtime).into_iter().partition(|task| task.id == busy.id());
        for task in idlers.into_iter().chain([busy]) {
            task.abort();
            task.await.unwrap_err();
        }
        its[0].longest_poll >= long && others.iter().all(|task| task.total_poll_time < long)
    }
    until(|long| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut rounds = 0;
            while rounds < 10 && is_so(&runtime, long).await {
                rounds += 1;
            }
            rounds == 10
        })
    });
}
