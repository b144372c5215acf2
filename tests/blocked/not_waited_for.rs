//! Hooks and namers that block: for a lock that a blocked task holds, or for ever. They stop neither spare workers nor
//! the end of the runtime.
//!
//! Mutations that these tests are for: a namer that is called by the monitor, by a worker that steps aside, or by the
//! thread that submits a blocking job; a hook that is called by the monitor, or that the end of the runtime waits for;
//! a thread that counts as starting while it is in its start hook.

use std::collections::HashSet;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;

use parking_lot::Mutex;
use rt::runtime::{BlockedTask, Builder, Runtime};
use rt::task::JoinHandle;
use rt_test_util::*;

use crate::builder;

/// More threads than there are names made in advance.
const THREADS: usize = 40;

fn own_name() -> String {
    thread::current().name().unwrap().to_owned()
}

/// Has a thread wait at the gate, and tell its name.
type Occupy = fn(&Runtime, &Gate, mpsc::Sender<String>) -> JoinHandle<()>;

const WAYS: [(&str, Occupy); 3] = [
    ("rt-spare-", |runtime, gate, names| {
        let gate = gate.clone();
        runtime.spawn(async move {
            names.send(own_name()).unwrap();
            gate.pass();
        })
    }),
    ("rt-spare-", |runtime, gate, names| {
        let gate = gate.clone();
        runtime.spawn(async move {
            names.send(own_name()).unwrap();
            rt::task::block_in_place(|| gate.pass());
        })
    }),
    ("rt-blocking-", |runtime, gate, names| {
        let gate = gate.clone();
        runtime.spawn_blocking(move || {
            names.send(own_name()).unwrap();
            gate.pass();
        })
    }),
];

/// A runtime whose namer waits for a lock, and numbers the names.
fn with_namer() -> (Runtime, Arc<Mutex<usize>>) {
    let lock = Arc::new(Mutex::new(0));
    let for_names = lock.clone();
    let namer = move || {
        let mut count = for_names.lock();
        *count += 1;
        format!("own-{count}")
    };
    (builder(1).0.thread_name_fn(namer).build().unwrap(), lock)
}

#[test]
fn threads_are_started_while_the_namer_waits_for_a_lock_that_a_blocked_task_holds() {
    let _watchdog = watchdog();
    for (prefix, occupy) in WAYS {
        let (runtime, lock) = with_namer();
        let (gate, (send_name, names)) = (Gate::new(), mpsc::channel());
        let holder = {
            let (gate, name) = (gate.clone(), send_name.clone());
            runtime.spawn(async move {
                let _lock = lock.lock();
                name.send(own_name()).unwrap();
                gate.pass();
            })
        };
        gate.wait_for(1);
        let tasks: Vec<_> = (1..THREADS).map(|_| occupy(&runtime, &gate, send_name.clone())).collect();
        gate.wait_for(THREADS);
        let names: Vec<_> = names.iter().take(THREADS).collect();
        let (own, of_the_runtime): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.starts_with("own-"));
        // A thread that steps back from `block_in_place` or goes on after it may have been another's, but here nobody
        // does.
        assert!(own.len() > 1 && own.len() < THREADS, "{names:?}");
        assert!(of_the_runtime.iter().all(|name| name.starts_with(prefix)), "{names:?}");
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), THREADS, "{names:?}");
        gate.open();
        runtime.block_on(async {
            holder.await.unwrap();
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}

#[test]
fn a_namer_that_never_returns_does_not_stop_the_shutdown() {
    let _watchdog = watchdog();
    for (_, occupy) in WAYS {
        let (runtime, lock) = with_namer();
        let _never_released = lock.lock();
        let (gate, (send_name, _names)) = (Gate::new(), mpsc::channel());
        let tasks: Vec<_> = (0..THREADS).map(|_| occupy(&runtime, &gate, send_name.clone())).collect();
        gate.wait_for(THREADS);
        gate.open();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        drop(runtime);
    }
}

#[test]
fn threads_have_the_names_of_the_namer_again_once_it_has_returned() {
    let _watchdog = watchdog();
    let (runtime, lock) = with_namer();
    let blocking = |runtime: &Runtime| {
        let name = runtime.spawn_blocking(own_name);
        runtime.block_on(name).unwrap()
    };
    // The threads end at once, so each job has another.
    let shut = lock.lock();
    while blocking(&runtime).starts_with("own-") {}
    drop(shut);
    while !blocking(&runtime).starts_with("own-") {}
}

#[test]
fn a_report_hook_that_never_returns_stops_neither_rescues_nor_the_shutdown() {
    let _watchdog = watchdog();
    let (never, (called, calls)) = (Gate::new(), mpsc::channel());
    let hook = {
        let never = never.clone();
        move |blocked: &BlockedTask| {
            called.send(blocked.clone()).unwrap();
            never.pass();
        }
    };
    let runtime = builder(1).0.on_blocked(hook).build().unwrap();
    let rounds = [1, 10, 20].map(|tasks| {
        let gate = Gate::new();
        let tasks: Vec<_> = (0..tasks)
            .map(|_| {
                let gate = gate.clone();
                runtime.spawn(async move { gate.pass() })
            })
            .collect();
        gate.wait_for(tasks.len());
        runtime.block_on(runtime.spawn(async {})).unwrap();
        // In the first round the task is reported, as it blocks for too long, and the hook is at it in the others.
        never.wait_for(1);
        (gate, tasks)
    });
    let other_place = {
        let gate = rounds[0].0.clone();
        runtime.spawn(async move { gate.pass() })
    };
    rounds[0].0.wait_for(2);
    runtime.block_on(runtime.spawn(async {})).unwrap();
    eventually(|| runtime.metrics().blocked_count() > 2);
    for (gate, tasks) in rounds {
        gate.open();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
    runtime.block_on(other_place).unwrap();
    assert_eq!(runtime.metrics().dropped_reports(), 0);
    drop(runtime);
    let first = calls.recv().unwrap();
    assert!(!first.is_over);
    assert!(calls.try_recv().is_err(), "one after the other");
    never.open();
    // Those that were queued come out after the end, and then the hook is gone.
    assert!(calls.iter().all(|blocked| blocked.spawned_at != first.spawned_at));
}

#[test]
fn the_runtime_may_be_dropped_by_the_hook() {
    let _watchdog = watchdog();
    let (give, take) = mpsc::channel::<Runtime>();
    let (give_back, dropped) = mpsc::channel();
    let take = Mutex::new(take);
    let hook = move |_: &BlockedTask| {
        drop(take.lock().recv().unwrap());
        give_back.send(()).unwrap();
    };
    let runtime = builder(1).0.on_blocked(hook).build().unwrap();
    let gate = Gate::new();
    let task = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.pass() })
    };
    runtime.block_on(runtime.spawn(async {})).unwrap();
    eventually(|| runtime.metrics().blocked_count() > 0);
    gate.open();
    runtime.block_on(task).unwrap();
    give.send(runtime).unwrap();
    dropped.recv().unwrap();
}

/// A builder whose hook blocks at the gate on the first thread that it is called on after `skip` others.
fn with_start_hook(workers: usize, skip: usize, gate: &Gate) -> Builder {
    let (gate, started) = (gate.clone(), AtomicUsize::new(0));
    let mut builder = builder(workers).0;
    builder.on_thread_start(move || {
        if started.fetch_add(1, SeqCst) == skip {
            gate.pass();
        }
    });
    builder
}

#[test]
fn a_worker_whose_start_hook_blocks_gets_a_spare() {
    let _watchdog = watchdog();
    let gate = Gate::new();
    let runtime = with_start_hook(1, 0, &gate).build().unwrap();
    gate.wait_for(1);
    runtime.block_on(runtime.spawn(async move { gate.open() })).unwrap();
}

#[test]
fn a_start_hook_that_blocks_is_counted_as_what_it_is() {
    let _watchdog = watchdog();
    let gate = Gate::new();
    let (called, calls) = mpsc::channel();
    let runtime =
        with_start_hook(1, 0, &gate).on_blocked(move |blocked| called.send(blocked.clone()).unwrap()).build().unwrap();
    gate.wait_for(1);
    runtime.block_on(runtime.spawn(async {})).unwrap();
    eventually(|| runtime.metrics().blocked_count() > 0);
    gate.open();
    let report = calls.recv().unwrap();
    assert!(report.id.is_none() && report.spawned_at.is_none(), "{report}");
}

#[test]
fn a_blocking_thread_whose_start_hook_blocks_holds_up_one_job() {
    let _watchdog = watchdog();
    let gate = Gate::new();
    // One worker comes before.
    let runtime = with_start_hook(1, 1, &gate).rescue_blocked(false).build().unwrap();
    runtime.block_on(runtime.spawn(async {})).unwrap();
    let first = runtime.spawn_blocking(|| ());
    gate.wait_for(1);
    let others: Vec<_> = (0..10).map(|_| runtime.spawn_blocking(|| ())).collect();
    runtime.block_on(async {
        for job in others {
            job.await.unwrap();
        }
    });
    assert!(!first.is_finished());
    gate.open();
    runtime.block_on(first).unwrap();
}
