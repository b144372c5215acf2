//! What is measured by the clock adds up: how long polls take, how long tasks wait in queues, what workers spend their
//! time on, how late timers are.
//!
//! Mutations that these tests are for: a poll that is counted twice or not at all; a long poll that is counted as many
//! short ones; a task that is followed and lost on its way through the injector, a thief, or a thread in `block_on`; a
//! worker that is left out of the sum; a clock that is read although that is switched off.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use rt::runtime::{Builder, Histogram, Runtime, RuntimeMetrics, WorkerState};
use rt_test_util::*;

const LONG: Duration = Duration::from_millis(2);

/// Polls that take that long or longer.
fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// What was counted in buckets of durations that are as long at least.
fn at_least(histogram: &Histogram, time: Duration) -> u64 {
    let buckets = histogram.buckets().iter().enumerate();
    buckets.filter(|&(bucket, _)| Histogram::bucket_range(bucket).end > time).map(|(_, count)| count).sum()
}

/// Waits until the workers have gone to sleep: then the last group of polls has ended.
fn settle(runtime: &Runtime, metrics: &RuntimeMetrics) {
    runtime.block_on(async {});
    eventually(|| metrics.poll_times().count() == metrics.totals().polls);
}

#[test]
fn a_long_poll_counts_as_long() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.handle().metrics();
        runtime.block_on(async {
            for _ in 0..3 {
                // Among short ones, too.
                for _ in 0..100 {
                    rt::spawn(rt::task::yield_now()).await.unwrap();
                }
                rt::spawn(async { compute(LONG) }).await.unwrap();
            }
        });
        settle(&runtime, &metrics);
        assert!(at_least(&metrics.poll_times(), LONG) >= 3, "{:?}", metrics.poll_times());
    });
}

#[test]
fn as_many_polls_are_measured_as_are_made() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.handle().metrics();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..50)
                .map(|n| {
                    rt::spawn(async move {
                        for _ in 0..n {
                            rt::task::yield_now().await;
                        }
                        rt::spawn(async {}).await.unwrap();
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        settle(&runtime, &metrics);
        let mut sum = Histogram::default();
        (0..metrics.num_workers()).for_each(|worker| sum += metrics.worker_poll_times(worker).unwrap());
        // No spare worker was needed, or it has polled something.
        assert!(sum.count() <= metrics.totals().polls);
        if metrics.num_spare_threads() == 0 {
            assert_eq!(sum, metrics.poll_times());
        }
        for worker in 0..metrics.num_workers() {
            let polls = metrics.worker_poll_times(worker).unwrap().count();
            assert_eq!(polls, metrics.worker(worker).unwrap().polls, "of worker {worker}");
        }
        assert_eq!(metrics.worker_poll_times(metrics.num_workers()), None);
        assert_eq!(metrics.worker_wake_to_poll_times(metrics.num_workers()), None);
    });
}

/// Tasks from the threads of the runtime and from others wait behind a poll of two milliseconds.
#[test]
fn a_task_that_waits_behind_a_long_poll_counts_as_late() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.handle().metrics();
        // Which task is followed is up to the runtime: so until it was one that has waited. (If it were always the
        // first of them, that would never be.)
        eventually(|| {
            runtime.block_on(async {
                let tasks = (0..8).map(|_| rt::spawn(async { compute(LONG) }));
                for task in tasks.collect::<Vec<_>>() {
                    task.await.unwrap();
                }
            });
            at_least(&metrics.wake_to_poll_times(), LONG) > 0
        });
        let totals = metrics.totals();
        let queued = totals.local_schedules + totals.injector_schedules;
        let followed = metrics.wake_to_poll_times().count();
        assert!(followed <= queued, "{followed} of {queued}");
    });
}

#[test]
fn tasks_are_followed_through_the_injector() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.handle().metrics();
        // The current-thread runtime polls them in `block_on`.
        eventually(|| {
            let tasks: Vec<_> = (0..10).map(|_| runtime.spawn(async {})).collect();
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
            metrics.wake_to_poll_times().count() >= 100
        });
        let totals = metrics.totals();
        assert!(metrics.wake_to_poll_times().count() <= totals.local_schedules + totals.injector_schedules);
    });
}

#[test]
fn switched_off_nothing_is_measured_and_all_else_is_counted() {
    let _watchdog = watchdog();
    for builder in [Builder::new_multi_thread, Builder::new_current_thread] {
        let runtime = builder().worker_threads(2).enable_all().metrics_histograms(false).build().unwrap();
        let metrics = runtime.metrics();
        runtime.block_on(async {
            for _ in 0..100 {
                rt::spawn(async { rt::task::yield_now().await }).await.unwrap();
            }
            rt::spawn(async { compute(LONG) }).await.unwrap();
        });
        assert!(metrics.totals().polls >= 201);
        assert_eq!((metrics.poll_times().count(), metrics.wake_to_poll_times().count()), (0, 0));
        assert_eq!(metrics.worker_mean_poll_time(0), Duration::ZERO);
        assert!(!metrics.poll_time_histogram_enabled() && !metrics.schedule_latency_histogram_enabled());
        assert_eq!(metrics.poll_time_histogram_num_buckets(), 0);
        assert!(metrics.totals().busy_nanos >= LONG.as_nanos() as u64);
    }
}

#[test]
fn a_workers_time_is_all_accounted_for() {
    let _watchdog = watchdog();
    let began = Instant::now();
    let runtime = Builder::new_multi_thread().worker_threads(1).rescue_blocked(false).build().unwrap();
    let metrics = runtime.metrics();
    let nanos = || {
        let counts = metrics.worker(0).unwrap();
        counts.busy_nanos + counts.searching_nanos + counts.parked_nanos
    };
    // While it turns from one state to another, what passes may be seen as a part of both, and stays so.
    let until_parked = || eventually(|| matches!(metrics.worker_state(0), Some((WorkerState::Parked, _))));
    until_parked();
    // What passes of the sleep that goes on is there as well.
    let before = (Instant::now(), nanos());
    compute(LONG);
    let after = nanos();
    assert!(after - before.1 >= LONG.as_nanos() as u64, "{before:?}, {after}");
    runtime.block_on(async { rt::spawn(async { compute(LONG) }).await.unwrap() });
    until_parked();
    assert!(metrics.worker_total_busy_duration(0) >= LONG);
    assert!(u128::from(nanos()) <= began.elapsed().as_nanos());
    drop(runtime);
    assert_eq!(metrics.worker_state(0), None);
    assert!(u128::from(nanos()) <= began.elapsed().as_nanos());
}

/// However workers fall asleep and wake up meanwhile.
#[test]
fn no_time_of_a_worker_goes_backwards() {
    let _watchdog = watchdog();
    for builder in [Builder::new_multi_thread, Builder::new_current_thread] {
        let runtime = builder().worker_threads(2).enable_all().build().unwrap();
        let metrics = runtime.metrics();
        let is_over = AtomicU32::new(0);
        scope(|scope| {
            scope.spawn(|| {
                let mut before = vec![(0, 0, 0); metrics.num_workers()];
                while is_over.load(Ordering::SeqCst) == 0 {
                    for (worker, before) in before.iter_mut().enumerate() {
                        let counts = metrics.worker(worker).unwrap();
                        let now = (counts.busy_nanos, counts.searching_nanos, counts.parked_nanos);
                        assert!(now.0 >= before.0 && now.1 >= before.1 && now.2 >= before.2, "{before:?}, {now:?}");
                        *before = now;
                    }
                }
            });
            runtime.block_on(async {
                for _ in 0..2_000 {
                    rt::spawn(rt::task::yield_now()).await.unwrap();
                }
            });
            is_over.store(1, Ordering::SeqCst);
        });
    }
}

#[test]
fn late_timers_are_counted_with_how_late_they_were() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let metrics = runtime.metrics();
    runtime.block_on(async {
        // Of one that is due at its first poll already, after a long pause of this thread, nobody knows.
        let mut timer = loop {
            let mut timer = Box::pin(rt::time::sleep(Duration::from_millis(1)));
            if poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx))).await.is_pending() {
                break timer;
            }
        };
        // Nobody polls the drivers before this thread does, which is when the main future waits.
        compute(Duration::from_millis(1) + LONG);
        timer.as_mut().await;
    });
    let (lateness, drivers) = (metrics.timer_lateness(), metrics.drivers());
    assert_eq!((lateness.count(), drivers.timers_fired), (1, 1));
    assert!(at_least(&lateness, LONG - Duration::from_millis(1)) == 1, "{lateness:?}");
}

#[test]
fn jobs_of_the_blocking_pool_are_counted() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        static RUN: AtomicU32 = AtomicU32::new(0);
        RUN.store(0, Ordering::SeqCst);
        let jobs: Vec<_> = (0..10).map(|_| runtime.spawn_blocking(|| RUN.fetch_add(1, Ordering::SeqCst))).collect();
        runtime.block_on(async {
            for job in jobs {
                job.await.unwrap();
            }
        });
        assert_eq!((runtime.metrics().blocking_jobs_run(), RUN.load(Ordering::SeqCst)), (10, 10));
    });
}

#[test]
fn what_is_counted_is_there_by_tokios_names() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.metrics();
        runtime.block_on(async {
            for _ in 0..20 {
                rt::spawn(rt::task::yield_now()).await.unwrap();
            }
        });
        settle(&runtime, &metrics);
        let workers = 0..metrics.num_workers();
        let totals = metrics.totals();
        assert_eq!(metrics.spawned_tasks_count(), 20);
        let of_workers: u64 = workers.clone().map(|worker| metrics.worker_poll_count(worker)).sum();
        let buckets = 0..metrics.poll_time_histogram_num_buckets();
        let of_worker = |worker| buckets.clone().map(move |bucket| (worker, bucket));
        let all = workers.clone().flat_map(of_worker);
        let polls: u64 = all.map(|(worker, bucket)| metrics.poll_time_histogram_bucket_count(worker, bucket)).sum();
        assert_eq!(polls, of_workers);
        assert_eq!(of_workers, totals.polls);
        assert_eq!(metrics.poll_time_histogram_bucket_range(1), Duration::from_nanos(2)..Duration::from_nanos(4));
        assert_eq!(metrics.worker_overflow_count(0), 0);
        assert_eq!(metrics.worker_local_queue_depth(0), 0);
        let none = std::panic::catch_unwind(|| metrics.worker_poll_count(metrics.num_workers()));
        assert!(none.is_err(), "there is no such worker");
    });
}
