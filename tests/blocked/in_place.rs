//! `block_in_place`.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rt::task::block_in_place;

use crate::common::*;
use crate::{builder, runtime};

#[test]
fn it_borrows_returns_and_lets_the_task_go_on() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let sum = runtime.spawn(async {
        let mut numbers = vec![3, 1, 2];
        let id = rt::task::id();
        let sum = block_in_place(|| {
            numbers.sort_unstable();
            assert_eq!(rt::task::id(), id);
            numbers.iter().sum::<i32>()
        });
        assert_eq!(numbers, [1, 2, 3]);
        rt::task::yield_now().await;
        sum
    });
    assert_eq!(runtime.block_on(sum).unwrap(), 6);
}

#[test]
fn other_tasks_timers_and_sockets_go_on() {
    let _watchdog = watchdog();
    // Without the monitor's help.
    for workers in [1, 2] {
        let runtime = builder(workers).0.rescue_blocked(false).build().unwrap();
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                runtime.spawn(async {
                    let (sender, receiver) = mpsc::channel();
                    // On the lanes of the worker that steps aside.
                    let feeder = rt::spawn(async move {
                        rt::time::sleep(Duration::from_millis(1)).await;
                        sender.send(()).unwrap();
                    });
                    block_in_place(|| receiver.recv()).unwrap();
                    feeder.await.unwrap();
                })
            })
            .collect();
        runtime.block_on(async {
            for task in waiting {
                task.await.unwrap();
            }
        });
        let metrics = runtime.handle().metrics();
        eventually(|| metrics.num_spare_threads() == 0);
        assert_eq!(metrics.blocked_count(), 0, "who says so is not blocked");
    }
}

#[test]
fn what_it_spawns_and_wakes_runs_meanwhile() {
    let _watchdog = watchdog();
    let runtime = builder(1).0.rescue_blocked(false).build().unwrap();
    let (signal, woken) = (Signal::new(), Gate::new());
    let waiting = {
        let (signal, woken) = (signal.clone(), woken.clone());
        runtime.spawn(async move {
            signal.wait().await;
            woken.open();
        })
    };
    eventually(|| signal.waiters() == 1);
    let blocking = runtime.spawn(async move {
        block_in_place(|| {
            let (sender, receiver) = mpsc::channel();
            rt::spawn(async move { sender.send(5).unwrap() });
            assert_eq!(receiver.recv(), Ok(5));
            signal.set();
            woken.pass();
        });
    });
    runtime.block_on(async {
        blocking.await.unwrap();
        waiting.await.unwrap();
    });
}

#[test]
fn it_may_block_on_futures() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let outer = runtime.spawn(async {
        block_in_place(|| {
            let handle = rt::runtime::Handle::current();
            handle.block_on(async {
                rt::time::sleep(Duration::from_millis(1)).await;
                let inner = rt::spawn(async { block_in_place(with_another_runtime) });
                inner.await.unwrap()
            })
        })
    });
    assert_eq!(runtime.block_on(outer).unwrap(), 8);
}

/// A runtime within.
fn with_another_runtime() -> i32 {
    let other = current();
    other.block_on(async { rt::spawn(async { 8 }).await.unwrap() })
}

#[test]
fn it_may_be_called_within_itself_and_where_nobody_is_held_up() {
    let _watchdog = watchdog();
    assert_eq!(block_in_place(|| 1), 1, "outside of any runtime");
    let runtime = runtime(1);
    let nested = runtime.spawn(async { block_in_place(|| block_in_place(|| 2)) });
    assert_eq!(runtime.block_on(nested).unwrap(), 2);
    assert_eq!(runtime.block_on(async { block_in_place(|| 3) }), 3);
    let on_the_pool = runtime.spawn_blocking(|| block_in_place(|| 4));
    assert_eq!(runtime.block_on(on_the_pool).unwrap(), 4);
    let blocks_on = runtime.block_on(async {
        block_in_place(|| rt::runtime::Handle::current().block_on(async { rt::spawn(async { 5 }).await.unwrap() }))
    });
    assert_eq!(blocks_on, 5);
}

#[test]
fn a_panic_passes_through_and_the_worker_goes_on() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let metrics = runtime.handle().metrics();
    for _ in 0..10 {
        let panics = runtime.spawn(async { block_in_place(|| panic!("within")) });
        let error = runtime.block_on(panics).unwrap_err();
        assert_eq!(message_of(&*error.into_panic()), "within");
    }
    runtime.block_on(runtime.spawn(async {})).unwrap();
    eventually(|| metrics.num_spare_threads() == 0);
}

#[test]
fn it_is_refused_on_a_current_thread_runtime() {
    let _watchdog = watchdog();
    let runtime = current();
    let caught = catch(|| runtime.block_on(async { block_in_place(|| ()) }));
    assert!(caught.message.contains("current-thread runtime"), "{}", caught.message);
    assert!(caught.file.ends_with("in_place.rs"));
}

#[test]
fn many_at_once_need_no_more_threads_than_they_are() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let metrics = runtime.handle().metrics();
    let (gate, begun) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (gate, begun) = (gate.clone(), begun.clone());
            runtime.spawn(async move {
                block_in_place(|| {
                    begun.fetch_add(1, SeqCst);
                    gate.pass();
                });
            })
        })
        .collect();
    gate.wait_for(50);
    let spares = metrics.num_spare_threads();
    assert!((48..=60).contains(&spares), "{spares}");
    gate.open();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    eventually(|| metrics.num_spare_threads() == 0);
}
