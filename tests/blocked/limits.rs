//! Spare threads: how many there are, and that they go again.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use rt::runtime::Runtime;
use rt::task::block_in_place;
use rt_test_util::*;

use crate::{builder, runtime};

/// Has `tasks` tasks block at once, and lets them go.
fn block(runtime: &Runtime, tasks: usize) {
    let gate = Gate::new();
    let blocked: Vec<_> = (0..tasks)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        })
        .collect();
    gate.wait_for(tasks);
    gate.open();
    runtime.block_on(async {
        for task in blocked {
            task.await.unwrap();
        }
    });
}

#[test]
fn spare_threads_go_when_they_are_not_needed() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let metrics = runtime.handle().metrics();
    for tasks in [3, 20, 100] {
        block(&runtime, tasks);
        eventually(|| metrics.num_spare_threads() == 0);
    }
}

#[test]
fn spare_threads_go_from_under_a_load_that_never_ends() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let metrics = runtime.handle().metrics();
    let end = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> = (0..100)
        .map(|_| {
            let end = end.clone();
            runtime.spawn(async move {
                while !end.load(SeqCst) {
                    rt::task::yield_now().await;
                }
            })
        })
        .collect();
    block(&runtime, 20);
    eventually(|| metrics.num_spare_threads() == 0);
    end.store(true, SeqCst);
    runtime.block_on(async {
        for task in busy {
            task.await.unwrap();
        }
    });
}

#[test]
fn spare_threads_are_used_again() {
    let _watchdog = watchdog();
    let started = Arc::new(AtomicUsize::new(0));
    let runtime = {
        let started = started.clone();
        builder(1)
            .0
            .thread_keep_alive(Duration::from_secs(3600))
            .on_thread_start(move || {
                let _ = started.fetch_add(1, SeqCst);
            })
            .build()
            .unwrap()
    };
    let metrics = runtime.handle().metrics();
    block(&runtime, 10);
    let before = metrics.num_spare_threads();
    assert!(before >= 9, "ten blocked at once, on one worker and {before} spares");
    for _ in 0..10 {
        block(&runtime, 10);
    }
    // While those of one round retire a few more may be needed for the next.
    let all = started.load(SeqCst);
    assert!(all <= 60, "{all} threads for rounds that need ten each");
    // One that is being started counts before it has said so. Were one to end it would never add up.
    eventually(|| metrics.num_spare_threads() == started.load(SeqCst) - 1);
}

#[test]
fn there_are_no_more_spare_threads_than_allowed() {
    let _watchdog = watchdog();
    let runtime = builder(2).0.max_spare_workers(3).build().unwrap();
    let metrics = runtime.handle().metrics();
    let (gate, begun) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (gate, begun) = (gate.clone(), begun.clone());
            runtime.spawn(async move {
                begun.fetch_add(1, SeqCst);
                gate.pass();
            })
        })
        .collect();
    gate.wait_for(5);
    assert_eq!(metrics.num_spare_threads(), 3);
    assert_eq!(begun.load(SeqCst), 5);
    gate.open();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    eventually(|| metrics.num_spare_threads() == 0);
}

#[test]
fn switched_off_there_are_none_and_nothing_is_said() {
    let _watchdog = watchdog();
    let (mut builder, reports) = builder(1);
    let runtime = builder.rescue_blocked(false).build().unwrap();
    let gate = Gate::new();
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        })
        .collect();
    gate.wait_for(1);
    // Many samples long: what the monitor would do, it would have done by then.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(runtime.handle().metrics().num_spare_threads(), 0);
    gate.open();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(runtime.handle().metrics().blocked_count(), 0);
    assert!(reports.taken().is_empty());
}

#[test]
fn a_runtime_shuts_down_while_spares_are_at_work() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let runtime = runtime(2);
        let (gate, drops) = (Gate::new(), Drops::new());
        for _ in 0..10 {
            let (gate, token) = (gate.clone(), drops.token());
            runtime.spawn(async move {
                let _token = token;
                gate.pass();
                std::future::pending::<()>().await;
            });
        }
        gate.wait_for(10);
        let metrics = runtime.handle().metrics();
        assert!(metrics.num_spare_threads() >= 8);
        let opening = std::thread::spawn(move || gate.open());
        drop(runtime);
        opening.join().unwrap();
        drops.assert_all();
        assert_eq!(metrics.num_spare_threads(), 0);
    }
}

#[test]
fn spares_that_retire_at_the_limit_do_no_harm() {
    let _watchdog = watchdog();
    for limit in [1, 2] {
        let runtime = builder(1).0.max_spare_workers(limit).build().unwrap();
        let metrics = runtime.handle().metrics();
        // They step aside, and come back, while the spares of the time before are about to go.
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                runtime.spawn(async {
                    for _ in 0..2000 {
                        block_in_place(std::thread::yield_now);
                        rt::task::yield_now().await;
                    }
                })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        eventually(|| metrics.num_spare_threads() == 0);
        // And there still are some.
        let (gate, inside) = (Gate::new(), Gate::new());
        let waiting = {
            let (gate, inside) = (gate.clone(), inside.clone());
            runtime.spawn(async move {
                block_in_place(|| {
                    inside.open();
                    gate.pass();
                })
            })
        };
        inside.pass();
        runtime.block_on(runtime.spawn(async move { gate.open() })).unwrap();
        runtime.block_on(waiting).unwrap();
    }
}

#[test]
fn workers_that_are_aside_leave_room_for_the_spares_of_blocked_ones() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (gate, inside) = (Gate::new(), Gate::new());
    let mut tasks: Vec<_> = (0..4)
        .map(|_| {
            let (gate, inside) = (gate.clone(), inside.clone());
            runtime.spawn(async move {
                block_in_place(|| {
                    inside.pass();
                    gate.pass();
                });
            })
        })
        .collect();
    inside.wait_for(4);
    inside.open();
    gate.wait_for(4);
    let without_a_word = gate.clone();
    tasks.push(runtime.spawn(async move { without_a_word.pass() }));
    gate.wait_for(5);
    let opening = runtime.spawn(async move {
        rt::time::sleep(Duration::from_millis(1)).await;
        gate.open();
    });
    runtime.block_on(async {
        opening.await.unwrap();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_spare_whose_start_hook_blocks_gets_a_spare() {
    let _watchdog = watchdog();
    let (gate, started) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let runtime = {
        let (gate, started) = (gate.clone(), started.clone());
        // The worker, the first spare, which is held up, and the second.
        let hook = move || {
            if started.fetch_add(1, SeqCst) == 1 {
                gate.pass();
            }
        };
        builder(1).0.on_thread_start(hook).build().unwrap()
    };
    let blocked = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.pass() })
    };
    gate.wait_for(1);
    runtime.block_on(runtime.spawn(async move { gate.open() })).unwrap();
    runtime.block_on(blocked).unwrap();
}
