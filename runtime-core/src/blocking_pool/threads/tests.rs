use std::sync::{Barrier, mpsc};
use std::thread;

use super::*;

const LIMITS: Limits = Limits { threads: 2, keep_alive: Duration::from_secs(60), late_after: Duration::MAX };

#[test]
fn a_thread_that_does_not_come_back_from_looking_out_is_not_relied_on() {
    // Should this test fail, the thread ends by itself.
    let threads = PoolThreads::new(Limits { threads: 3, late_after: Duration::ZERO, ..LIMITS });
    let gate = parking_lot::Mutex::new(());
    let (done, jobs) = mpsc::channel();
    thread::scope(|scope| {
        let shut = gate.lock();
        assert_eq!(threads.submit(0), Ok(Some(1)));
        let (threads, gate) = (&threads, &gate);
        scope.spawn(move || {
            let start = |_| _ = threads.thread_failed();
            threads.work(|| (), start, |job| done.send(job).unwrap(), |_, _, _| drop(gate.lock()));
        });
        threads.thread_started();
        assert_eq!(jobs.recv(), Ok(0));
        while threads.counts() != (1, 1, 0) {
            thread::yield_now();
        }
        assert_eq!(threads.submit(1), Ok(Some(2)), "another is to be started");
        assert_eq!(threads.submit(2), Ok(None), "one is pending");
        assert!(threads.thread_failed().is_empty(), "the first is still there");
        drop(shut);
        assert_eq!([jobs.recv(), jobs.recv()], [Ok(1), Ok(2)]);
        assert!(threads.close(|_, _| false).is_empty());
    });
    assert_eq!(threads.counts(), (0, 0, 0));
}

/// Starts a thread of the pool, and those that it starts. Each job waits at the barrier.
fn start_at_barrier<'a>(scope: &'a thread::Scope<'a, '_>, threads: &'a PoolThreads<usize>, barrier: &'a Barrier) {
    scope.spawn(move || {
        let start = |_| start_at_barrier(scope, threads, barrier);
        threads.work(|| (), start, |_| _ = barrier.wait(), |_, _, _| ());
    });
    threads.thread_started();
}

#[test]
fn jobs_that_wait_for_each_other_all_get_a_thread() {
    const JOBS: usize = 50;
    let threads = PoolThreads::new(Limits { threads: JOBS, ..LIMITS });
    // The caller waits, too.
    let barrier = Barrier::new(JOBS + 1);
    thread::scope(|scope| {
        // With none there at first, and with all of them idle.
        for _ in 0..3 {
            for job in 0..JOBS {
                if threads.submit(job) != Ok(None) {
                    start_at_barrier(scope, &threads, &barrier);
                }
            }
            barrier.wait();
            while threads.counts().1 < threads.counts().0 {
                thread::yield_now();
            }
        }
        assert!(threads.close(|_, _| false).is_empty());
    });
}

/// Closes the pool while a thread that has taken a job calls user code first: its hook, or what starts another thread.
fn closed_before_a_job_begins(calls_begin: bool) {
    let threads = PoolThreads::new(LIMITS);
    let gate = parking_lot::Mutex::new(());
    let (come, has_come) = mpsc::channel();
    let (done, jobs) = mpsc::channel();
    let blocks = || {
        come.send(()).unwrap();
        drop(gate.lock());
    };
    let begin = || _ = calls_begin.then(blocks);
    let start = |_| {
        blocks();
        assert!(threads.thread_failed().is_empty(), "this one is there");
    };
    let run = |job| done.send(job).unwrap();
    thread::scope(|scope| {
        let shut = gate.lock();
        assert_eq!(threads.submit(0), Ok(Some(1)));
        if !calls_begin {
            assert_eq!(threads.submit(1), Ok(None), "one is pending");
        }
        let thread = scope.spawn(|| threads.work(begin, start, run, |_, _, _| ()));
        threads.thread_started();
        has_come.recv().unwrap();
        assert!(threads.close(|_, _| false).into_iter().eq((!calls_begin).then_some(1)), "what is queued");
        drop(shut);
        thread.join().unwrap();
        assert_eq!(jobs.recv(), Ok(0), "what was taken");
    });
    assert_eq!(threads.counts(), (0, 0, 0));
}

#[test]
fn a_job_whose_thread_is_in_its_hook_at_the_end_is_done() {
    closed_before_a_job_begins(true);
}

#[test]
fn a_job_whose_thread_starts_another_at_the_end_is_done() {
    closed_before_a_job_begins(false);
}

#[test]
fn at_the_end_a_job_is_told_from_one_that_waits_for_another_to_end() {
    let threads = PoolThreads::new(LIMITS);
    assert_eq!(threads.submit(0), Ok(Some(1)));
    assert_eq!([threads.submit(1), threads.submit(2)], [Ok(None), Ok(None)], "one is pending");
    // One is starting, and there could be another.
    assert!(threads.close(|_, is_free| is_free).into_iter().eq([2]));
    threads.thread_started();
    let (done, jobs) = mpsc::channel();
    let run = |job| done.send(job).unwrap();
    threads.work(|| (), |_| assert!(threads.thread_failed().is_empty()), run, |_, _, _| ());
    assert_eq!(jobs.try_iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(threads.counts(), (0, 0, 0));
}
