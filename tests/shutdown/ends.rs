//! The ways to end a runtime: drop, `shutdown_timeout`, `shutdown_background`.
//!
//! Mutations that these tests are for: a shutdown that waits for what it has not been told to wait for, or does not
//! wait for what it has; a blocking job that is queued and neither run nor cancelled.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use rt::runtime::{Builder, Runtime};

use crate::common::*;

const SHORT: Duration = Duration::from_millis(30);

/// Both flavors, with one blocking thread.
fn with_one_blocking_thread() -> [Runtime; 2] {
    let multi = Builder::new_multi_thread().worker_threads(2).max_blocking_threads(1).enable_all().build().unwrap();
    [multi, Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap()]
}

#[test]
fn drop_waits_for_running_blocking_jobs_and_cancels_queued_ones() {
    let _watchdog = watchdog();
    for runtime in with_one_blocking_thread() {
        let (gate, ended) = (Gate::new(), Arc::new(AtomicBool::new(false)));
        let (held, end) = (gate.clone(), ended.clone());
        let running = runtime.spawn_blocking(move || {
            held.pass();
            end.store(true, SeqCst);
            1
        });
        gate.wait_for(1);
        let queued = runtime.spawn_blocking(|| 2);
        // Let go only when the shutdown has begun: it cancels what is queued, while the first one still runs.
        std::thread::scope(|scope| {
            let dropping = scope.spawn(|| drop(runtime));
            eventually(|| queued.is_finished());
            assert!(!ended.load(SeqCst) && !dropping.is_finished());
            gate.open();
        });
        assert!(ended.load(SeqCst), "the drop has waited");
        let other = current();
        assert_eq!(other.block_on(running).unwrap(), 1);
        assert!(other.block_on(queued).unwrap_err().is_cancelled());
    }
}

#[test]
fn shutdown_timeout_gives_up_on_a_blocking_job_that_does_not_end() {
    let _watchdog = watchdog();
    for runtime in with_one_blocking_thread() {
        let (gate, drops) = (Gate::new(), Drops::new());
        let (held, token) = (gate.clone(), drops.token());
        let job = runtime.spawn_blocking(move || held.pass());
        runtime.spawn(async move {
            let _token = token;
            pending::<()>().await;
        });
        gate.wait_for(1);
        runtime.shutdown_timeout(SHORT);
        assert_eq!(drops.count(), 1, "the tasks have ended all the same");
        assert!(!job.is_finished());
        gate.open();
        eventually(|| job.is_finished());
    }
}

#[test]
fn shutdown_timeout_gives_up_on_a_poll_that_does_not_end() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let (gate, drops) = (Gate::new(), Drops::new());
    let (held, token) = (gate.clone(), drops.token());
    let stuck = runtime.spawn(async move {
        let _token = token;
        held.pass();
        pending::<()>().await;
    });
    gate.wait_for(1);
    runtime.shutdown_timeout(SHORT);
    assert_eq!(drops.count(), 0, "the future is in use");
    // When the poll ends, so does the runtime.
    gate.open();
    eventually(|| stuck.is_finished());
    assert_eq!(drops.count(), 1);
}

#[test]
fn shutdown_timeout_returns_as_soon_as_all_is_over() {
    let _watchdog = watchdog();
    for runtime in with_one_blocking_thread() {
        runtime.spawn(pending::<()>());
        let job = runtime.spawn_blocking(|| ());
        // Longer than the watchdog waits.
        runtime.shutdown_timeout(Duration::from_secs(100_000));
        assert!(job.is_finished());
    }
    current().shutdown_timeout(Duration::MAX);
    multi(1).shutdown_timeout(Duration::MAX);
}

#[test]
fn shutdown_background_waits_for_nothing_and_everything_ends_by_itself() {
    let _watchdog = watchdog();
    for runtime in with_one_blocking_thread() {
        let (gate, drops) = (Gate::new(), Drops::new());
        let (held, token) = (gate.clone(), drops.token());
        let job = runtime.spawn_blocking(move || held.pass());
        let queued = runtime.spawn_blocking(|| ());
        let task = runtime.spawn(async move {
            let _token = token;
            pending::<()>().await;
        });
        gate.wait_for(1);
        runtime.shutdown_background();
        eventually(|| task.is_finished() && queued.is_finished());
        assert_eq!(drops.count(), 1);
        assert!(!job.is_finished());
        gate.open();
        eventually(|| job.is_finished());
    }
}

#[test]
fn shutdown_background_works_inside_of_a_task_of_the_runtime() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = multi(workers);
        let (drops, handle) = (Drops::new(), runtime.handle().clone());
        let token = drops.token();
        let other = handle.spawn(async move {
            let _token = token;
            pending::<()>().await;
        });
        let (send, receive) = std::sync::mpsc::channel();
        let task = handle.spawn(async move {
            runtime.shutdown_background();
            // This poll goes on; the next await is the last.
            send.send(()).unwrap();
            rt::task::yield_now().await;
            pending::<()>().await;
        });
        receive.recv().unwrap();
        eventually(|| task.is_finished() && other.is_finished());
        drops.assert_all();
    }
}

#[test]
fn shutdown_background_works_inside_of_block_on_which_goes_on() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        let handle = runtime.handle().clone();
        let ready = handle.block_on(async move {
            let task = rt::spawn(pending::<()>());
            runtime.shutdown_background();
            assert!(task.await.unwrap_err().is_cancelled());
            assert!(rt::spawn(async {}).await.unwrap_err().is_cancelled());
            assert!(rt::spawn_blocking(|| ()).await.unwrap_err().is_cancelled());
            "went on"
        });
        assert_eq!(ready, "went on");
    }
}

#[test]
fn a_runtime_can_be_dropped_in_another_runtimes_blocking_job() {
    let _watchdog = watchdog();
    let (outer, inner, drops) = (multi(1), multi(1), Drops::new());
    let token = drops.token();
    inner.spawn(async move {
        let _token = token;
        pending::<()>().await;
    });
    outer.block_on(async { rt::spawn_blocking(move || drop(inner)).await.unwrap() });
    drops.assert_all();
}

#[test]
fn a_runtime_can_be_dropped_in_a_blocking_job_of_its_own() {
    let _watchdog = watchdog();
    // "Drop it in `spawn_blocking`", says the panic of a drop in async code; there, it is this very runtime's.
    for runtime in [multi(1), current()] {
        let (drops, handle) = (Drops::new(), runtime.handle().clone());
        let token = drops.token();
        handle.spawn(async move {
            let _token = token;
            pending::<()>().await;
        });
        let job = handle.spawn_blocking(move || drop(runtime));
        eventually(|| job.is_finished());
        drops.assert_all();
    }
}

#[test]
fn a_runtime_that_never_did_anything_ends() {
    let _watchdog = watchdog();
    for _ in 0..50 {
        on_each_runtime(drop);
        drop(Builder::new_multi_thread().worker_threads(3).build().unwrap());
        drop(Builder::new_current_thread().build_local().unwrap());
    }
}
