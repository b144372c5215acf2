//! I5: every future and every output is dropped exactly once, whatever becomes of the task.
//!
//! A token in the future and one in the output count their drops. Mutations that these tests are for: an output left in
//! a task whose handle is gone; a future kept beside its output; a task that shutdown does not find (in a lane, in the
//! injector, on a foreign list); a join handle that frees what the completing thread frees as well.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::Runtime;
use rt::task::JoinHandle;
use rt_test_util::*;

/// A task with both kinds of token, which ends when the signal is set.
fn spawn_counted(runtime: &Runtime, end: &Signal, futures: &Drops, outputs: &Drops) -> JoinHandle<Token> {
    let (end, future, output) = (end.clone(), futures.token(), outputs.clone());
    runtime.spawn(async move {
        let _future = future;
        end.wait().await;
        output.token()
    })
}

#[test]
fn i5_a_joined_task_has_dropped_its_future_and_gives_its_output_away() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (futures, outputs, end) = (Drops::new(), Drops::new(), Signal::new());
        let task = spawn_counted(&runtime, &end, &futures, &outputs);
        end.set();
        let output = runtime.block_on(task).unwrap();
        assert_eq!((futures.count(), outputs.count()), (1, 0), "the future is gone before the joiner goes on");
        drop(runtime);
        assert_eq!((futures.count(), outputs.count()), (1, 0));
        drop(output);
        outputs.assert_all();
    });
}

#[test]
fn i5_an_output_that_nobody_takes_is_dropped_with_the_handle() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (futures, outputs, end) = (Drops::new(), Drops::new(), Signal::new());
        let tasks: Vec<_> = (0..100).map(|_| spawn_counted(&runtime, &end, &futures, &outputs)).collect();
        end.set();
        runtime.block_on(async {
            while !tasks.iter().all(|task| task.is_finished()) {
                rt::task::yield_now().await;
            }
        });
        assert_eq!((futures.count(), outputs.count()), (100, 0));
        drop(tasks);
        outputs.assert_all();
    });
}

#[test]
fn i5_a_detached_task_drops_its_output_itself() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (futures, outputs, end) = (Drops::new(), Drops::new(), Signal::new());
        // Detached at birth, and detached after its first poll.
        (0..50).for_each(|_| drop(spawn_counted(&runtime, &end, &futures, &outputs)));
        let later: Vec<_> = (0..50).map(|_| spawn_counted(&runtime, &end, &futures, &outputs)).collect();
        runtime.block_on(async {
            while end.waiters() < 100 {
                rt::task::yield_now().await;
            }
        });
        drop(later);
        assert_eq!((futures.count(), outputs.count()), (0, 0));
        end.set();
        runtime.block_on(async {
            while outputs.count() < 100 {
                rt::task::yield_now().await;
            }
        });
        futures.assert_all();
        outputs.assert_all();
    });
}

#[test]
fn i5_a_handle_dropped_while_its_task_completes_leaves_one_drop() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let outputs = Drops::new();
    for round in 0..3000u32 {
        let made = outputs.clone();
        let task = runtime.spawn(async move { made.token() });
        for _ in 0..round % 200 {
            std::hint::spin_loop();
        }
        // Half of them with a waker of theirs in the task.
        if round % 2 == 0 {
            let mut task = std::pin::pin!(task);
            let _ = task.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop()));
        }
    }
    // Shutdown would cancel those that have not run yet, and they would have no output to drop.
    eventually(|| runtime.handle().metrics().num_alive_tasks() == 0);
    drop(runtime);
    assert_eq!(outputs.count(), 3000);
}

#[test]
fn i5_an_aborted_task_drops_its_future_and_never_has_an_output() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (futures, outputs, never) = (Drops::new(), Drops::new(), Signal::new());
        let tasks: Vec<_> = (0..60).map(|_| spawn_counted(&runtime, &never, &futures, &outputs)).collect();
        // Some before they ran, some while they wait.
        tasks.iter().step_by(2).for_each(|task| task.abort());
        runtime.block_on(async {
            while never.waiters() < 30 {
                rt::task::yield_now().await;
            }
            for task in tasks {
                task.abort();
                assert!(task.await.is_err_and(|error| error.is_cancelled()));
            }
        });
        assert_eq!((futures.count(), outputs.count()), (60, 0));
    });
}

/// Leaves tasks in every place where shutdown has to find them.
fn leave_tasks_everywhere(runtime: &Runtime, drops: &Drops) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    let wakers = Arc::new(Mutex::new(Vec::<Waker>::new()));
    let make = |kind: usize| {
        let (token, wakers) = (drops.token(), wakers.clone());
        async move {
            let _token = token;
            match kind {
                0 => pending().await,
                // Woken over and over: in a lane, most of the time.
                1 => loop {
                    rt::task::yield_now().await;
                },
                2 => loop {
                    // Beyond the life of the runtime, if its wheel forgets it.
                    rt::time::sleep(Duration::from_secs(3600)).await;
                },
                3 => {
                    let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                    let _ = listener.accept().await;
                    pending().await
                }
                4 => {
                    let inner: JoinHandle<()> = rt::spawn(pending());
                    let _ = inner.await;
                    pending().await
                }
                _ => {
                    poll_fn(|cx| {
                        wakers.lock().push(cx.waker().clone());
                        Poll::Pending
                    })
                    .await
                }
            }
        }
    };
    // Spawned from outside, from a task, and from the main future.
    tasks.extend((0..30).map(|n| runtime.spawn(make(n % 6))));
    let from_inside: Vec<_> = (0..30).map(|n| make(n % 6)).collect();
    let from_main: Vec<_> = (0..30).map(|n| make(n % 6)).collect();
    runtime.block_on(async {
        tasks.extend(
            rt::spawn(async move { from_inside.into_iter().map(rt::spawn).collect::<Vec<_>>() }).await.unwrap(),
        );
        tasks.extend(from_main.into_iter().map(rt::spawn));
        for _ in 0..200 {
            rt::task::yield_now().await;
        }
    });
    // Woken, with only workers to poll them that are about to stop.
    wakers.lock().drain(..).for_each(Waker::wake);
    tasks.extend((0..30).map(|n| runtime.spawn(make(n % 6))));
    tasks
}

#[test]
fn i5_shutdown_drops_every_future_that_is_left_and_tells_every_joiner() {
    let _watchdog = watchdog();
    for _ in 0..5 {
        on_each_runtime(|runtime| {
            let drops = Drops::new();
            let tasks = leave_tasks_everywhere(&runtime, &drops);
            drop(runtime);
            drops.assert_all();
            for task in tasks {
                let result = current().block_on(task);
                assert!(result.is_err_and(|error| error.is_cancelled()));
            }
        });
    }
}

#[test]
fn i5_shutdown_in_the_background_and_with_a_timeout_drop_every_future_too() {
    let _watchdog = watchdog();
    for background in [true, false] {
        on_each_runtime(|runtime| {
            let drops = Drops::new();
            let tasks = leave_tasks_everywhere(&runtime, &drops);
            if background {
                runtime.shutdown_background();
            } else {
                runtime.shutdown_timeout(Duration::from_secs(1000));
                drops.assert_all();
            }
            eventually(|| tasks.iter().all(|task| task.is_finished()));
            drops.assert_all();
        });
    }
}

#[test]
fn i5_outputs_that_outlive_their_runtime_are_dropped_with_their_handles() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (futures, outputs, end) = (Drops::new(), Drops::new(), Signal::new());
        let tasks: Vec<_> = (0..40).map(|_| spawn_counted(&runtime, &end, &futures, &outputs)).collect();
        end.set();
        runtime.block_on(async {
            while !tasks.iter().all(|task| task.is_finished()) {
                rt::task::yield_now().await;
            }
        });
        drop(runtime);
        assert_eq!((futures.count(), outputs.count()), (40, 0));
        scope(|scope| {
            for task in tasks {
                scope.spawn(move || drop(task));
            }
        });
        outputs.assert_all();
    });
}

#[test]
fn i5_closures_of_the_blocking_pool_and_their_outputs_are_dropped_once() {
    let _watchdog = watchdog();
    let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).build().unwrap();
    let (closures, outputs, gate) = (Drops::new(), Drops::new(), Gate::new());
    let spawn = || {
        let (closure, outputs, gate) = (closures.token(), outputs.clone(), gate.clone());
        runtime.spawn_blocking(move || {
            let _closure = closure;
            gate.pass();
            outputs.token()
        })
    };
    // The first runs; the others queue behind it: one is aborted, one detached, one left to the end.
    let (running, aborted, detached, queued) = (spawn(), spawn(), spawn(), spawn());
    gate.wait_for(1);
    aborted.abort();
    drop(detached);
    gate.open();
    assert!(runtime.block_on(aborted).is_err_and(|error| error.is_cancelled()));
    let output = runtime.block_on(running).unwrap();
    eventually(|| queued.is_finished());
    drop(runtime);
    closures.assert_all();
    // Those of the detached one and of the aborted one: there is none.
    assert_eq!(outputs.count(), 1);
    drop((output, queued));
    assert_eq!(outputs.count(), 3);
}
