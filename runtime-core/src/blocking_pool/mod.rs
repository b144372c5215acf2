//! The blocking pool: threads for work that would hold a worker up.
//!
//! Its jobs come from `spawn_blocking`, from files and the standard streams, and from the resolution of names. Threads
//! are started on demand, up to a limit; beyond it work queues. A thread without work waits for `keep_alive`, then
//! ends.
//!
//! `threads.rs` decides which thread does what, under one lock; here is what a job is, and how a thread is started.
//!
//! # A paused clock
//!
//! While a job exists real time passes for somebody, so a paused clock must not advance by itself: from before the job
//! is queued until after the task that waits for it was told.

mod job;
mod threads;

#[cfg(all(test, loom))]
mod loom_tests;

use std::io::{self, Write as _};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;

use self::threads::{Limits, PoolThreads};
use crate::clock::{Clock, Moment};
use crate::context::{self, RuntimeGuard};
use crate::processors;
use crate::runtime::{Config, Inner, ShutDown, Thread, join_threads};
use crate::scheduler::ThreadRole;
use crate::spans;
use crate::spin::{self, Spinner};
use crate::task::{JoinHandle, Notified, Runner, SpawnInfo, request_cancel};

/// A thread that has spun for longer than this has lost its processor.
const SPINNER_LATE_AFTER: Duration = spin::MAX_SPIN.saturating_mul(2);

/// A runtime's blocking pool.
pub(crate) struct Pool {
    threads: PoolThreads<Job>,
    /// Handles of threads that have ended or are about to, and of those that run.
    handles: Mutex<Vec<Thread>>,
    /// Whether there is one processor: nobody submits a job while a thread spins for one.
    single_cpu: OnceLock<bool>,
}

/// A closure in the queue.
struct Job {
    task: Notified,
    kind: Kind,
}

/// What becomes of a job that waits for others to end when the pool is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is cancelled.
    Ordinary,
    /// It is run: somebody was told already that it is as good as done. A write to a file is.
    Mandatory,
}

impl Pool {
    pub(crate) fn new(config: &Config) -> Self {
        let threads = PoolThreads::new(Limits {
            threads: config.max_blocking_threads.max(1),
            keep_alive: config.thread_keep_alive,
            late_after: SPINNER_LATE_AFTER,
        });
        let single_cpu = OnceLock::new();
        if config.processors > 0 {
            single_cpu.get_or_init(|| config.processors == 1);
        }
        Self { threads, handles: Mutex::default(), single_cpu }
    }

    /// Runs a closure on the pool.
    pub(crate) fn spawn<F, R>(&self, runtime: &Arc<Inner>, f: F, info: SpawnInfo, kind: Kind) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.try_spawn(runtime, f, info, kind).0
    }

    /// As [`spawn`](Self::spawn); and tells why, if the handle's task was cancelled at once.
    pub(crate) fn try_spawn<F, R>(
        &self,
        runtime: &Arc<Inner>,
        f: F,
        mut info: SpawnInfo,
        kind: Kind,
    ) -> (JoinHandle<R>, io::Result<()>)
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let f = spans::blocking(f, &mut info);
        info.id = spans::id_or(info.id, || crate::task::Id(runtime.reserve_ids(1)));
        info.arena = None;
        let (task, handle) = job::new(f, info);
        let submitted = self.submit(runtime, Job { task, kind });
        (handle, submitted)
    }

    fn submit(&self, runtime: &Arc<Inner>, job: Job) -> io::Result<()> {
        runtime.clock.inhibit_auto_advance();
        match self.threads.submit(job) {
            Ok(None) => Ok(()),
            Ok(Some(number)) => self.add_thread(runtime, number),
            Err(job) => {
                cancel(runtime, job);
                Err(ShutDown::new("the runtime was shut down, and its blocking pool takes no more jobs").into())
            }
        }
    }

    fn add_thread(&self, runtime: &Arc<Inner>, number: u64) -> io::Result<()> {
        match self.start_thread(runtime, number) {
            Ok(thread) => {
                // Threads that ended in the meantime are let go of here, so that the list stays as long as the pool.
                let mut handles = self.handles.lock();
                handles.retain(|thread| !thread.is_finished());
                handles.push(thread);
                drop(handles);
                self.threads.thread_started();
                // It may have been refused one, and have to tell that the pool was, too.
                runtime.reporter.see_to_thread();
                Ok(())
            }
            Err(error) => self.thread_failed(runtime, error),
        }
    }

    fn start_thread(&self, runtime: &Arc<Inner>, number: u64) -> io::Result<Thread> {
        let for_thread = Arc::clone(runtime);
        Thread::start(runtime.threads.blocking_builder(number), move || {
            let _runtime = RuntimeGuard::enter(Arc::clone(&for_thread));
            let _role = context::take_role(ThreadRole::BlockingPool(NonNull::from(&*for_thread)));
            let pool = &for_thread.blocking;
            pool.threads.work(
                || for_thread.hooks.on_thread_start(),
                // Of the jobs that no thread comes for their callers are told.
                |number| _ = pool.add_thread(&for_thread, number),
                |job| run(&for_thread, job),
                |spinner, wake, is_there| pool.spin(spinner, wake, is_there),
            );
            for_thread.hooks.on_thread_stop();
        })
    }

    fn spin(&self, spinner: &Spinner, wake: Duration, is_there: &dyn Fn() -> bool) {
        if !self.single_cpu.get_or_init(|| processors::available() == 1) {
            spinner.spin(wake, Moment::now, is_there);
        }
    }

    /// A thread could not be started. With others at work the job waits for one of them; with none it would wait for
    /// ever, so every queued job is cancelled, and their callers told.
    #[cold]
    fn thread_failed(&self, runtime: &Inner, error: io::Error) -> io::Result<()> {
        let stranded = self.threads.thread_failed();
        let count = stranded.len();
        stranded.into_iter().for_each(|job| cancel(runtime, job));
        if count == 0 {
            return Ok(());
        }
        let why = error.to_string();
        runtime.reporter.report(move || {
            // Not `eprintln!`, which panics if nobody can be told.
            let _ = writeln!(io::stderr(), "rt: {count} blocking task(s) cancelled: no thread could be started: {why}");
        });
        Err(error)
    }

    /// Takes no more jobs, and cancels those that wait for others to end because there are no more threads. Jobs that
    /// run go on. Those that only wait for their thread to come are begun: whether it is there in time is chance, and a
    /// program may end right behind a `spawn_blocking`. Mandatory ones are begun in any case.
    pub(crate) fn close(&self, runtime: &Arc<Inner>) {
        let keep = |job: &Job, is_free| is_free || job.kind == Kind::Mandatory;
        let rest = self.threads.close(keep);
        if !rest.is_empty() {
            // What the closures have captured finds the runtime around it when it is dropped, as on the pool's threads.
            let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
            rest.into_iter().for_each(|job| cancel(runtime, job));
        }
    }

    /// Waits until all threads have ended, but for the calling one. False if that takes longer than the limit.
    pub(crate) fn wait_closed(&self, runtime: &Inner, limit: Option<Duration>) -> bool {
        let own =
            usize::from(matches!(context::role(), ThreadRole::BlockingPool(of) if std::ptr::eq(of.as_ptr(), runtime)));
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        if !self.threads.wait_for_the_end(own, deadline) {
            return false;
        }
        let handles = std::mem::take(&mut *self.handles.lock());
        join_threads(handles, deadline);
        true
    }

    /// Whether it takes no more jobs.
    pub(crate) fn is_closed(&self) -> bool {
        self.threads.is_closed()
    }

    /// Jobs that threads have begun to run.
    pub(crate) fn jobs_run(&self) -> u64 {
        self.threads.taken()
    }

    /// Threads, idle threads, and queued jobs.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.threads.counts()
    }
}

/// Runs a job, and tells its join handle.
fn run(runtime: &Inner, job: Job) {
    let again = job.task.run(&Runner::NOBODY);
    debug_assert!(again.is_none(), "a blocking task completes in its one poll");
    let clock = &runtime.clock;
    clock.allow_auto_advance();
    if clock.is_paused() {
        // A driver that waits without limit because it could not advance must look again.
        runtime.drivers.unpark.unpark();
    }
}

/// Completes a job as cancelled.
fn cancel(runtime: &Inner, job: Job) {
    request_cancel(&job.task);
    run(runtime, job);
}
