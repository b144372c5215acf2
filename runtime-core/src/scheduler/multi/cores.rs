//! [`Cores`]: which thread has which core, and how far shutdown has come.
//!
//! A *core* is the private side of a worker: its ends of the queues, its parker, its random numbers. Every core is in
//! one of two places: with a thread, which is then a worker, a `block_on` thread or a spare worker; or *vacant*, in
//! here. All under one lock, which is taken when a thread begins or ends to be one of these, or begins to block in
//! place, and never between two polls.
//!
//! Once the runtime closes no core is given out any more, and the thread that puts the last one down gets them all: it
//! is the one that *ends* the scheduler (`shutdown.rs`).
//!
//! A thread that begins to block in place (`block_in_place.rs`) keeps its core, but lends it: until it is back it does
//! not touch it. If the scheduler is ended meanwhile, which does not wait for it, it has no core any more when it comes
//! back; but a thread that waits for the runtime's end waits for that thread, too.

#![expect(clippy::vec_box, reason = "a core stays in one place while it changes hands")]

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::Core;
use crate::clock::Clock;
use crate::primitive::waiting::{Condvar, Mutex};
use crate::runtime::Thread;

/// The vacant cores, the number of those in use, and the stage that shutdown has reached.
pub(super) struct Cores {
    state: Mutex<State>,
    finished: Condvar,
    /// Cores below this index are for workers.
    workers: usize,
    /// Cores from this index on are for spare workers; those between for `block_on` threads.
    spares_from: usize,
    /// One more than the highest number of a spare worker whose core is with a thread: so far others look for queues.
    spares_in_use: AtomicUsize,
}

struct State {
    /// Cores of workers and `block_on` threads without a thread: at first all, then the `block_on` threads', at the end
    /// all again.
    vacant: Vec<Box<Core>>,
    /// The cores of all spare workers that were ever needed at once, by number; `None` if a thread has it.
    spares: Vec<Option<Box<Core>>>,
    /// Cores with a thread that uses them.
    active: usize,
    /// Threads that have lent their cores.
    blocking_in_place: usize,
    closing: bool,
    /// Somebody has got all cores, to end the scheduler.
    ending: bool,
    finished: bool,
    threads: Vec<Thread>,
}

/// All cores, when no thread has one any more.
pub(super) struct AllCores {
    vacant: Vec<Box<Core>>,
    spares: Vec<Option<Box<Core>>>,
}

impl AllCores {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Core> {
        self.vacant.iter().chain(self.spares.iter().flatten()).map(|core| &**core)
    }
}

impl State {
    /// All cores, for the thread that is to end the scheduler, if it is time.
    fn take_all(&mut self) -> Option<AllCores> {
        if !self.closing || self.active > 0 || std::mem::replace(&mut self.ending, true) {
            return None;
        }
        Some(AllCores { vacant: std::mem::take(&mut self.vacant), spares: std::mem::take(&mut self.spares) })
    }
}

impl Cores {
    pub(super) fn new(vacant: Vec<Box<Core>>, workers: usize) -> Self {
        let spares_from = vacant.len();
        let state = State {
            vacant,
            spares: Vec::new(),
            active: 0,
            blocking_in_place: 0,
            closing: false,
            ending: false,
            finished: false,
            threads: Vec::new(),
        };
        let spares_in_use = AtomicUsize::new(0);
        Self { state: Mutex::new(state), finished: Condvar::new(), workers, spares_from, spares_in_use }
    }

    /// A core for the thread of a worker, at the start.
    pub(super) fn take_for_worker(&self) -> Box<Core> {
        let mut state = self.state.lock();
        state.active += 1;
        let at = state.vacant.iter().position(|core| core.index < self.workers);
        state.vacant.swap_remove(at.expect("there is a core for each worker"))
    }

    /// A core for a `block_on` thread.
    pub(super) fn take_for_block_on(&self) -> Option<Box<Core>> {
        let mut state = self.state.lock();
        if state.closing {
            return None;
        }
        // Not one of a worker whose thread is yet to start.
        let at = state.vacant.iter().position(|core| core.index >= self.workers)?;
        state.active += 1;
        Some(state.vacant.swap_remove(at))
    }

    /// A core for a spare worker: the vacant one with the lowest number, so that those in use stay close together. Has
    /// one made, for this number, if there is none and there may be more. (There may be none, though not so many spares
    /// run: one that retires does not count any more some time before it has put its core down.)
    pub(super) fn take_for_spare(&self, limit: usize, make: impl FnOnce(usize) -> Box<Core>) -> Option<Box<Core>> {
        let mut state = self.state.lock();
        if state.closing {
            return None;
        }
        let (number, core) = match state.spares.iter().position(Option::is_some) {
            Some(number) => (number, state.spares[number].take()?),
            None if state.spares.len() == limit => return None,
            None => {
                let number = state.spares.len();
                state.spares.push(None);
                (number, make(number))
            }
        };
        state.active += 1;
        self.spares_in_use.fetch_max(number + 1, Relaxed);
        Some(core)
    }

    /// Spare workers from this number on are not in use. (One that has just begun may not be counted yet. A thread that
    /// relies on a look at its queues has passed a fence after that one did, and sees it.)
    #[inline]
    pub(super) fn spares_in_use(&self) -> usize {
        self.spares_in_use.load(Relaxed)
    }

    /// A thread puts its core down. All of them, if that was the last, at shutdown.
    pub(super) fn put_down(&self, core: Box<Core>) -> Option<AllCores> {
        let mut state = self.state.lock();
        match core.index.checked_sub(self.spares_from) {
            None => state.vacant.push(core),
            Some(number) => {
                state.spares[number] = Some(core);
                let in_use = state.spares.iter().rposition(Option::is_none).map_or(0, |last| last + 1);
                self.spares_in_use.store(in_use, Relaxed);
            }
        }
        state.active -= 1;
        state.take_all()
    }

    /// A thread lends its core. All of them, if that was the last one in use, at shutdown.
    pub(super) fn begin_block_in_place(&self) -> Option<AllCores> {
        let mut state = self.state.lock();
        state.blocking_in_place += 1;
        state.active -= 1;
        state.take_all()
    }

    /// The thread wants its core back. False if the scheduler has been ended: then the core is of no use any more, and
    /// the thread says so when it has done with its poll ([`leave_without_core`](Self::leave_without_core)).
    #[must_use]
    pub(super) fn end_block_in_place(&self) -> bool {
        let mut state = self.state.lock();
        if !state.ending {
            state.blocking_in_place -= 1;
            state.active += 1;
        }
        !state.ending
    }

    /// A thread that did not get its core back is done.
    pub(super) fn leave_without_core(&self) {
        self.state.lock().blocking_in_place -= 1;
        self.finished.notify_all();
    }

    /// Begins to close: no core is given out from here on. False if that has happened before. `begin` is called under
    /// the lock; the cores are returned if no thread has one.
    pub(super) fn close(&self, begin: impl FnOnce()) -> (bool, Option<AllCores>) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.closing, true) {
            return (false, None);
        }
        begin();
        (true, state.take_all())
    }

    /// Calls the closure if the core of a slot is vacant, and keeps it so meanwhile. Returns whether it was.
    pub(super) fn visit_vacant(&self, slot: usize, f: impl FnOnce()) -> bool {
        let state = self.state.lock();
        let vacant = match slot.checked_sub(self.spares_from) {
            None => state.vacant.iter().any(|core| core.index == slot),
            Some(number) => state.spares.get(number).is_some_and(Option::is_some),
        };
        if vacant {
            f();
        }
        vacant
    }

    /// A thread to be joined at the end. Those that were added first are joined first.
    pub(super) fn add_thread(&self, thread: Thread) {
        self.state.lock().threads.push(thread);
    }

    /// The scheduler has come to its end.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock();
        state.finished = true;
        self.finished.notify_all();
    }

    /// Waits for the end, and until at most `blocking_in_place` threads block in place. The threads to join, or `None`
    /// if it takes longer than the limit.
    pub(super) fn wait_finished(&self, blocking_in_place: usize, limit: Option<Duration>) -> Option<Vec<Thread>> {
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        let mut state = self.state.lock();
        let is_over = |state: &State| state.finished && state.blocking_in_place <= blocking_in_place;
        while !is_over(&state) {
            match deadline {
                None => self.finished.wait(&mut state),
                Some(deadline) => {
                    if self.finished.wait_until(&mut state, deadline).timed_out() && !is_over(&state) {
                        return None;
                    }
                }
            }
        }
        Some(std::mem::take(&mut state.threads))
    }
}
