//! The blocking pool: threads for work that would hold a worker up.
//!
//! Called by `spawn_blocking`, by file and name-resolution code, and by runtime shutdown. Threads are started on
//! demand, up to a limit; beyond it work queues. A thread without work waits for `keep_alive`, then ends.
//!
//! # Exact accounting
//!
//! Everything is decided under one lock. `idle` counts the threads that wait and have not been summoned; whoever
//! summons one takes it off, notes it in `summoned`, and signals. A thread that wakes and finds somebody summoned is
//! that one; one that wakes otherwise (its time is up, or for no cause) is still counted in `idle`, and takes itself
//! off before it ends. So a job never relies on a thread that is leaving. Threads are started outside of the lock,
//! counted before they are, and uncounted if that fails.
//!
//! # One at a time
//!
//! Waking a thread for every job is a waste when jobs are short: the first few threads would do them all. So while a
//! thread is `coming` (summoned, or starting, and not there yet), nobody summons another; the one that comes takes a
//! job and, if more are queued, summons the next before it begins. A queue that is not empty therefore always has a
//! thread coming, unless all are busy and no more are allowed; then the next to finish takes from it.
//!
//! # A paused clock
//!
//! While a job exists real time passes for somebody, so a paused clock must not advance by itself: from before the job
//! is queued until after whoever waits for it was told.

mod task;

use std::collections::VecDeque;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::clock::Clock;
use crate::context::{self, RuntimeGuard};
use crate::runtime::{Config, Inner, join_threads};
use crate::scheduler::Place;
use crate::task::{Birth, JoinHandle, Notified, Runner, request_cancel};

/// See the module.
pub(crate) struct Pool {
    state: Mutex<State>,
    /// There is a job for a waiting thread, or the pool closes.
    work: Condvar,
    /// The last thread ended.
    empty: Condvar,
    limit: usize,
    keep_alive: Duration,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Notified>,
    threads: usize,
    idle: usize,
    summoned: usize,
    /// Threads that are on their way: summoned, or starting.
    coming: usize,
    started: u64,
    closed: bool,
    /// Handles of threads that have ended or are about to, and of those that run, by number.
    handles: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            empty: Condvar::new(),
            limit: config.max_blocking_threads.max(1),
            keep_alive: config.thread_keep_alive,
        }
    }

    /// Runs a closure on the pool.
    pub(crate) fn spawn<F, R>(&self, runtime: &Arc<Inner>, f: F, mut birth: Birth) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        birth.id = crate::task::Id(runtime.reserve_ids(1));
        birth.owner = None;
        let (job, handle) = self::task::new(f, birth);
        self.submit(runtime, job);
        handle
    }

    fn submit(&self, runtime: &Arc<Inner>, job: Notified) {
        runtime.clock.inhibit_auto_advance();
        let number = {
            let mut state = self.state.lock();
            if state.closed {
                drop(state);
                cancel(runtime, job);
                return;
            }
            state.queue.push_back(job);
            self.summon(&mut state)
        };
        if let Some(number) = number {
            self.add_thread(runtime, number);
        }
    }

    /// Sees to it that a thread is coming, if there is work for one. Returns the number of a thread that is to be
    /// started, and counted already.
    fn summon(&self, state: &mut State) -> Option<u64> {
        if state.queue.is_empty() || state.coming > 0 {
            return None;
        }
        if state.idle > 0 {
            state.idle -= 1;
            state.summoned += 1;
            state.coming += 1;
            self.work.notify_one();
            return None;
        }
        if state.threads == self.limit {
            return None;
        }
        state.threads += 1;
        state.coming += 1;
        state.started += 1;
        Some(state.started)
    }

    fn add_thread(&self, runtime: &Arc<Inner>, number: u64) {
        match self.start_thread(runtime, number) {
            Ok(thread) => {
                // Threads that ended in the meantime are let go of here, so that the list stays as long as the pool.
                let mut state = self.state.lock();
                state.handles.retain(|thread| !thread.is_finished());
                state.handles.push(thread);
            }
            Err(error) => self.thread_failed(runtime, &error),
        }
    }

    fn start_thread(&self, runtime: &Arc<Inner>, number: u64) -> io::Result<thread::JoinHandle<()>> {
        let for_thread = Arc::clone(runtime);
        runtime.threads.blocking_builder(number).spawn(move || {
            let _runtime = RuntimeGuard::enter(Arc::clone(&for_thread));
            let _place = context::take_place(Place::Blocking(NonNull::from(&*for_thread)));
            for_thread.hooks.on_thread_start();
            for_thread.blocking.work(&for_thread);
            for_thread.hooks.on_thread_stop();
        })
    }

    /// A thread could not be started. With others at work the job waits for one of them; with none it would wait for
    /// ever, so every queued job is cancelled, and their callers told.
    #[cold]
    fn thread_failed(&self, runtime: &Inner, error: &io::Error) {
        let stranded = {
            let mut state = self.state.lock();
            state.coming -= 1;
            self.uncount_thread(&mut state);
            if state.threads > 0 { VecDeque::new() } else { std::mem::take(&mut state.queue) }
        };
        if !stranded.is_empty() {
            eprintln!("rt: {} blocking task(s) cancelled: no thread could be started: {error}", stranded.len());
        }
        stranded.into_iter().for_each(|job| cancel(runtime, job));
    }

    /// What a thread of the pool does.
    fn work(&self, runtime: &Arc<Inner>) {
        let mut state = self.state.lock();
        loop {
            // Here as one that was started or summoned.
            state.coming -= 1;
            while let Some(job) = state.queue.pop_front() {
                if let Some(number) = self.summon(&mut state) {
                    MutexGuard::unlocked(&mut state, || self.add_thread(runtime, number));
                }
                MutexGuard::unlocked(&mut state, || run(runtime, job));
            }
            if state.closed || !self.wait_for_work(&mut state) {
                break;
            }
        }
        self.uncount_thread(&mut state);
    }

    fn uncount_thread(&self, state: &mut State) {
        state.threads -= 1;
        // A thread of the pool that waits for the others counts itself.
        if state.threads <= 1 {
            self.empty.notify_all();
        }
    }

    /// Waits. False if the thread shall end.
    fn wait_for_work(&self, state: &mut MutexGuard<'_, State>) -> bool {
        state.idle += 1;
        let deadline = Clock::real().checked_add(self.keep_alive);
        loop {
            let timed_out = match deadline {
                Some(deadline) => self.work.wait_until(state, deadline).timed_out(),
                None => {
                    self.work.wait(state);
                    false
                }
            };
            if state.summoned > 0 {
                state.summoned -= 1;
                return true;
            }
            if state.closed || timed_out {
                state.idle -= 1;
                return false;
            }
        }
    }

    /// Takes no more jobs, and cancels those that wait. Jobs that run go on.
    pub(crate) fn close(&self, runtime: &Inner) {
        let waiting = {
            let mut state = self.state.lock();
            state.closed = true;
            self.work.notify_all();
            std::mem::take(&mut state.queue)
        };
        waiting.into_iter().for_each(|job| cancel(runtime, job));
    }

    /// Waits until all threads have ended, but for the calling one. False if that takes longer than the limit.
    pub(crate) fn wait_closed(&self, runtime: &Inner, limit: Option<Duration>) -> bool {
        let own = usize::from(matches!(context::place(), Place::Blocking(of) if std::ptr::eq(of.as_ptr(), runtime)));
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        let mut state = self.state.lock();
        while state.threads > own {
            match deadline {
                None => self.empty.wait(&mut state),
                Some(deadline) => {
                    if self.empty.wait_until(&mut state, deadline).timed_out() {
                        return state.threads <= own;
                    }
                }
            }
        }
        let handles = std::mem::take(&mut state.handles);
        drop(state);
        join_threads(handles, limit);
        true
    }

    /// Threads, idle threads, and queued jobs.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let state = self.state.lock();
        (state.threads, state.idle, state.queue.len())
    }
}

/// Runs a job, and tells whoever waits for it.
fn run(runtime: &Inner, job: Notified) {
    let again = job.run(&Runner::NOBODY);
    debug_assert!(again.is_none(), "a blocking task completes in its one poll");
    let clock = &runtime.clock;
    clock.allow_auto_advance();
    if clock.is_paused() {
        // A driver that waits without limit because it could not advance must look again.
        runtime.drivers.unpark.unpark();
    }
}

/// Completes a job as cancelled.
fn cancel(runtime: &Inner, job: Notified) {
    request_cancel(&job);
    run(runtime, job);
}
