//! The counters add up.
//!
//! Mutations that these tests are for: a path that spawns, polls or completes without counting; a count made twice; a
//! counter of a `block_on` thread, of foreign threads or of a driver that is left out of the sum.

use std::future::pending;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Builder;
use rt_test_util::*;

#[test]
fn at_rest_as_many_tasks_are_complete_as_were_spawned() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.handle().metrics();
        let pending_task = runtime.spawn(pending::<()>());
        runtime.block_on(async {
            let mut tasks = Vec::new();
            for n in 0..200 {
                // From the main future, from tasks, aborted, panicking, detached.
                tasks.push(rt::spawn(async move {
                    rt::spawn(async {}).await.unwrap();
                    rt::task::yield_now().await;
                    assert!(n % 20 > 0, "some panic");
                }));
                if n % 7 == 0 {
                    tasks[n].abort();
                }
            }
            for task in tasks {
                let _ = task.await;
            }
        });
        // Detached children of aborted tasks may still be on their way.
        let settle = async {
            while metrics.num_alive_tasks() > 1 {
                rt::task::yield_now().await;
            }
        };
        runtime.block_on(settle);
        let totals = metrics.totals();
        assert_eq!(totals.spawns, totals.completions + 1);
        assert!(totals.spawns > 200 && totals.polls > totals.completions);
        assert!(totals.local_schedules + totals.injector_schedules >= totals.spawns - 1, "{totals:?}");
        drop(runtime);
        let totals = metrics.totals();
        assert_eq!((totals.spawns, metrics.num_alive_tasks()), (totals.completions, 0));
        assert!(pending_task.is_finished());
        // Refused by a dead runtime: neither spawned nor completed.
        assert!(totals.polls >= 200);
    });
}

#[test]
fn tasks_refused_by_a_dead_runtime_are_not_counted() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let handle = runtime.handle().clone();
        drop(runtime);
        let before = handle.metrics().totals();
        (0..10).for_each(|_| assert!(handle.spawn(async {}).is_finished()));
        let after = handle.metrics().totals();
        assert_eq!((after.spawns, after.completions), (before.spawns, before.completions));
    });
}

#[test]
fn totals_are_the_sum_of_the_workers_and_of_those_outside() {
    let _watchdog = watchdog();
    let runtime = multi(3);
    let metrics = runtime.handle().metrics();
    let task = runtime.spawn(async {
        for task in (0..100).map(|_| rt::spawn(async {})).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
    eventually(|| task.is_finished());
    assert_eq!(metrics.num_workers(), 3);
    assert!(metrics.worker(3).is_none() && metrics.worker_queue_depth(3).is_none());
    let workers: Vec<_> = (0..3).map(|worker| metrics.worker(worker).unwrap()).collect();
    let totals = metrics.totals();
    // The first came from outside; no thread was in `block_on`.
    assert_eq!(workers.iter().map(|worker| worker.spawns).sum::<u64>() + 1, totals.spawns);
    assert_eq!(workers.iter().map(|worker| worker.completions).sum::<u64>(), totals.completions);
    assert_eq!(workers.iter().map(|worker| worker.polls).sum::<u64>(), totals.polls);
    assert_eq!(totals.spawns, 101);
}

#[test]
fn an_imbalance_between_two_workers_shows_as_steals() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let task = runtime.spawn(async {
        let (send, receive) = mpsc::channel();
        for _ in 0..50 {
            let send = send.clone();
            rt::spawn(async move { send.send(()).unwrap() });
        }
        // Only the other worker can run them, and only by stealing them.
        (0..50).for_each(|_| receive.recv().unwrap());
    });
    eventually(|| task.is_finished());
    let totals = runtime.handle().metrics().totals();
    assert!(totals.steals >= 1 && totals.steal_attempts >= totals.steals, "{totals:?}");
    assert_eq!(totals.stolen_tasks, 50, "{totals:?}");
}

#[test]
fn queue_depths_count_what_waits() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let metrics = runtime.handle().metrics();
    let gate = Gate::new();
    let held = gate.clone();
    runtime.spawn(async move {
        (0..7).for_each(|_| drop(rt::spawn(async {})));
        held.pass();
    });
    gate.wait_for(1);
    (0..5).for_each(|_| drop(runtime.spawn(async {})));
    assert_eq!((metrics.worker_queue_depth(0), metrics.global_queue_depth()), (Some(7), 5));
    assert_eq!(metrics.num_alive_tasks(), 13);
    gate.open();
    eventually(|| metrics.num_alive_tasks() == 0);
    assert_eq!((metrics.worker_queue_depth(0), metrics.global_queue_depth()), (Some(0), 0));
}

#[test]
fn a_spent_budget_is_counted() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            rt::spawn(async {
                for _ in 0..128 * 10 + 1 {
                    rt::task::consume_budget().await;
                }
            })
            .await
            .unwrap();
        });
        assert_eq!(runtime.handle().metrics().totals().budget_yields, 10);
    });
}

#[test]
fn timers_are_counted_as_set_fired_and_cancelled() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drivers = || runtime.handle().metrics().drivers();
        runtime.block_on(async {
            for _ in 0..10 {
                rt::time::sleep(Duration::from_millis(1)).await;
            }
            // Never polled, or ready at once: no timer.
            drop(rt::time::sleep(Duration::from_secs(1)));
            rt::time::sleep_until(rt::time::Instant::now() - Duration::from_secs(1)).await;
            assert!(rt::time::timeout(Duration::from_secs(1), async {}).await.is_ok());
        });
        assert_eq!((drivers().timers_set, drivers().timers_fired, drivers().timers_cancelled), (10, 10, 0));
        runtime.block_on(async {
            for _ in 0..5 {
                let mut sleep = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
                assert!(poll_once(sleep.as_mut()).await.is_pending());
            }
        });
        assert_eq!((drivers().timers_set, drivers().timers_fired, drivers().timers_cancelled), (15, 10, 5));
    });
}

#[test]
fn descriptors_and_their_events_are_counted() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drivers = || runtime.handle().metrics().drivers();
        assert_eq!(drivers().io_registered, 0);
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            assert_eq!(drivers().io_registered, 3);
            client.write_all(b"x").await.unwrap();
            server.read_exact(&mut [0]).await.unwrap();
            assert!(drivers().io_events > 0);
            drop(client);
            assert_eq!(drivers().io_registered, 2);
        });
        assert_eq!(drivers().io_registered, 0);
        let metrics = runtime.handle().metrics();
        let registrations = || (metrics.io_driver_fd_registered_count(), metrics.io_driver_fd_deregistered_count());
        assert_eq!(registrations(), (3, 3));
        // The system has no readiness of ordinary files.
        #[cfg(target_os = "linux")]
        runtime.block_on(async {
            let file = std::fs::File::open("/proc/self/exe").unwrap();
            assert!(rt::io::unix::AsyncFd::new(file).is_err());
            assert_eq!(registrations(), (3, 3), "one that was refused is none");
        });
    });
}

#[test]
fn a_thread_in_block_on_queues_from_outside_and_a_task_does_not() {
    let _watchdog = watchdog();
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let metrics = runtime.metrics();
    runtime.block_on(async {
        rt::spawn(async { rt::spawn(async {}).await.unwrap() }).await.unwrap();
    });
    assert_eq!(metrics.remote_schedule_count(), 1);
    runtime.spawn(async {});
    assert_eq!(metrics.remote_schedule_count(), 2);
    drop(runtime);
    let by_workers = (0..2).map(|worker| metrics.worker_local_schedule_count(worker)).sum::<u64>();
    // The inner task; and the outer one, if that had to wait for it.
    assert!((1..=2).contains(&by_workers), "{by_workers}");
}

#[test]
fn the_thread_of_a_worker_is_the_one_that_has_its_queues() {
    let _watchdog = watchdog();
    let here = || thread::current().id();
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let metrics = runtime.metrics();
    let (worker, thread) =
        runtime.block_on(async { rt::spawn(async move { (rt::runtime::worker_index(), here()) }).await.unwrap() });
    assert_eq!(metrics.worker_thread_id(worker.unwrap()), Some(thread));

    let runtime = Builder::new_current_thread().build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!(metrics.worker_thread_id(0), None);
    thread::scope(|scope| {
        let other = scope.spawn(|| runtime.block_on(async { here() })).join().unwrap();
        assert_eq!(metrics.worker_thread_id(0), Some(other));
    });
    runtime.block_on(async { assert_eq!(metrics.worker_thread_id(0), Some(here())) });
}

#[test]
fn an_idle_runtime_counts_nothing_more() {
    let _watchdog = watchdog();
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().rescue_blocked(false).build().unwrap();
    runtime.block_on(async { rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap() });
    let metrics = runtime.handle().metrics();
    let totals = || {
        let mut totals = metrics.totals();
        // But for that: it goes on.
        totals.parked_nanos = 0;
        totals
    };
    let mut before = totals();
    eventually(|| {
        // Until all lie down, and two looks 50 ms apart are the same.
        std::thread::sleep(Duration::from_millis(50));
        let now = totals();
        std::mem::replace(&mut before, now) == now
    });
    // A scheduler in which a worker is always searching, or parks over and over, does not get here.
    assert_eq!(metrics.totals().spawns, 1);
}

#[test]
fn each_poll_of_a_spare_worker_counts_as_some_workers() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        let metrics = runtime.metrics();
        let gate = Gate::new();
        let blocked: Vec<_> = (0..workers)
            .map(|_| {
                let gate = gate.clone();
                runtime.spawn(async move { gate.pass() })
            })
            .collect();
        gate.wait_for(workers);
        // By a spare worker, which goes to sleep time and again: all others are blocked.
        let yields = runtime.spawn(async {
            for _ in 0..10 {
                rt::time::sleep(Duration::from_millis(1)).await;
                rt::task::yield_now().await;
                assert_eq!(rt::runtime::worker_index(), None);
            }
        });
        runtime.block_on(yields).unwrap();
        // Its timers are called, and nothing is polled.
        runtime.block_on(async {
            for _ in 0..20 {
                rt::time::sleep(Duration::from_millis(1)).await;
            }
        });
        gate.open();
        runtime.block_on(async {
            for task in blocked {
                task.await.unwrap();
            }
        });
        drop(runtime);
        let workers = 0..workers;
        let sum = |count: &dyn Fn(usize) -> u64| workers.clone().map(count).sum::<u64>();
        let totals = metrics.totals();
        assert_eq!(sum(&|worker| metrics.worker_poll_count(worker)), totals.polls);
        let queued = sum(&|worker| metrics.worker_local_schedule_count(worker)) + metrics.remote_schedule_count();
        assert_eq!(queued, totals.polls, "each poll follows a schedule");
        let noops = sum(&|worker| metrics.worker_noop_count(worker));
        let parks = sum(&|worker| metrics.worker_park_count(worker));
        assert!(0 < noops && noops <= parks, "{noops} of {parks} sleeps were for nothing");
    }
}

#[test]
fn each_poll_follows_a_schedule() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    rt::spawn(async {
                        for _ in 0..1000 {
                            rt::task::yield_now().await;
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let totals = runtime.metrics().totals();
        assert_eq!(totals.local_schedules + totals.injector_schedules, totals.polls);
    });
}
