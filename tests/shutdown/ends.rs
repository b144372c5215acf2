//! The ways to end a runtime: drop, `shutdown_timeout`, `shutdown_background`.
//!
//! Mutations that these tests are for: a shutdown that waits for what it has not been told to wait for, or does not
//! wait for what it has; a blocking job that is queued and neither run nor cancelled.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

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
        scope(|scope| {
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
fn shutdown_timeout_waits_for_the_last_hooks_of_threads_too() {
    let _watchdog = watchdog();
    for limit in [Duration::from_secs(1000), Duration::MAX] {
        for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
            let (starts, stops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (started, stopped) = (starts.clone(), stops.clone());
            let runtime = builder
                .worker_threads(2)
                .on_thread_start(move || _ = started.fetch_add(1, SeqCst))
                .on_thread_stop(move || {
                    thread::sleep(SHORT);
                    stopped.fetch_add(1, SeqCst);
                })
                .build()
                .unwrap();
            runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
            runtime.shutdown_timeout(limit);
            assert_eq!(stops.load(SeqCst), starts.load(SeqCst));
        }
    }
}

#[test]
fn shutdown_timeout_gives_up_on_a_last_hook_that_does_not_end() {
    let _watchdog = watchdog();
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let gate = Gate::new();
        let held = gate.clone();
        let runtime = builder.worker_threads(2).on_thread_stop(move || held.pass()).build().unwrap();
        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
        let start = Instant::now();
        runtime.shutdown_timeout(SHORT);
        assert!(start.elapsed() >= SHORT);
        gate.open();
    }
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
fn a_blocking_job_can_shut_down_its_runtime_in_the_background_or_with_a_timeout() {
    let _watchdog = watchdog();
    for limit in [None, Some(SHORT), Some(Duration::ZERO)] {
        for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
            let runtime = builder.worker_threads(2).max_blocking_threads(2).enable_all().build().unwrap();
            let (drops, gate, handle) = (Drops::new(), Gate::new(), runtime.handle().clone());
            let (token, held) = (drops.token(), gate.clone());
            handle.spawn(async move {
                let _token = token;
                pending::<()>().await;
            });
            // One that runs beside it, for longer than the limit, and one that waits behind both.
            let running = handle.spawn_blocking(move || held.pass());
            gate.wait_for(1);
            let go = gate.clone();
            let (shut, begin) = (Arc::new(AtomicBool::new(false)), Gate::new());
            let (done, begun) = (shut.clone(), begin.clone());
            let job = handle.spawn_blocking(move || {
                begun.pass();
                match limit {
                    None => runtime.shutdown_background(),
                    Some(limit) => runtime.shutdown_timeout(limit),
                }
                done.store(true, SeqCst);
                go.pass();
            });
            begin.wait_for(1);
            let queued = handle.spawn_blocking(|| ());
            begin.open();
            eventually(|| shut.load(SeqCst) && drops.count() == 1 && queued.is_finished());
            assert!(!running.is_finished() && !job.is_finished());
            gate.open();
            eventually(|| running.is_finished() && job.is_finished());
            assert!(current().block_on(queued).unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn drop_waits_for_the_polls_at_hand_and_no_other_begins() {
    let _watchdog = watchdog();
    for workers in [1, 3] {
        let runtime =
            Builder::new_multi_thread().worker_threads(workers).max_blocking_threads(1).enable_all().build().unwrap();
        let (gate, job_gate, drops) = (Gate::new(), Gate::new(), Drops::new());
        let polls = Arc::new(AtomicUsize::new(0));
        let (held, waker, token) = (gate.clone(), Channel::<Waker>::new(), drops.token());
        let (tell, count) = (waker.clone(), polls.clone());
        let stuck = runtime.spawn(async move {
            let _token = token;
            std::future::poll_fn(|cx| {
                count.fetch_add(1, SeqCst);
                tell.send(cx.waker().clone());
                held.pass();
                Poll::<()>::Pending
            })
            .await;
        });
        gate.wait_for(1);
        // Woken during its poll, and there are others in the queues: none of them is polled any more.
        current().block_on(waker.receive()).wake();
        let job = job_gate.clone();
        runtime.spawn_blocking(move || job.pass());
        job_gate.wait_for(1);
        let sign = runtime.spawn_blocking(|| ());
        scope(|scope| {
            let dropping = scope.spawn(|| drop(runtime));
            // The blocking pool is closed after the scheduler: the shutdown has begun.
            eventually(|| sign.is_finished());
            job_gate.open();
            assert!(!dropping.is_finished() && !stuck.is_finished() && drops.count() == 0, "the future is in use");
            gate.open();
        });
        assert!(stuck.is_finished());
        drops.assert_all();
        assert_eq!(polls.load(SeqCst), 1);
    }
}

#[test]
fn a_runtime_that_never_did_anything_ends() {
    let _watchdog = watchdog();
    for _ in 0..50 {
        on_each_runtime(drop);
        drop(Builder::new_multi_thread().worker_threads(3).build().unwrap());
        drop(Builder::new_current_thread().build_local(Default::default()).unwrap());
    }
}

/// A thread keeps memory from one `block_on` to the next, but nothing of a runtime.
#[test]
fn a_thread_that_has_been_in_block_on_keeps_nothing_of_the_runtime() {
    let _watchdog = watchdog();
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let held = Arc::new(());
        let captured = Arc::clone(&held);
        let runtime = builder.worker_threads(1).on_thread_park(move || drop(Arc::clone(&captured))).build().unwrap();
        drop(builder);
        (0..3).for_each(|_| runtime.block_on(rt::task::yield_now()));
        drop(runtime);
        // The last worker to go may take it along.
        eventually(|| Arc::strong_count(&held) == 1);
    }
}

/// Two threads at most, which begin with a hook that waits. Jobs that wait only for their thread are run.
#[test]
fn blocking_jobs_whose_thread_has_not_come_yet_are_run() {
    let _watchdog = watchdog();
    let gate = Gate::new();
    let held = gate.clone();
    let mut builder = Builder::new_current_thread();
    let runtime = builder.max_blocking_threads(2).on_thread_start(move || held.pass()).build().unwrap();
    let jobs: Vec<_> = (0..3).map(|n| runtime.spawn_blocking(move || n)).collect();
    runtime.shutdown_background();
    gate.open();
    eventually(|| jobs.iter().all(|job| job.is_finished()));
    let outputs: Vec<_> = jobs.into_iter().map(|job| current().block_on(job).ok()).collect();
    assert_eq!(outputs, [Some(0), Some(1), None], "the third waits for one of the others to end");
}
