//! [`PoolThreads`]: which thread of the blocking pool does what. It knows neither what a job is nor how a thread is
//! started.
//!
//! # Exact accounting
//!
//! Everything is decided under one lock. `idle` counts the threads that wait and have not been woken; the thread that
//! wakes one takes it off, notes it in `woken`, and signals. A thread that wakes and finds somebody woken is that one;
//! one that wakes otherwise (its time is up, or for no cause) is still counted in `idle`, and takes itself off before
//! it ends. So a job never relies on a thread that is leaving.
//!
//! The signal for one thread is sent without the lock: a thread that is signalled while anybody holds the lock wakes up
//! only to wait for that. So the signal may find that the thread it was for is there already, as its time was up, or
//! for no cause: then it wakes another for no cause, or nobody. A thread that loses its processor before it has sent
//! the signal is late with it: until it is back jobs wait for a thread that is busy now.
//!
//! Threads are started without the lock, too, counted before they are, and uncounted if that fails. The end waits for
//! those who start them: a thread that joins the others then finds the handles of all.
//!
//! # One at a time
//!
//! Waking a thread for every job is a waste when jobs are short: the first few threads would do them all. So while a
//! thread is `pending` (woken, or starting, and not there yet), nobody wakes another; the one that comes takes a job
//! and, if more are queued, wakes the next before it begins. A queue that is not empty therefore always has a thread
//! coming, unless all are busy and no more are allowed; then the next to finish takes from it. Should the one that was
//! coming fail to start, one that has begun to wait meanwhile is woken in its place.
//!
//! So a batch of short jobs is mostly done by the first thread that is awake, which wakes one other. Jobs that take
//! long, or wait for each other, get a thread each, one after the other.
//!
//! A thread begins with the user's hook, which may block. So it takes its first job before it calls the hook, as if
//! that were a part of the job: it counts as busy, not as coming, and others come for the jobs behind. The same goes
//! for a thread that starts another after it has taken a job. Should the pool be closed meanwhile, that job is done all
//! the same.
//!
//! # The end
//!
//! A pool that is closed takes no more jobs and gives back those that are queued, but for those that are to be done all
//! the same. The rule above goes on to hold for these: if there is one, a thread is coming, or all are busy and the
//! next to finish takes it. Only a thread that waits, and was not woken, ends at once.
//!
//! # Spinning
//!
//! A thread that finds the queue empty spins a little for the next job (`spin.rs`) before it waits, if none is pending:
//! for that time it is the one. So a thread that submits a job then wakes nobody. It gives up under the lock, and only
//! if the queue is still empty. Should it lose its processor meanwhile, it is late after a while, and the next
//! submitter does not rely on it: another is woken, or started, beside it. A job that came before that waits until it
//! is back, or until the next job, or a busy thread, comes.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::clock::{Clock, Moment};
use crate::primitive::waiting::{Condvar, Mutex, MutexGuard};
use crate::spin::Spinner;
use crate::wake_latency::WakeLatency;

/// The threads of a blocking pool and their queue. `J` is a job.
pub(super) struct PoolThreads<J> {
    state: Mutex<State<J>>,
    /// There is a job for a waiting thread, or the pool is dismissed.
    work: Condvar,
    /// The last thread ended.
    empty: Condvar,
    limits: Limits,
    /// Whether a job is queued, or no more will be: a hint for the thread that spins. Written under the lock.
    has_job: AtomicBool,
    /// Of the threads that are woken. One at a time is, so they can share it.
    wake_latency: WakeLatency,
}

/// How many threads there may be, and how long they stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most threads at a time.
    pub(super) threads: usize,
    /// How long a thread waits for work before it ends.
    pub(super) keep_alive: Duration,
    /// A thread that spins for longer than this is not relied on.
    pub(super) late_after: Duration,
}

/// The thread that is to come for a job.
enum Help {
    /// Nothing is queued, another is on its way, or there may be no more.
    NotNeeded,
    /// It waits, and is to be woken.
    Waits,
    /// It is to be started, with this number.
    ToStart(u64),
}

struct State<J> {
    queue: VecDeque<J>,
    threads: usize,
    idle: usize,
    woken: usize,
    /// Threads that are on their way: woken, starting, or spinning.
    pending: usize,
    /// Since when one of these has spun, if one does.
    spinning_since: Option<Moment>,
    /// Threads that somebody is about to start, or has started and not said so yet.
    starting: usize,
    started: u64,
    /// Jobs that threads have taken.
    taken: u64,
    closed: bool,
}

impl<J> PoolThreads<J> {
    pub(super) fn new(limits: Limits) -> Self {
        let state = State {
            queue: VecDeque::new(),
            threads: 0,
            idle: 0,
            woken: 0,
            pending: 0,
            spinning_since: None,
            starting: 0,
            started: 0,
            taken: 0,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            empty: Condvar::new(),
            limits,
            has_job: AtomicBool::new(false),
            wake_latency: WakeLatency::default(),
        }
    }

    /// Queues a job. `Ok` with the number of a thread that the caller must start, if one is needed; it is counted
    /// already, and the caller says how that went. `Err` if no more jobs are taken.
    pub(super) fn submit(&self, job: J) -> Result<Option<u64>, J> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(job);
        }
        state.queue.push_back(job);
        self.has_job.store(true, Relaxed);
        let help = self.find_help(&mut state);
        drop(state);
        Ok(self.call(help))
    }

    /// Sees to it that a thread is pending, if there is work for one: what the caller has to [`call`](Self::call) when
    /// it has released the lock is counted already.
    #[must_use]
    fn find_help(&self, state: &mut State<J>) -> Help {
        if state.queue.is_empty() || state.pending > usize::from(self.is_spinner_late(state)) {
            return Help::NotNeeded;
        }
        if state.idle > 0 {
            state.idle -= 1;
            state.woken += 1;
            state.pending += 1;
            self.wake_latency.note_call(Moment::now());
            return Help::Waits;
        }
        if state.threads == self.limits.threads {
            return Help::NotNeeded;
        }
        state.threads += 1;
        state.pending += 1;
        state.starting += 1;
        state.started += 1;
        Help::ToStart(state.started)
    }

    /// Wakes the thread if it waits, and returns its number if it is to be started. The lock must not be held: see the
    /// module.
    fn call(&self, help: Help) -> Option<u64> {
        match help {
            Help::NotNeeded => None,
            Help::Waits => {
                self.work.notify_one();
                None
            }
            Help::ToStart(number) => Some(number),
        }
    }

    /// A thread that was to be started was.
    pub(super) fn thread_started(&self) {
        let mut state = self.state.lock();
        state.starting -= 1;
        self.empty.notify_all();
    }

    /// A thread that was to be started could not be. Returns the jobs that nobody will do, if it would have been the
    /// only one.
    #[must_use]
    pub(super) fn thread_failed(&self) -> VecDeque<J> {
        let mut state = self.state.lock();
        state.pending -= 1;
        state.starting -= 1;
        self.uncount_thread(&mut state);
        if state.threads == 0 {
            return std::mem::take(&mut state.queue);
        }
        // A busy one takes from the queue when it comes by. One that went to wait while this one was coming will not.
        if state.idle > 0 {
            let help = self.find_help(&mut state);
            drop(state);
            let to_start = self.call(help);
            debug_assert!(to_start.is_none());
        }
        VecDeque::new()
    }

    /// What a thread does until it ends. `begin` is called once, before anything else of the user's; `start` starts the
    /// thread of a number; `run` does a job; `spin` looks for a job as long as that seems to pay (`spin.rs`), given
    /// what this thread knows of its waits and how long it takes to be woken.
    pub(super) fn work(
        &self,
        begin: impl FnOnce(),
        start: impl Fn(u64),
        run: impl Fn(J),
        spin: impl Fn(&Spinner, Duration, &dyn Fn() -> bool),
    ) {
        let spinner = Spinner::default();
        let mut begin = Some(begin);
        let mut state = self.state.lock();
        loop {
            // Here as one that was started or woken, or has spun.
            state.pending -= 1;
            while let Some(job) = self.take(&mut state) {
                let help = self.find_help(&mut state);
                MutexGuard::unlocked(&mut state, || {
                    if let Some(number) = self.call(help) {
                        start(number);
                    }
                    if let Some(begin) = begin.take() {
                        begin();
                    }
                    run(job);
                });
            }
            if let Some(begin) = begin.take() {
                // Another thread has taken the job that this one was started for.
                MutexGuard::unlocked(&mut state, begin);
                // Jobs that have come meanwhile may rely on it.
                state.pending += 1;
                continue;
            }
            let began = Moment::now();
            if self.spin_for_job(&mut state, |wake, is_there| spin(&spinner, wake, is_there)) {
                continue;
            }
            if state.closed {
                break;
            }
            let Some(woken_at) = self.wait_for_work(&mut state) else { break };
            spinner.note_wait(Some(woken_at.since(began)));
        }
        self.uncount_thread(&mut state);
    }

    fn take(&self, state: &mut State<J>) -> Option<J> {
        let job = state.queue.pop_front();
        state.taken += u64::from(job.is_some());
        self.has_job.store(state.closed || !state.queue.is_empty(), Relaxed);
        job
    }

    /// True if there is a job, for which this thread is pending then.
    fn spin_for_job(
        &self,
        state: &mut MutexGuard<'_, State<J>>,
        spin_for_job: impl Fn(Duration, &dyn Fn() -> bool),
    ) -> bool {
        if state.closed || state.pending > 0 {
            return false;
        }
        state.pending += 1;
        state.spinning_since = Some(Moment::now());
        // Relaxed: what counts is what is seen under the lock.
        MutexGuard::unlocked(state, || spin_for_job(self.wake_latency.average(), &|| self.has_job.load(Relaxed)));
        state.spinning_since = None;
        if state.queue.is_empty() {
            state.pending -= 1;
            return false;
        }
        true
    }

    fn is_spinner_late(&self, state: &State<J>) -> bool {
        state.spinning_since.is_some_and(|since| Moment::now().since(since) >= self.limits.late_after)
    }

    fn uncount_thread(&self, state: &mut State<J>) {
        state.threads -= 1;
        // A thread of the pool that waits for the others counts itself.
        if state.threads <= 1 {
            self.empty.notify_all();
        }
    }

    /// Waits. Returns when the thread was woken, or `None` if it shall end.
    fn wait_for_work(&self, state: &mut MutexGuard<'_, State<J>>) -> Option<Moment> {
        state.idle += 1;
        let deadline = Clock::real().checked_add(self.limits.keep_alive);
        loop {
            let timed_out = match deadline {
                Some(deadline) => self.work.wait_until(state, deadline).timed_out(),
                None => {
                    self.work.wait(state);
                    false
                }
            };
            if state.woken > 0 {
                state.woken -= 1;
                let now = Moment::now();
                return Some(self.wake_latency.note_awake(|| now).unwrap_or(now));
            }
            if state.closed || timed_out {
                state.idle -= 1;
                return None;
            }
        }
    }

    /// Takes no more jobs, and returns those that are queued and that `keep` does not want kept; it is told whether a
    /// job only waits for a thread to come, not for another job to end. Jobs that run go on, and the kept ones are
    /// done: a thread comes for them as ever, and no thread ends while it sees one.
    #[must_use]
    pub(super) fn close(&self, keep: impl Fn(&J, bool) -> bool) -> VecDeque<J> {
        let mut state = self.state.lock();
        state.closed = true;
        self.has_job.store(true, Relaxed);
        self.work.notify_all();
        let busy = state.threads - state.idle - state.pending;
        let mut free = self.limits.threads - busy;
        let keep = |job: &J| {
            let is_free = free > 0;
            free = free.saturating_sub(1);
            keep(job, is_free)
        };
        let (kept, rest) = std::mem::take(&mut state.queue).into_iter().partition(keep);
        state.queue = kept;
        rest
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Waits until at most `but` threads are left. False if that takes longer than the deadline allows.
    pub(super) fn wait_for_the_end(&self, but: usize, deadline: Option<Instant>) -> bool {
        let mut state = self.state.lock();
        while state.threads > but || state.starting > 0 {
            match deadline {
                None => self.empty.wait(&mut state),
                Some(deadline) => {
                    if self.empty.wait_until(&mut state, deadline).timed_out() {
                        return state.threads <= but && state.starting == 0;
                    }
                }
            }
        }
        true
    }

    /// Jobs that threads have taken out of the queue.
    pub(super) fn taken(&self) -> u64 {
        self.state.lock().taken
    }

    /// Threads, idle threads, and queued jobs.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let state = self.state.lock();
        // A thread that spins is as idle as those that wait, until there is a job for it.
        let spinning = usize::from(state.spinning_since.is_some() && state.queue.is_empty());
        (state.threads, state.idle + spinning, state.queue.len())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
