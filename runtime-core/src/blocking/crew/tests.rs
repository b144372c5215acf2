use std::sync::mpsc;
use std::thread;

use super::*;

const LIMITS: Limits = Limits {
    threads: 2,
    keep_alive: Duration::from_secs(60),
    late_after: Duration::MAX,
    soon: |_| Duration::ZERO,
    watch: Duration::from_millis(1),
};

fn not_closed(_: usize) {
    unreachable!("the crew is closed when all is done");
}

#[test]
fn a_thread_that_does_not_come_back_from_looking_out_is_not_relied_on() {
    // Should this test fail, the thread ends by itself.
    let crew = Crew::new(Limits { threads: 3, late_after: Duration::ZERO, ..LIMITS });
    let gate = parking_lot::Mutex::new(());
    let (done, jobs) = mpsc::channel();
    thread::scope(|scope| {
        let shut = gate.lock();
        assert_eq!(crew.submit(0), Ok(Some(1)));
        let (crew, gate) = (&crew, &gate);
        scope.spawn(move || {
            let start = |_| _ = crew.thread_failed();
            crew.work(|| (), start, |job| done.send(job).unwrap(), not_closed, |_, _| drop(gate.lock()));
        });
        crew.thread_started();
        assert_eq!(jobs.recv(), Ok(0));
        while crew.counts() != (1, 1, 0) {
            thread::yield_now();
        }
        assert_eq!(crew.submit(1), Ok(Some(2)), "another is to be started");
        assert_eq!(crew.submit(2), Ok(None), "one is coming");
        assert!(crew.thread_failed().is_empty(), "the first is still there");
        drop(shut);
        assert_eq!([jobs.recv(), jobs.recv()], [Ok(1), Ok(2)]);
        assert!(crew.close().is_empty());
    });
    assert_eq!(crew.counts(), (0, 0, 0));
}

#[test]
fn the_watch_comes_for_what_waits_for_a_thread_that_looks_out() {
    let crew = Crew::new(Limits { soon: |_| Duration::MAX, watch: Duration::from_millis(10), ..LIMITS });
    // For two jobs, and for the first thread that looks out.
    let gates = [(); 3].map(parking_lot::Mutex::new);
    let (done, jobs) = mpsc::channel();
    let next_done = || jobs.recv_timeout(Duration::from_secs(30)).expect("no job ends");
    let run = |job: usize| {
        gates[..2].get(job).inspect(|gate| drop(gate.lock()));
        done.send(job).unwrap();
    };
    thread::scope(|scope| {
        let [first, second, looks_out] = gates.each_ref().map(|gate| gate.lock());
        for job in [0, 1] {
            assert_eq!(crew.submit(job), Ok(Some(job as u64 + 1)));
            let (crew, run, gates) = (&crew, &run, &gates);
            scope.spawn(move || {
                let start = |_| unreachable!("there may be two");
                crew.work(|| (), start, run, not_closed, |_, _| drop(gates[2].lock()))
            });
            crew.thread_started();
            while crew.counts().2 > 0 {
                thread::yield_now();
            }
        }
        drop(first);
        assert_eq!(next_done(), 0);
        while crew.state.lock().looking_since.is_none() {
            thread::yield_now();
        }
        drop(second);
        assert_eq!(next_done(), 1);
        while crew.counts() != (2, 2, 0) {
            thread::yield_now();
        }
        assert_eq!(crew.submit(2), Ok(None), "one is coming");
        let mut state = crew.state.lock();
        // As if others were at work.
        state.backlog.note_begun(Instant::now());
        // Else it was over before.
        let is_watched = state.is_watched;
        drop(state);
        let _looks_out = is_watched.then_some(looks_out);
        assert_eq!(next_done(), 2);
        let mut state = crew.state.lock();
        let now = Instant::now();
        state.backlog.note_begun(now);
        let seems_short = state.backlog.is_soon_begun(1, LIMITS.watch, || now);
        drop(state);
        assert!(seems_short, "it was not the jobs that were long");
        assert!(crew.close().is_empty());
    });
}

/// Two threads with a job each, until a gate opens. That of `first_to_end` does, and its thread has no work then. `check`
/// sees what becomes of further jobs before the other opens.
fn behind_a_long_job(first_to_end: usize, watch: Duration, check: impl FnOnce(&Crew<usize>, &dyn Fn() -> usize)) {
    let crew = Crew::new(Limits { soon: |_| Duration::MAX, watch, ..LIMITS });
    let gates = [(); 2].map(parking_lot::Mutex::new);
    let (done, jobs) = mpsc::channel();
    let next_done = || jobs.recv_timeout(Duration::from_secs(30)).expect("no job ends");
    let run = |job: usize| {
        gates.get(job).inspect(|gate| drop(gate.lock()));
        done.send(job).unwrap();
    };
    thread::scope(|scope| {
        let mut shut = gates.each_ref().map(|gate| Some(gate.lock()));
        for job in [0, 1] {
            assert_eq!(crew.submit(job), Ok(Some(job as u64 + 1)));
            let (crew, run) = (&crew, run);
            scope.spawn(move || crew.work(|| (), |_| unreachable!("there may be two"), run, not_closed, |_, _| ()));
            crew.thread_started();
            while crew.counts().2 > 0 {
                thread::yield_now();
            }
        }
        shut[first_to_end] = None;
        assert_eq!(next_done(), first_to_end);
        // Not `counts`: while it looks out it is not on the watch yet.
        while crew.state.lock().idle == 0 {
            thread::yield_now();
        }
        check(&crew, &next_done);
        drop(shut);
        while crew.counts().2 > 0 {
            thread::yield_now();
        }
        assert!(crew.close().is_empty());
    });
}

#[test]
fn nobody_is_woken_for_what_will_soon_be_begun() {
    behind_a_long_job(0, Duration::from_secs(60), |crew, _| {
        assert_eq!([2, 3].map(|job| crew.submit(job)), [Ok(None); 2]);
        assert_eq!(crew.counts(), (2, 1, 2));
    });
}

#[test]
fn a_thread_whose_job_does_not_end_is_not_relied_on() {
    behind_a_long_job(1, Duration::from_secs(60), |crew, next_done| {
        assert_eq!(crew.submit(2), Ok(None));
        assert_ne!(crew.counts(), (2, 1, 1), "nobody was summoned");
        assert_eq!(next_done(), 2);
    });
}

#[test]
fn the_watch_comes_if_many_wait_and_are_begun_one_by_one() {
    // So many that it takes half a minute to begin them.
    const MANY: usize = 6000;
    const EACH: Duration = Duration::from_millis(5);
    behind_a_long_job(0, Duration::from_millis(10), |crew, _| {
        (2..MANY).for_each(|job| assert_eq!(crew.submit(job), Ok(None)));
        // As if other threads began some between any two looks, but not nearly all.
        let has_come = (0..MANY).any(|_| {
            crew.state.lock().backlog.note_begun(Instant::now());
            let until = Instant::now() + EACH;
            while crew.state.lock().idle > 0 && Instant::now() < until {
                thread::yield_now();
            }
            crew.state.lock().idle == 0 || crew.counts().2 == 0
        });
        assert!(has_come);
    });
}

#[test]
fn the_watch_comes_for_what_was_not_begun_after_all() {
    behind_a_long_job(0, Duration::from_millis(10), |crew, next_done| {
        assert_eq!([2, 3].map(|job| crew.submit(job)), [Ok(None); 2]);
        // Else the watch was over before they were submitted, and the thread was summoned.
        let is_left_to_the_watch = crew.counts() == (2, 1, 2);
        assert_eq!([next_done(), next_done()], [2, 3]);
        let mut state = crew.state.lock();
        let now = Instant::now();
        state.backlog.note_begun(now);
        let seems_short = state.backlog.is_soon_begun(1, Duration::from_millis(1), || now);
        assert!(!is_left_to_the_watch || !seems_short, "nothing was learnt");
    });
}

/// Closes the crew while a thread that has taken a job calls foreign code first: its hook, or what starts another thread.
fn closed_before_a_job_begins(calls_begin: bool) {
    let crew = Crew::new(LIMITS);
    let gate = parking_lot::Mutex::new(());
    let (come, has_come) = mpsc::channel();
    let (given_back, jobs) = mpsc::channel();
    let blocks = || {
        come.send(()).unwrap();
        drop(gate.lock());
    };
    let begin = || _ = calls_begin.then(blocks);
    let start = |_| {
        blocks();
        assert!(crew.thread_failed().is_empty(), "this one is there");
    };
    let run = |_| panic!("a job was begun after the end");
    let cancel = |job| given_back.send(job).unwrap();
    thread::scope(|scope| {
        let shut = gate.lock();
        assert_eq!(crew.submit(0), Ok(Some(1)));
        if !calls_begin {
            assert_eq!(crew.submit(1), Ok(None), "one is coming");
        }
        let thread = scope.spawn(|| crew.work(begin, start, run, cancel, |_, _| ()));
        crew.thread_started();
        has_come.recv().unwrap();
        assert!(crew.close().into_iter().eq((!calls_begin).then_some(1)), "what is queued");
        drop(shut);
        thread.join().unwrap();
        assert_eq!(jobs.recv(), Ok(0), "what was taken");
    });
    assert_eq!(crew.counts(), (0, 0, 0));
}

#[test]
fn a_job_whose_thread_is_in_its_hook_at_the_end_is_given_back() {
    closed_before_a_job_begins(true);
}

#[test]
fn a_job_whose_thread_starts_another_at_the_end_is_given_back() {
    closed_before_a_job_begins(false);
}
