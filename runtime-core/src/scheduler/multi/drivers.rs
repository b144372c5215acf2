//! What a worker does with the drivers: polls them in passing, queues the tasks that they wake, and calls the wakers
//! that are not of tasks when it has given the drivers back. (Sleeping in them is in `rest.rs`.)
//!
//! # What runs while a thread has the drivers
//!
//! Nothing of a user's: it could block, and nobody else could look after the drivers meanwhile. Wakers that are not of
//! tasks, and the events that tell the observer of woken tasks, wait until the drivers have been given back. So do
//! wakers of other runtimes' tasks, if those runtimes have observers: such a wake tells the observer at once.

use std::task::Waker;

use super::Worker;
use crate::events::{Observer, TaskEventKind, emit};
use crate::task::Notified;

/// What the drivers wake is queued in parts of so many.
const BATCH: usize = 128;

impl Worker {
    /// Looks after the drivers, unless another thread does, and queues what they wake.
    pub(super) fn poll_drivers(&self) {
        self.collecting.set(true);
        if self.shared().driver.poll() {
            self.counters().driver_polls.add(1);
        }
        self.collecting.set(false);
        self.queue_batch();
        self.call_foreign_wakers();
    }

    /// Takes up a task that the drivers woke. A batch that grows long is queued in parts, so that others can begin with
    /// it.
    pub(super) fn collect_one(&self, task: Notified) {
        // SAFETY: only this thread gets here, and nothing else borrows the batches meanwhile.
        let (batch, first) = unsafe { (&mut *self.batch.get(), &mut *self.first.get()) };
        let batch = if self.delivering_first.get() { first } else { batch };
        batch.push(task);
        // An observer must hear of them first, and not yet.
        if batch.len() == BATCH && self.runtime.observer.is_none() {
            // If it slept in the drivers: others do not look at the lanes of workers that sleep.
            self.slot().current.rest(false);
            self.queue_batch();
        }
    }

    /// Queues what the drivers have woken.
    pub(super) fn queue_batch(&self) {
        // SAFETY: as in `collect_one`.
        let (batch, first) = unsafe { (&mut *self.batch.get(), &mut *self.first.get()) };
        if batch.is_empty() && first.is_empty() {
            return;
        }
        if let Some(observer) = &self.runtime.observer {
            return self.tell_and_queue(observer, std::mem::take(batch), std::mem::take(first));
        }
        batch.drain(..).for_each(|task| self.core.lanes.push_event(task));
        first.drain(..).for_each(|task| self.core.lanes.push_due(task));
        self.offer_surplus();
    }

    /// The same, with an observer, who may do as it likes: should it block, it holds up what it has not been told of
    /// yet.
    #[cold]
    fn tell_and_queue(&self, observer: &Observer, batch: Vec<Notified>, first: Vec<Notified>) {
        debug_assert!(!self.collecting.get(), "the drivers have been given back");
        // The observer may block, and this worker may have got up just now.
        self.shared().monitor.wake_if_asleep();
        self.stop_searching();
        self.slot().current.calls_foreign();
        let tell = |task: &Notified| emit(Some(observer), task.task(), TaskEventKind::Woken);
        for task in batch {
            tell(&task);
            self.core.lanes.push_event(task);
            self.offer_surplus();
        }
        for task in first {
            tell(&task);
            self.core.lanes.push_due(task);
            self.offer_surplus();
        }
        self.slot().current.polls_nothing();
    }

    /// Keeps a foreign waker for later if this thread has the drivers now; else gives it back.
    pub(crate) fn defer_wake(&self, waker: Waker) -> Option<Waker> {
        if !self.collecting.get() {
            return Some(waker);
        }
        self.shared().foreign_wakers.push(waker);
        None
    }

    /// Calls the foreign wakers that the drivers have had. Nobody waits for this thread: it is up, the drivers are
    /// free, and what they woke is queued. Should one block, others come for the rest.
    pub(super) fn call_foreign_wakers(&self) {
        let shared = self.shared();
        if !shared.foreign_wakers.is_empty() {
            self.stop_searching();
            self.slot().current.calls_foreign();
            shared.call_foreign_wakers(|| self.counters().foreign_wakes.add(1));
            self.slot().current.polls_nothing();
        }
    }

    /// Foreign code is about to be called, which may block: nobody must rely on this worker as on one that searches.
    pub(super) fn stop_searching(&self) {
        if self.searching.get() {
            self.stop_search();
        }
    }

    /// Runs something that wakes tasks which have precedence here.
    pub(crate) fn deliver_first(&self, wake: impl FnOnce()) {
        self.delivering_first.set(true);
        // The drivers contain the panics of wakers.
        wake();
        self.delivering_first.set(false);
    }
}
