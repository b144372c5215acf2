//! What is counted and reported of blocked workers.

use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use rt::runtime::{Activity, BlockedTask, Runtime, worker_index};
use rt::task::{Id, JoinHandle};
use rt_test_util::*;

use crate::builder;

/// Blocks its worker at the gate. A spare worker holds up nothing: there it ends at once.
async fn block(gate: Gate) {
    if worker_index().is_some() {
        gate.pass();
    }
}

/// Has such a task, spawned by `spawn`, block the only worker until the runtime has counted that, and a task behind it
/// has run. Returns its number.
fn block_once(runtime: &Runtime, spawn: impl Fn(Gate) -> JoinHandle<()>) -> Id {
    let metrics = runtime.handle().metrics();
    loop {
        let before = metrics.blocked_count();
        let gate = Gate::new();
        let block = spawn(gate.clone());
        let id = block.id();
        eventually(|| gate.arrived() == 1 || block.is_finished());
        // There is a spare worker already if the worker was held up by the system, as by a task. Then once more.
        let holds_up = gate.arrived() == 1 && metrics.num_spare_threads() == 0;
        if holds_up {
            let behind = runtime.spawn(async {});
            runtime.block_on(behind).unwrap();
            eventually(|| metrics.blocked_count() > before);
        }
        gate.open();
        runtime.block_on(block).unwrap();
        // With a spare worker at hand the next one would hold up nothing.
        eventually(|| metrics.num_spare_threads() == 0);
        if holds_up {
            return id;
        }
    }
}

/// The one report there is.
fn only(reports: &crate::Reports) -> BlockedTask {
    let mut all = Vec::new();
    eventually(|| {
        all.extend(reports.taken());
        !all.is_empty()
    });
    assert_eq!(all.len(), 1, "{all:?}");
    all.pop().unwrap()
}

#[test]
fn a_blocked_task_is_reported_by_name_number_and_place() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(1);
    let runtime = builder.build().unwrap();
    let line = Cell::new(0);
    let id = block_once(&runtime, |gate| {
        let _guard = runtime.enter();
        let builder = rt::task::Builder::new().name("sleeper");
        let (block, spawned_at) = (builder.spawn(block(gate)).unwrap(), Location::caller().line());
        line.set(spawned_at);
        block
    });
    let report = only(&reports);
    assert_eq!(report.id, Some(id));
    assert_eq!(report.name, Some("sleeper"));
    let at = report.spawned_at.unwrap();
    assert!(at.file().ends_with("reports.rs") && at.line() == line.get(), "{at}");
    assert!(report.duration >= Duration::from_millis(10));
    assert!(report.is_over);
    assert!(report.tasks_waiting > 0 || report.drivers_waited);
    if cfg!(target_os = "linux") {
        assert_eq!(report.activity, Activity::Sleeping);
    }
}

#[test]
fn a_place_is_reported_once_and_every_event_counted() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(1);
    let runtime = builder.build().unwrap();
    let here = |gate| runtime.spawn(block(gate));
    block_once(&runtime, here);
    let first = only(&reports);
    for _ in 0..3 {
        block_once(&runtime, here);
    }
    assert!(runtime.handle().metrics().blocked_count() >= 4);
    let elsewhere = |gate| runtime.spawn(block(gate));
    block_once(&runtime, elsewhere);
    let second = only(&reports);
    assert_ne!(first.spawned_at.unwrap().line(), second.spawned_at.unwrap().line());
    drop(runtime);
    assert!(reports.taken().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_task_that_computes_is_told_from_one_that_sleeps() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(1);
    let runtime = builder.build().unwrap();
    let end = Arc::new(AtomicBool::new(false));
    let burning = {
        let end = end.clone();
        runtime.spawn(async move {
            while !end.load(SeqCst) {
                std::hint::spin_loop();
            }
        })
    };
    let behind = runtime.spawn(async {});
    runtime.block_on(behind).unwrap();
    eventually(|| runtime.handle().metrics().blocked_count() > 0);
    end.store(true, SeqCst);
    runtime.block_on(burning).unwrap();
    assert_eq!(only(&reports).activity, Activity::Burning);
}

#[test]
fn what_never_ends_is_reported_all_the_same() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(1);
    let runtime = builder.build().unwrap();
    let gate = Gate::new();
    let block = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.pass() })
    };
    runtime.block_on(runtime.spawn(async {})).unwrap();
    let report = only(&reports);
    assert!(!report.is_over);
    assert!(report.duration >= Duration::from_secs(1));
    gate.open();
    runtime.block_on(block).unwrap();
    drop(runtime);
    assert!(reports.taken().is_empty(), "not again at its end");
}

#[test]
fn a_hook_that_panics_hurts_nobody() {
    let _watchdog = watchdog();
    let called = Arc::new(AtomicBool::new(false));
    let runtime = {
        let called = called.clone();
        let hook = move |_: &BlockedTask| {
            called.store(true, SeqCst);
            panic!("of the hook");
        };
        builder(1).0.on_blocked(hook).build().unwrap()
    };
    for _ in 0..2 {
        block_once(&runtime, |gate| runtime.spawn(block(gate)));
    }
    eventually(|| called.load(SeqCst));
}

#[test]
fn a_task_that_blocks_nobody_is_not_reported() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(2);
    let runtime = builder.build().unwrap();
    // It has a worker of its own, and nothing waits for that one: the other attends the drivers.
    runtime.block_on(runtime.spawn(async { std::thread::sleep(Duration::from_millis(100)) })).unwrap();
    assert_eq!(runtime.handle().metrics().blocked_count(), 0);
    drop(runtime);
    assert!(reports.taken().is_empty());
}

#[test]
fn a_runtime_without_sockets_and_timers_has_none_that_wait() {
    let _watchdog = watchdog();
    let reports = crate::Reports::default();
    let list = reports.clone();
    let runtime = rt::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .on_blocked(move |blocked| list.0.lock().push(blocked.clone()))
        .build()
        .unwrap();
    runtime.block_on(runtime.spawn(async { std::thread::sleep(Duration::from_millis(100)) })).unwrap();
    assert_eq!(runtime.handle().metrics().blocked_count(), 0);
    drop(runtime);
    assert!(reports.taken().is_empty());
}

#[test]
fn a_worker_that_serves_futures_in_block_on_is_not_blocked() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(1);
    let runtime = builder.build().unwrap();
    // A timer after the other wakes the main future, which is no task: the worker polls nothing.
    runtime.block_on(async {
        for _ in 0..300 {
            rt::time::sleep(Duration::from_micros(100)).await;
        }
    });
    assert_eq!(runtime.handle().metrics().blocked_count(), 0);
    drop(runtime);
    assert!(reports.taken().is_empty());
}
