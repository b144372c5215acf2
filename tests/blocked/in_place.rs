//! `block_in_place`.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rt::runtime::Runtime;
use rt::task::{JoinHandle, block_in_place};
use rt_test_util::*;

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

/// A task that steps aside until it is told, and polls on after that.
fn step_aside(runtime: &Runtime, aside: Gate, drops: &Drops, wait: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let token = drops.token();
    runtime.spawn(async move {
        let _token = token;
        block_in_place(|| {
            aside.open();
            wait();
        });
        // The rest of the poll, without a core: what it spawns is refused, and what it wakes is over.
        let _refused = rt::spawn(async {});
        // Not even a timer of a runtime that is no more fails here: the task is just dropped.
        rt::time::sleep(Duration::from_secs(3600)).await;
        unreachable!("the task was cancelled");
    })
}

#[test]
fn shutdown_does_not_wait_for_a_task_that_waits_for_it() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        for _ in 0..20 {
            let (runtime, drops) = (runtime(workers), Drops::new());
            let (aside, (sender, receiver)) = (Gate::new(), mpsc::channel::<()>());
            let holder = runtime.spawn(async move {
                let _sender = sender;
                std::future::pending::<()>().await;
            });
            // It waits for what holds the sender: that is dropped by shutdown only.
            let waiting = step_aside(&runtime, aside.clone(), &drops, move || assert!(receiver.recv().is_err()));
            aside.pass();
            drop(runtime);
            drops.assert_all();
            assert!(current().block_on(waiting).unwrap_err().is_cancelled());
            assert!(current().block_on(holder).unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn shutdown_ends_a_future_that_is_waited_for_within() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let (runtime, drops, aside) = (runtime(2), Drops::new(), Gate::new());
        let handle = runtime.handle().clone();
        let waiting = step_aside(&runtime, aside.clone(), &drops, move || {
            let never = handle.spawn(std::future::pending::<()>());
            assert!(handle.block_on(never).unwrap_err().is_cancelled());
        });
        aside.pass();
        drop(runtime);
        drops.assert_all();
        assert!(current().block_on(waiting).unwrap_err().is_cancelled());
    }
}

#[test]
fn shutdown_waits_for_workers_that_are_aside_until_its_timeout() {
    let _watchdog = watchdog();
    let (runtime, drops, aside, gate) = (runtime(1), Drops::new(), Gate::new(), Gate::new());
    let inside = gate.clone();
    let task = step_aside(&runtime, aside.clone(), &drops, move || inside.pass());
    aside.pass();
    let metrics = runtime.handle().metrics();
    // It is told to go on when the scheduler has come to its end, and not before.
    let (other, other_drops, told, end) = (crate::runtime(1), Drops::new(), Gate::new(), Signal::new());
    let inside = told.clone();
    let patient = step_aside(&other, Gate::new(), &other_drops, move || inside.pass());
    told.wait_for(1);
    let cancelled = other.spawn(async move { end.wait().await });
    let telling = std::thread::spawn(move || {
        assert!(current().block_on(cancelled).unwrap_err().is_cancelled());
        std::thread::yield_now();
        told.open();
    });
    other.shutdown_timeout(Duration::from_secs(3600));
    other_drops.assert_all();
    assert!(patient.is_finished());
    telling.join().unwrap();

    runtime.shutdown_timeout(Duration::from_millis(20));
    assert_eq!(drops.count(), 0, "it is still there");
    assert!(!task.is_finished());
    gate.open();
    eventually(|| task.is_finished());
    drops.assert_all();
    assert_eq!(metrics.num_alive_tasks(), 0);
}

#[test]
fn a_runtime_may_be_dropped_within() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let (runtime, drops) = (runtime(workers), Drops::new());
        for _ in 0..3 {
            let token = drops.token();
            runtime.spawn(async move {
                let _token = token;
                std::future::pending::<()>().await;
            });
        }
        let (handle, over) = (runtime.handle().clone(), Gate::new());
        let end = over.clone();
        let token = drops.token();
        handle.spawn(async move {
            block_in_place(|| drop(runtime));
            drop(token);
            end.open();
        });
        over.pass();
        eventually(|| drops.count() == 4);
    }
}

#[test]
fn stepping_aside_while_the_runtime_closes_does_not_stop_its_end() {
    let _watchdog = watchdog();
    for _ in 0..50 {
        let (runtime, drops) = (runtime(2), Drops::new());
        let begun = Gate::new();
        for _ in 0..2 {
            let (token, begun) = (drops.token(), begun.clone());
            runtime.spawn(async move {
                let _token = token;
                begun.open();
                loop {
                    block_in_place(std::thread::yield_now);
                    rt::task::yield_now().await;
                }
            });
        }
        begun.pass();
        drop(runtime);
        drops.assert_all();
    }
}

#[test]
fn a_runtime_may_be_dropped_within_its_own_block_on() {
    let _watchdog = watchdog();
    let (runtime, drops) = (runtime(2), Drops::new());
    let token = drops.token();
    runtime.spawn(async move {
        let _token = token;
        std::future::pending::<()>().await;
    });
    let handle = runtime.handle().clone();
    let after = handle.block_on(async {
        block_in_place(|| drop(runtime));
        drops.assert_all();
        rt::task::yield_now().await;
        rt::spawn(async {}).await
    });
    assert!(after.unwrap_err().is_cancelled());
}

#[test]
fn what_is_waited_for_in_place_after_the_end_fails() {
    let _watchdog = watchdog();
    let (runtime, drops, aside) = (runtime(1), Drops::new(), Gate::new());
    let (token, begun) = (drops.token(), aside.clone());
    let handle = runtime.handle().clone();
    let task = runtime.spawn(async move {
        let _token = token;
        let wait = || handle.block_on(rt::time::sleep(Duration::from_secs(3600)));
        for round in 0..2 {
            let caught = catch(|| {
                block_in_place(|| {
                    begun.open();
                    wait();
                })
            });
            assert!(caught.message.contains("shut down"), "round {round}: {}", caught.message);
        }
    });
    aside.pass();
    drop(runtime);
    drops.assert_all();
    // Not cancelled: it has come to its end in that very poll.
    current().block_on(task).unwrap();
}
