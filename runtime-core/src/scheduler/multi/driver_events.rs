//! What a worker does with the drivers: polls them in passing, queues the tasks that they wake, and calls all other
//! wakers when it has given the drivers back. (Sleeping in them is in `park_worker.rs`.)
//!
//! The worker's loop owns an [`EventBatch`] and lends it to each visit to the drivers. There a [`Collector`] takes
//! every waker that the drivers hand over. A task of this runtime is woken at once, that is, its state is changed;
//! the worker queues it with the rest of the batch, with one notification, when it has given the drivers back.
//!
//! # What runs while a thread has the drivers
//!
//! Nothing of a user's: it could block, and nobody else could look after the drivers meanwhile. Three things wait until
//! the drivers have been given back: the word of each task that was woken to the listeners and to a subscriber of
//! `tracing`, and the wakers that are not of this runtime's tasks. (Those of another runtime's tasks are among these:
//! its observer would hear of the wake at once.) The flight recorder is no user's. It writes a batch of wakes down as
//! one moment's, just before they are queued.

use std::task::Waker;

use super::Worker;
use crate::driver::WakeSink;
use crate::events::{Listeners, TaskEventKind};
use crate::scheduler::is_task_of;
use crate::task::waker_events::Untold;
use crate::task::{self, Notified};

/// What the drivers wake is queued in parts of this many tasks.
const MAX_EVENT_BATCH: usize = 128;

/// Tasks that the drivers have woken and that are not queued yet, in the order of their events. Empty between two
/// visits to the drivers, and kept for its memory.
#[derive(Debug, Default)]
pub(super) struct EventBatch {
    events: Vec<Notified>,
    timers: Vec<Notified>,
    /// Of all that were woken, queued or not.
    untold: Untold,
}

impl EventBatch {
    fn len(&self) -> usize {
        self.events.len() + self.timers.len()
    }

    fn all(&self) -> impl Iterator<Item = &Notified> + Clone {
        self.events.iter().chain(&self.timers)
    }

    /// One of the tasks; `number` may be any.
    fn any(&self, number: u64) -> Option<&Notified> {
        let at = number as usize % self.len().max(1);
        self.events.get(at).or_else(|| self.timers.get(at - self.events.len()))
    }
}

/// Takes what the drivers wake, while the worker has them.
pub(super) struct Collector<'a> {
    pub(super) worker: &'a Worker,
    pub(super) batch: &'a mut EventBatch,
}

impl WakeSink for Collector<'_> {
    fn event(&mut self, waker: Waker) {
        if let Some(task) = self.worker.take_woken(waker, &mut self.batch.untold) {
            self.batch.events.push(task);
            self.queue_part();
        }
    }

    fn timer(&mut self, waker: Waker) {
        if let Some(task) = self.worker.take_woken(waker, &mut self.batch.untold) {
            self.batch.timers.push(task);
            self.queue_part();
        }
    }
}

impl Collector<'_> {
    /// A batch that grows long is queued in parts, so that others can begin with it.
    #[inline]
    fn queue_part(&mut self) {
        // Who listens must hear of them first, and not yet.
        let listeners = || self.worker.runtime.events.listeners_to(TaskEventKind::Woken);
        let is_heard = || listeners().is_some() || !self.batch.untold.is_empty();
        if self.batch.len() >= MAX_EVENT_BATCH && !is_heard() {
            // If it slept in the drivers: others do not look at the queues of workers that sleep.
            self.worker.slot().activity.set_parked(false);
            self.worker.queue_batch(self.batch);
        }
    }
}

impl Worker {
    /// Looks after the drivers, unless another thread does, and queues what they wake.
    pub(super) fn poll_drivers(&self, batch: &mut EventBatch) {
        if let Some(has_left) = self.shared().driver.poll(&mut Collector { worker: self, batch }) {
            self.counters().driver_polls.add(1);
            self.poll_interval.note_turn(has_left);
        }
        self.queue_batch(batch);
        self.call_external_wakers();
        // All of that came after the wakes that were recorded.
        self.record_passing();
    }

    /// Wakes a task of this runtime, and returns it if it is to be queued. Keeps any other waker for when the drivers
    /// have been given back.
    #[inline]
    fn take_woken(&self, waker: Waker, untold: &mut Untold) -> Option<Notified> {
        let mut heard = None;
        match task::wake_own(waker, |task| is_task_of(task, self.runtime()), |task| heard = Some(task)) {
            Ok(Some(task)) => {
                self.counters().local_schedules.add(1);
                heard.into_iter().for_each(|_| untold.note_queued());
                Some(task)
            }
            Ok(None) => {
                heard.into_iter().for_each(|task| untold.note_idle(task));
                None
            }
            Err(waker) => {
                self.shared().external_wakers.push(waker);
                None
            }
        }
    }

    /// Queues what the drivers have woken.
    pub(super) fn queue_batch(&self, batch: &mut EventBatch) {
        if batch.len() == 0 && batch.untold.is_empty() {
            return;
        }
        // Not the first, which waits for the shortest time.
        if self.follower.wants(self.counters().local_schedules.get())
            && let Some(task) = batch.any(self.counters().polls.get())
        {
            self.follow(task);
        }
        if let Some(events) = self.runtime.events.heard() {
            events.record_wakes(self.lane(), batch.all().map(Notified::task));
        }
        let listeners = self.runtime.events.listeners_to(TaskEventKind::Woken);
        if listeners.is_some() || !batch.untold.is_empty() {
            return self.tell_and_queue(listeners, batch);
        }
        batch.events.drain(..).for_each(|task| self.core.run_queue.push_event(task));
        batch.timers.drain(..).for_each(|task| self.core.run_queue.push_timer(task));
        self.offer_surplus();
    }

    /// The same, where listeners or a subscriber of `tracing` hear of it, who may do as it likes: should it block, it
    /// holds up what it has not been told of yet. The drivers have been given back.
    #[cold]
    fn tell_and_queue(&self, listeners: Option<&Listeners>, batch: &mut EventBatch) {
        // A listener may block, and this worker may have woken up just now.
        self.shared().monitor.wake_if_asleep();
        self.stop_searching();
        self.slot().activity.calls_user_code();
        let tells_wakes = !batch.untold.is_empty();
        batch.untold.tell_idle();
        let tell = |task: &Notified| {
            if tells_wakes {
                task::hear_wake(task.task().header().id());
            }
            if let Some(listeners) = listeners {
                listeners.tell(task.task(), TaskEventKind::Woken);
            }
        };
        for task in batch.events.drain(..) {
            tell(&task);
            self.core.run_queue.push_event(task);
            self.offer_surplus();
        }
        for task in batch.timers.drain(..) {
            tell(&task);
            self.core.run_queue.push_timer(task);
            self.offer_surplus();
        }
        self.slot().activity.polls_nothing();
    }

    /// Calls the external wakers that were kept while a worker had the drivers. Nobody waits for this thread: it is
    /// awake, the drivers are free, and what they woke is queued. Should one block, others come for the rest.
    /// Whether there were any.
    pub(super) fn call_external_wakers(&self) -> bool {
        let shared = self.shared();
        let any = !shared.external_wakers.is_empty();
        if any {
            self.measure().end_polls_now();
            self.stop_searching();
            self.slot().activity.calls_user_code();
            shared.call_external_wakers(|| self.counters().foreign_wakes.add(1));
            self.slot().activity.polls_nothing();
        }
        any
    }
}
