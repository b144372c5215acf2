//! A stderr that does not take what is written to it: it is a full pipe that is never read, or its lock is held by the
//! task that is to be reported. A thread that writes there stands still; the runtime must not.
//!
//! Mutations that these tests are for: a report that is written by the monitor, or by the thread that submits a
//! blocking job; an end of a runtime that waits for a report.

use std::io;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use rt::task::JoinHandle;
use rt_test_util::*;

use super::no_threads::{Narrow, STACK};

/// Runs a test in a process of its own whose stderr is full.
fn with_full_stderr<F: FnOnce()>(test: F) {
    let (full, _never_read) = full_stream();
    in_own_process_with(
        |command| {
            command.stderr(Stdio::from(full));
        },
        test,
    );
}

fn one_worker() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A task that blocks its worker until the gate is open.
#[track_caller]
fn blocked(runtime: &Runtime, gate: &Gate) -> JoinHandle<()> {
    let gate = gate.clone();
    runtime.spawn(async move { gate.pass() })
}

/// Has more and more tasks block at once, each on a thread of its own. The first is counted in the first round, and
/// reported at its end.
fn help_comes_again_and_again(runtime: &Runtime) {
    for tasks in [4, 8, 16] {
        let gate = Gate::new();
        let tasks: Vec<_> = (0..tasks).map(|_| blocked(runtime, &gate)).collect();
        gate.wait_for(tasks.len());
        eventually(|| runtime.metrics().blocked_count() > 0);
        gate.open();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}

#[test]
fn a_full_stderr_stops_neither_rescues_nor_the_shutdown() {
    with_full_stderr(|| {
        let ends: [fn(Runtime); 3] =
            [drop, |runtime| runtime.shutdown_timeout(Duration::MAX), Runtime::shutdown_background];
        for end in ends {
            let runtime = one_worker();
            help_comes_again_and_again(&runtime);
            end(runtime);
        }
    });
}

/// The report is due while the poll lasts.
#[test]
fn a_stderr_that_the_blocked_task_has_locked_does_not_stop_its_rescue() {
    in_own_process(|| {
        let runtime = one_worker();
        let (gate, locked) = (Gate::new(), Gate::new());
        let task = {
            let (gate, locked) = (gate.clone(), locked.clone());
            runtime.spawn(async move {
                let _stderr = io::stderr().lock();
                locked.open();
                gate.pass();
            })
        };
        locked.pass();
        let behind = runtime.handle().clone();
        let opening = runtime.spawn(async move {
            // On a spare worker, for so long that the first must have been reported.
            std::thread::sleep(Duration::from_millis(1500));
            let (done, is_done) = mpsc::channel();
            // This needs another spare.
            behind.spawn(async move { done.send(()).unwrap() });
            is_done.recv().unwrap();
        });
        runtime.block_on(opening).unwrap();
        gate.open();
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn a_stderr_locked_by_the_thread_that_drops_the_runtime_does_not_stop_the_drop() {
    in_own_process(|| {
        let runtime = one_worker();
        let gate = Gate::new();
        let task = blocked(&runtime, &gate);
        runtime.block_on(runtime.spawn(async {})).unwrap();
        eventually(|| runtime.metrics().blocked_count() > 0);
        let _stderr = io::stderr().lock();
        gate.open();
        runtime.block_on(task).unwrap();
        drop(runtime);
    });
}

#[test]
fn a_full_stderr_does_not_stop_the_cancelling_of_jobs_without_a_thread() {
    with_full_stderr(|| {
        for builder in [&mut Builder::new_current_thread(), Builder::new_multi_thread().worker_threads(1)] {
            let runtime = builder.thread_stack_size(STACK).enable_all().build().unwrap();
            runtime.block_on(async {
                let narrow = Narrow::with_room_for_threads(0);
                for _ in 0..3 {
                    assert!(rt::spawn_blocking(|| ()).await.unwrap_err().is_cancelled());
                }
                drop(narrow);
                rt::spawn_blocking(|| ()).await.unwrap();
            });
        }
    });
}
