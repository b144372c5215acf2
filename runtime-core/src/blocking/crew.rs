//! [`Crew`]: which thread of the blocking pool does what. It knows neither what a job is nor how a thread is started.
//!
//! # Exact accounting
//!
//! Everything is decided under one lock. `idle` counts the threads that wait and have not been summoned; whoever
//! summons one takes it off, notes it in `summoned`, and signals. A thread that wakes and finds somebody summoned is
//! that one; one that wakes otherwise (its time is up, or for no cause) is still counted in `idle`, and takes itself
//! off before it ends. So a job never relies on a thread that is leaving. Threads are started outside of the lock,
//! counted before they are, and uncounted if that fails. The end waits for those who start them, too: whoever joins the
//! threads then finds the handles of all.
//!
//! # One at a time
//!
//! Waking a thread for every job is a waste when jobs are short: the first few threads would do them all. So while a
//! thread is `coming` (summoned, or starting, and not there yet), nobody summons another (but see below); the one that comes takes a
//! job and, if more are queued, summons the next before it begins. A queue that is not empty therefore always has a
//! thread coming, unless all are busy and no more are allowed; then the next to finish takes from it. Should the one
//! that was coming fail to start, one that has begun to wait meanwhile is summoned in its place.
//!
//! A thread begins with the user's hook, which may block. So it takes its first job before it calls the hook, as if that were a
//! part of the job: it counts as busy, not as coming, and others come for the jobs behind. The same goes for a thread that starts
//! another after it has taken a job. Should the crew be closed meanwhile, that job has not begun, and is cancelled like those
//! that are queued.
//!
//! # Short jobs
//!
//! Nor is anybody summoned while a thread at work will soon have begun all that is queued, going by how long jobs take
//! (`backlog.rs`). That may be wrong, so it is done only while some other thread is *on the watch*: it waits like those that
//! are idle, and can be summoned, but looks after the queue each `watch`. If jobs wait, and what had waited when it last looked
//! has not all been begun, or nothing has, it comes, and notes that jobs take long. It goes off the watch, under the lock, only when the queue is empty and nobody
//! has relied on it for a `watch`, and when it comes itself. So a queue that is not empty has a thread coming, or one on the
//! watch, unless all are busy and no more are allowed. A thread that runs out of work goes on the watch if nobody is, and
//! another thread is up. While it is relied on it wakes up for every look, and does not end.
//!
//! # Looking out
//!
//! A thread that finds the queue empty looks out for the next job a little (`patience.rs`) before it waits, if none is coming: for that
//! time it is the one. So whoever submits a job then wakes nobody. It gives up under the lock, and only if the queue is still
//! empty. Should it lose its processor meanwhile it is late after a while, and not relied on by whoever submits a job then: another is
//! summoned, or started, beside it. A job that came before that waits until it is back, or until the next job, a busy thread or the
//! watch comes.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::backlog::Backlog;
use crate::clock::Clock;
use crate::primitive::{Condvar, Mutex, MutexGuard};
use crate::wake_latency::WakeLatency;

/// See the module. `J` is a job.
pub(super) struct Crew<J> {
    state: Mutex<State<J>>,
    /// There is a job for a waiting thread, or the crew is dismissed.
    work: Condvar,
    /// The last thread ended.
    empty: Condvar,
    limits: Limits,
    /// Whether a job is queued, or no more will be: a hint for the thread that looks out. Written under the lock.
    has_job: AtomicBool,
    /// Of the threads that are summoned. One at a time is, so they can share it.
    wake_latency: WakeLatency,
    started: Instant,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// So many threads at most.
    pub(super) threads: usize,
    /// A thread that had no work for so long ends.
    pub(super) keep_alive: Duration,
    /// A thread that has looked out for so long is not relied on.
    pub(super) late_after: Duration,
    /// Nobody is summoned, which takes so long, for jobs that will be begun within the time that this returns, ...
    pub(super) soon: fn(Duration) -> Duration,
    /// ... but somebody looks whether they are, this often.
    pub(super) watch: Duration,
}

struct State<J> {
    queue: VecDeque<J>,
    threads: usize,
    idle: usize,
    summoned: usize,
    /// Threads that are on their way: summoned, starting, or looking out.
    coming: usize,
    /// Since when one of these has looked out, if one does.
    looking_since: Option<Instant>,
    /// A thread that waits is on the watch. It counts as idle.
    is_watched: bool,
    /// Since it last found that no job waits, somebody was not summoned because of that.
    is_relied_on: bool,
    backlog: Backlog,
    /// Threads that somebody is about to start, or has started and not said so yet.
    starting: usize,
    started: u64,
    closed: bool,
}

impl<J> Crew<J> {
    pub(super) fn new(limits: Limits) -> Self {
        let state = State {
            queue: VecDeque::new(),
            threads: 0,
            idle: 0,
            summoned: 0,
            coming: 0,
            looking_since: None,
            is_watched: false,
            is_relied_on: false,
            backlog: Backlog::default(),
            starting: 0,
            started: 0,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            empty: Condvar::new(),
            limits,
            has_job: AtomicBool::new(false),
            wake_latency: WakeLatency::default(),
            started: Clock::real(),
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
        Ok(self.summon(&mut state))
    }

    /// Sees to it that a thread is coming, if there is work for one. Returns the number of a thread that is to be
    /// started, and counted already.
    fn summon(&self, state: &mut State<J>) -> Option<u64> {
        if state.queue.is_empty() || state.coming > usize::from(self.is_looker_late(state)) {
            return None;
        }
        let soon = (self.limits.soon)(self.wake_latency.average());
        if state.is_watched && state.backlog.is_soon_begun(state.queue.len(), soon, Clock::real) {
            state.is_relied_on = true;
            return None;
        }
        if state.idle > 0 {
            state.idle -= 1;
            state.summoned += 1;
            state.coming += 1;
            self.wake_latency.note_call(self.nanos_since_start());
            self.work.notify_one();
            return None;
        }
        if state.threads == self.limits.threads {
            return None;
        }
        state.threads += 1;
        state.coming += 1;
        state.starting += 1;
        state.started += 1;
        Some(state.started)
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
        state.coming -= 1;
        state.starting -= 1;
        self.uncount_thread(&mut state);
        if state.threads == 0 {
            return std::mem::take(&mut state.queue);
        }
        // A busy one takes from the queue when it comes by. One that went to wait while this one was coming will not.
        if state.idle > 0 {
            let to_start = self.summon(&mut state);
            debug_assert!(to_start.is_none());
        }
        VecDeque::new()
    }

    /// What a thread does until it ends. `begin` is called once, before anything else of the user's; `start` starts the thread of a
    /// number; `run` does a job, and `cancel` is for one that was taken, but not begun before the crew was closed; `look_out` looks
    /// for a job as long as that seems to pay, given how long it takes to be woken.
    pub(super) fn work(
        &self,
        begin: impl FnOnce(),
        start: impl Fn(u64),
        run: impl Fn(J),
        cancel: impl Fn(J),
        look_out: impl Fn(Duration, &dyn Fn() -> bool),
    ) {
        let mut begin = Some(begin);
        let mut state = self.state.lock();
        loop {
            // Here as one that was started or summoned, or has looked out.
            state.coming -= 1;
            // What it takes to get the next job counts as that one's time, too.
            let mut now = Clock::real();
            while let Some(job) = self.take(&mut state) {
                let number = state.backlog.note_begun(now);
                let to_start = self.summon(&mut state);
                let has_other_things_first = to_start.is_some() || begin.is_some();
                let (began, ended) = MutexGuard::unlocked(&mut state, || {
                    if let Some(number) = to_start {
                        start(number);
                    }
                    if let Some(begin) = begin.take() {
                        begin();
                    }
                    let mut is_too_late = false;
                    if has_other_things_first {
                        now = Clock::real();
                        is_too_late = self.state.lock().closed;
                    }
                    if is_too_late {
                        cancel(job)
                    } else {
                        run(job)
                    }
                    (now, Clock::real())
                });
                state.backlog.note_ended(number, ended.saturating_duration_since(began));
                now = ended;
            }
            if let Some(begin) = begin.take() {
                // Another thread has taken the job that this one was started for.
                MutexGuard::unlocked(&mut state, begin);
                // Jobs that have come meanwhile may rely on it.
                state.coming += 1;
                continue;
            }
            if self.look_out(&mut state, &look_out) {
                continue;
            }
            if state.closed || !self.wait_for_work(&mut state) {
                break;
            }
        }
        self.uncount_thread(&mut state);
    }

    fn take(&self, state: &mut State<J>) -> Option<J> {
        let job = state.queue.pop_front();
        self.has_job.store(state.closed || !state.queue.is_empty(), Relaxed);
        job
    }

    /// True if there is a job, for which this thread is coming then.
    fn look_out(&self, state: &mut MutexGuard<'_, State<J>>, look_out: impl Fn(Duration, &dyn Fn() -> bool)) -> bool {
        if state.closed || state.coming > 0 {
            return false;
        }
        state.coming += 1;
        state.looking_since = Some(Clock::real());
        // Relaxed: what counts is what is seen under the lock.
        MutexGuard::unlocked(state, || look_out(self.wake_latency.average(), &|| self.has_job.load(Relaxed)));
        state.looking_since = None;
        if state.queue.is_empty() {
            state.coming -= 1;
            return false;
        }
        true
    }

    fn is_looker_late(&self, state: &State<J>) -> bool {
        state
            .looking_since
            .is_some_and(|since| Clock::real().saturating_duration_since(since) >= self.limits.late_after)
    }

    fn nanos_since_start(&self) -> u64 {
        Clock::real().saturating_duration_since(self.started).as_nanos() as u64
    }

    fn uncount_thread(&self, state: &mut State<J>) {
        state.threads -= 1;
        // A thread of the crew that waits for the others counts itself.
        if state.threads <= 1 {
            self.empty.notify_all();
        }
    }

    /// Waits. False if the thread shall end.
    fn wait_for_work(&self, state: &mut MutexGuard<'_, State<J>>) -> bool {
        state.idle += 1;
        let is_another_up = state.threads > state.idle;
        // `Some` while on the watch: how many jobs are to have been begun by the next look.
        let mut watch = (is_another_up && !state.is_watched).then(|| Self::expected_by_next_look(state));
        if watch.is_some() {
            state.is_watched = true;
            // Others relied on another watch, if at all.
            state.is_relied_on = false;
        }
        let mut deadline = self.deadline(watch);
        let is_to_come = loop {
            let timed_out = match deadline {
                Some(deadline) => self.work.wait_until(state, deadline).timed_out(),
                None => {
                    self.work.wait(state);
                    false
                }
            };
            if state.summoned > 0 {
                state.summoned -= 1;
                self.wake_latency.note_up(self.nanos_since_start());
                break true;
            }
            if state.closed {
                state.idle -= 1;
                break false;
            }
            if !timed_out {
                continue;
            }
            let Some(expected) = watch else {
                state.idle -= 1;
                break false;
            };
            let jobs_wait = !state.queue.is_empty();
            if jobs_wait && state.backlog.begun() < expected {
                state.idle -= 1;
                state.coming += 1;
                // Else they have waited for a thread that was coming and has lost its processor, not for long jobs.
                if state.is_relied_on {
                    state.backlog.note_stuck(self.limits.watch);
                }
                break true;
            }
            state.is_watched = state.is_relied_on || jobs_wait;
            state.is_relied_on &= jobs_wait;
            watch = state.is_watched.then(|| Self::expected_by_next_look(state));
            deadline = self.deadline(watch);
        };
        state.is_watched &= watch.is_none();
        is_to_come
    }

    /// How many jobs will have been begun by the watch's next look, unless they take long: those that wait, and at least one.
    fn expected_by_next_look(state: &State<J>) -> u64 {
        state.backlog.begun() + state.queue.len().max(1) as u64
    }

    /// Until when a thread waits.
    fn deadline(&self, watch: Option<u64>) -> Option<Instant> {
        Clock::real().checked_add(if watch.is_some() { self.limits.watch } else { self.limits.keep_alive })
    }

    /// Takes no more jobs, and returns those that are queued. Jobs that run go on.
    #[must_use]
    pub(super) fn close(&self) -> VecDeque<J> {
        let mut state = self.state.lock();
        state.closed = true;
        self.has_job.store(true, Relaxed);
        self.work.notify_all();
        std::mem::take(&mut state.queue)
    }

    /// Waits until no more than so many threads are left. False if that takes longer than the deadline allows.
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

    /// Threads, idle threads, and queued jobs.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let state = self.state.lock();
        // Who looks out is as idle as those that wait, until there is a job for it.
        let looking = usize::from(state.looking_since.is_some() && state.queue.is_empty());
        (state.threads, state.idle + looking, state.queue.len())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
