//! Models of the [`PoolThreads`]: the real accounting, with loom's threads, and numbers for jobs.
//!
//! A job that is lost, or that no thread comes for, leaves the model waiting: loom reports a deadlock. Threads count as
//! gone when the accounting says so, and loom sees to it that they really end.

use std::sync::Arc;
use std::time::Duration;

use loom::sync::{Condvar, Mutex};
use loom::thread;

use super::threads::{Limits, PoolThreads};

/// The time is up as soon as a thread waits, or it is late as soon as it spins.
const AT_ONCE: Duration = Duration::ZERO;
const NEVER: Duration = Duration::MAX;

/// What a model is made with.
#[derive(Clone, Copy)]
struct Times {
    keep_alive: Duration,
    late_after: Duration,
}

/// Threads wait for ever, and are relied on while they spin.
const PATIENT: Times = Times { keep_alive: NEVER, late_after: NEVER };

/// All of these.
fn all_times() -> impl Iterator<Item = Times> {
    let times = [AT_ONCE, NEVER];
    times
        .into_iter()
        .flat_map(move |keep_alive| times.into_iter().map(move |late_after| Times { keep_alive, late_after }))
}

/// What becomes of the jobs.
struct Model {
    threads: PoolThreads<usize>,
    done: Mutex<Vec<usize>>,
    changed: Condvar,
    /// The thread of this number cannot be started.
    fails: u64,
    /// The thread of this number begins only when a job was done.
    begins_late: u64,
    /// This number of jobs, in the order of their numbers, end only together.
    together: usize,
    /// These are to be done, whatever happens.
    mandatory: std::ops::Range<usize>,
    /// How many threads were started.
    handles: Mutex<usize>,
}

impl Model {
    fn new(threads: usize, times: Times) -> Self {
        let Times { keep_alive, late_after } = times;
        let limits = Limits { threads, keep_alive, late_after };
        Self {
            threads: PoolThreads::new(limits),
            done: Mutex::new(Vec::new()),
            changed: Condvar::new(),
            fails: 0,
            begins_late: 0,
            together: 1,
            mandatory: 0..0,
            handles: Mutex::new(0),
        }
    }

    fn submit(self: &Arc<Self>, job: usize) {
        match self.threads.submit(job) {
            Ok(Some(number)) => self.start(number),
            Ok(None) => {}
            Err(refused) => self.note(refused),
        }
    }

    fn start(self: &Arc<Self>, number: u64) {
        if number == self.fails {
            self.threads.thread_failed().into_iter().for_each(|stranded| self.note(stranded));
            return;
        }
        let model = self.clone();
        thread::spawn(move || {
            model.threads.work(
                || model.begin(number),
                |number| model.start(number),
                |job| model.run(job),
                |_, _, is_there| _ = is_there(),
            );
        });
        *self.handles.lock().unwrap() += 1;
        self.threads.thread_started();
    }

    fn begin(&self, number: u64) {
        if number == self.begins_late {
            self.wait_for(1);
        }
    }

    fn run(&self, job: usize) {
        self.note(job);
        let before = job / self.together * self.together;
        self.wait_for(if self.together > 1 { before + self.together } else { 1 });
    }

    fn give_back(&self, job: usize) {
        assert!(!self.mandatory.contains(&job), "job {job} is not begun");
        self.note(job);
    }

    fn note(&self, job: usize) {
        self.done.lock().unwrap().push(job);
        self.changed.notify_all();
    }

    /// Until this number of jobs have begun, or were given back.
    fn wait_for(&self, jobs: usize) {
        let mut done = self.done.lock().unwrap();
        while done.len() < jobs {
            done = self.changed.wait(done).unwrap();
        }
    }

    fn close(&self) {
        self.threads
            .close(|job, _| self.mandatory.contains(job))
            .into_iter()
            .for_each(|waiting| self.give_back(waiting));
    }

    /// All is over: each job was done or given back, once, and no thread is left.
    fn assert_over(&self, jobs: usize) {
        assert!(self.threads.wait_for_the_end(0, None));
        assert_eq!(self.threads.counts(), (0, 0, 0));
        let mut done = self.done.lock().unwrap();
        done.sort_unstable();
        assert_eq!(*done, (0..jobs).collect::<Vec<_>>());
    }
}

fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Jobs come while the one thread that is allowed works, waits, or finds its time up and leaves: each is done.
#[test]
fn loom_no_job_relies_on_a_thread_that_is_leaving() {
    for times in all_times() {
        check(3, move || {
            let model = Arc::new(Model::new(1, times));
            let other = {
                let model = model.clone();
                thread::spawn(move || model.submit(0))
            };
            model.submit(1);
            model.wait_for(2);
            other.join().unwrap();
            model.submit(2);
            model.wait_for(3);
            model.close();
            model.assert_over(3);
        });
    }
}

/// Two jobs that end only together: the thread that takes the first has another come for the second before it begins.
#[test]
fn loom_a_thread_that_takes_a_job_wakes_the_next() {
    for times in all_times() {
        check(2, move || {
            let model = Arc::new(Model { together: 2, ..Model::new(2, times) });
            model.submit(0);
            model.submit(1);
            model.wait_for(2);
            model.close();
            model.assert_over(2);
        });
    }
}

/// Three jobs that end only together: each thread that comes passes the call on.
#[test]
fn loom_jobs_that_wait_for_each_other_all_get_a_thread() {
    check(1, || {
        let model = Arc::new(Model { together: 3, ..Model::new(3, PATIENT) });
        (0..3).for_each(|job| model.submit(job));
        model.wait_for(3);
        model.close();
        model.assert_over(3);
    });
}

/// The same for threads that have run out of work, of which one spins and the other waits, or both wait.
#[test]
fn loom_a_thread_that_spun_wakes_one_that_waits() {
    check(2, || {
        let model = Arc::new(Model { together: 2, ..Model::new(2, PATIENT) });
        for jobs in [2, 4] {
            model.submit(jobs - 2);
            model.submit(jobs - 1);
            model.wait_for(jobs);
        }
        model.close();
        model.assert_over(4);
    });
}

/// Submission beside the end: a job is done, given back, or refused; threads that start, wait or work all go.
#[test]
fn loom_at_the_end_every_job_is_accounted_for_and_every_thread_is_gone() {
    for times in all_times() {
        check(3, move || {
            let model = Arc::new(Model::new(2, times));
            let other = {
                let model = model.clone();
                thread::spawn(move || {
                    model.submit(0);
                    model.submit(1);
                })
            };
            model.close();
            assert!(model.threads.wait_for_the_end(0, None));
            assert_eq!(model.threads.counts().0, 0, "no thread is started after the end");
            let handles = *model.handles.lock().unwrap();
            other.join().unwrap();
            assert_eq!(*model.handles.lock().unwrap(), handles, "all could be joined");
            model.assert_over(2);
        });
    }
}

/// A thread that was on its way cannot be started, while another runs out of work and goes to sleep: that one is woken.
#[test]
fn loom_a_thread_that_does_not_start_leaves_no_job_behind() {
    check(3, || {
        let model = Arc::new(Model { fails: 2, ..Model::new(2, PATIENT) });
        model.submit(0);
        let other = {
            let model = model.clone();
            thread::spawn(move || model.submit(1))
        };
        model.submit(2);
        model.wait_for(3);
        other.join().unwrap();
        model.close();
        model.assert_over(3);
    });
}

/// A thread blocks before it begins, in the user's hook, until a job was done: another comes for the next job, and does
/// it.
#[test]
fn loom_a_thread_that_is_late_to_begin_holds_up_one_job() {
    for times in all_times() {
        check(2, move || {
            let model = Arc::new(Model { begins_late: 1, ..Model::new(2, times) });
            model.submit(0);
            model.submit(1);
            model.wait_for(2);
            model.close();
            model.assert_over(2);
        });
    }
}

/// The pool is closed while jobs that must be done are queued, with their threads starting, waiting, spinning, or at
/// work: each is done, though nobody submits anything any more, and then the threads go.
#[test]
fn loom_at_the_end_what_must_be_done_is_done() {
    for threads in [1, 2] {
        for times in all_times() {
            check(3, move || {
                let model = Arc::new(Model { mandatory: 1..3, ..Model::new(threads, times) });
                (0..3).for_each(|job| model.submit(job));
                model.close();
                model.wait_for(3);
                model.assert_over(3);
            });
        }
    }
}
