//! I10: two runtimes in one process share nothing but what the process has one of.
//!
//! Mutations that these tests are for: ids that each runtime counts for itself, a global clock, a wake or a spawn that
//! takes the runtime of the current thread for the task's own.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{Builder, Handle, Runtime};
use rt_test_util::*;

#[test]
fn i10_tasks_of_two_runtimes_have_different_ids() {
    let _watchdog = watchdog();
    let ids = |runtime: &Runtime| -> Vec<String> {
        runtime.block_on(async { (0..1000).map(|_| rt::spawn(async {}).id().to_string()).collect() })
    };
    let (one, two) = (current(), current());
    let mut all: HashSet<String> = HashSet::new();
    scope(|scope| {
        let first = scope.spawn(|| ids(&one));
        all.extend(ids(&two));
        all.extend(first.join().unwrap());
    });
    assert_eq!(all.len(), 2000);
}

#[test]
fn i10_threads_and_their_numbers_belong_to_one_runtime() {
    let _watchdog = watchdog();
    let names_of = |runtime: &Runtime| {
        let (names, gate) = (Arc::new(Mutex::new(Vec::new())), Gate::new());
        for _ in 0..2 {
            let (names, gate) = (names.clone(), gate.clone());
            runtime.spawn(async move {
                names.lock().push(thread::current().name().unwrap().to_owned());
                gate.pass();
            });
        }
        gate.wait_for(2);
        gate.open();
        let mut names = names.lock().clone();
        names.sort();
        names
    };
    let runtimes = [multi(2), multi(2)];
    for runtime in &runtimes {
        assert_eq!(names_of(runtime), ["rt-worker-0", "rt-worker-1"]);
        let name = runtime.spawn_blocking(|| thread::current().name().unwrap().to_owned());
        assert_eq!(runtime.block_on(name).unwrap(), "rt-blocking-1");
    }
}

#[test]
fn i10_counters_of_one_runtime_do_not_see_the_other() {
    let _watchdog = watchdog();
    let (busy, still) = (multi(2), multi(2));
    let before = still.handle().metrics().totals();
    busy.block_on(async {
        for _ in 0..100 {
            rt::spawn(rt::time::sleep(Duration::ZERO)).await.unwrap();
        }
        rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap();
        rt::spawn_blocking(|| ()).await.unwrap();
    });
    let (metrics, after) = (still.handle().metrics(), still.handle().metrics().totals());
    assert_eq!((after.spawns, after.polls, after.completions), (before.spawns, before.polls, before.completions));
    assert_eq!((metrics.drivers().timers_set, metrics.num_blocking_threads()), (0, 0));
    assert_eq!(busy.handle().metrics().totals().spawns, 101);
}

#[test]
fn i10_a_clock_paused_in_one_runtime_runs_in_the_other() {
    let _watchdog = watchdog();
    let paused = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let running = current();
    let frozen = paused.block_on(async { rt::time::Instant::now() });
    running.block_on(async {
        let before = rt::time::Instant::now();
        rt::time::sleep(Duration::from_millis(2)).await;
        assert!(rt::time::Instant::now() - before >= Duration::from_millis(2));
    });
    assert_eq!(paused.block_on(async { rt::time::Instant::now() }), frozen);
    paused.block_on(async { rt::time::sleep(Duration::from_secs(3600)).await });
    assert!(running.block_on(async { rt::time::Instant::now() }) < frozen + Duration::from_secs(1800));
}

#[test]
fn i10_a_task_wakes_a_task_of_another_runtime_on_that_runtime() {
    let _watchdog = watchdog();
    for (one, two) in [(multi(1), multi(1)), (current(), multi(2)), (multi(2), current()), (current(), current())] {
        let (to_two, to_one) = (Channel::<u32>::new(), Channel::<u32>::new());
        let (receive, send) = (to_two.clone(), to_one.clone());
        let home = |runtime: &Runtime| runtime.handle().metrics();
        let (metrics_one, metrics_two) = (home(&one), home(&two));
        let echo = two.spawn(async move {
            for _ in 0..300 {
                send.send(receive.receive().await + 1);
            }
        });
        let ask = one.spawn(async move {
            for n in 0..300 {
                to_two.send(n);
                assert_eq!(to_one.receive().await, n + 1);
            }
        });
        scope(|scope| {
            scope.spawn(|| one.block_on(ask).unwrap());
            scope.spawn(|| two.block_on(echo).unwrap());
        });
        assert_eq!((metrics_one.totals().spawns, metrics_two.totals().spawns), (1, 1));
        assert_eq!((metrics_one.totals().completions, metrics_two.totals().completions), (1, 1));
        // Each wake came from the other runtime's thread, and went to the injector of the task's own.
        assert!(metrics_one.totals().injector_schedules >= 1 && metrics_two.totals().injector_schedules >= 1);
    }
}

#[test]
fn i10_a_runtime_entered_inside_another_is_current_until_the_guard_goes() {
    let _watchdog = watchdog();
    let (outer, inner) = (multi(1), multi(1));
    let handle = inner.handle().clone();
    outer.block_on(async {
        rt::spawn(async {}).await.unwrap();
        {
            let _guard = handle.enter();
            // Spawned there, from a worker or `block_on` thread of another runtime.
            let task = rt::spawn(async { Handle::current().metrics().totals().spawns });
            assert_eq!(task.await.unwrap(), 1);
        }
        rt::spawn(async {}).await.unwrap();
    });
    assert_eq!(outer.handle().metrics().totals().spawns, 2);
    assert_eq!(inner.handle().metrics().totals().spawns, 1);
}

#[test]
fn i10_the_end_of_one_runtime_is_not_the_end_of_the_other() {
    let _watchdog = watchdog();
    let (one, two) = (multi(2), multi(2));
    let lasting = two.spawn(async {
        for _ in 0..5 {
            rt::time::sleep(Duration::from_millis(1)).await;
        }
    });
    one.spawn(std::future::pending::<()>());
    drop(one);
    two.block_on(lasting).unwrap();
    two.block_on(async { rt::spawn_blocking(|| ()).await.unwrap() });
}
