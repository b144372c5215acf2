//! Where a worker reads the clock to measure: how long polls take (`metrics/poll_times.rs`), how long tasks wait
//! (`followed.rs`), and what it spends its time on. Nothing here is on the path of an ordinary poll, wake or spawn:
//! those only look at a cell that says whether there is anything to do.
//!
//! With [`Config::measure_polls`](crate::runtime::Config) switched off the clock is not read for any of this. What the
//! worker spends its time on is then told by the readings that it makes anyway.

use std::sync::atomic::Ordering::Relaxed;

use super::driver_events::EventBatch;
use super::{Shared, Worker};
use crate::clock::Moment;
use crate::context;
use crate::metrics::WorkerState;
use crate::scheduler::measure::Measure;
use crate::task::Notified;

impl Worker {
    /// What it measures its polls with.
    pub(super) fn measure(&self) -> Measure<'_> {
        let (poll_interval, poll_times) = (&self.poll_interval, &self.poll_times);
        Measure { poll_interval, poll_times, counters: self.counters(), times: &self.slot().times }
    }

    /// An interval of polls is over, or a part of it.
    #[cold]
    pub(super) fn end_part(&self, batch: &mut EventBatch) {
        let measure = self.measure();
        let now = measure.end_of_poll();
        measure.end_polls(now);
        if measure.begin_part() {
            self.look_whom_to_follow(now);
        } else {
            self.maintain(now, batch);
        }
    }

    /// It has slept until now.
    pub(super) fn restart_polls(&self, now: Moment) {
        self.measure().restart_polls(now);
        self.look_whom_to_follow(now);
    }

    /// From now on it does that.
    pub(super) fn turn_to(&self, state: WorkerState, now: Moment) {
        self.slot().times.turn_to(Some(state), now);
    }

    /// Its thread is about to leave the core.
    pub(super) fn turn_to_nothing(&self) {
        let now = Moment::now();
        self.measure().end_polls(now);
        self.slot().times.turn_to(None, now);
    }

    /// It has no work of its own, and looks at others.
    pub(super) fn begin_searching(&self) {
        if self.poll_times.is_on() {
            let now = self.measure().end_of_poll();
            self.measure().end_polls(now);
            self.turn_to(WorkerState::Searching, now);
        }
    }

    /// It has found some. (One that was woken for work counts as busy, until it has looked at others.)
    pub(super) fn end_searching(&self) {
        let is_searching = matches!(self.slot().times.state(), Some((WorkerState::Searching, _)));
        if is_searching && self.poll_times.is_on() {
            let now = Moment::now();
            self.turn_to(WorkerState::Busy, now);
            self.measure().begin_polls(now);
        }
    }

    /// Has this thread, and one outside of the runtime, follow the next task that it queues, if that is due.
    pub(super) fn look_whom_to_follow(&self, now: Moment) {
        let shared = self.shared();
        if self.follower.look(now, self.poll_times.target_nanos(), self.counters().local_schedules.get())
            && !shared.follows_injected.load(Relaxed)
        {
            shared.follows_injected.store(true, Relaxed);
        }
    }

    /// Follows a task that is about to be queued, and was counted.
    #[cold]
    pub(super) fn follow(&self, task: &Notified) {
        self.follower.has_looked();
        let (shared, queued) = (self.shared(), self.counters().local_schedules.get());
        let stands_for = || self.follower.stands_for(queued);
        shared.places.follow(self.core.index, task.header(), Moment::now(), stands_for);
    }

    /// A task that is followed is about to be polled.
    #[cold]
    pub(super) fn arrive(&self, task: &Notified) {
        let shared = self.shared();
        shared.places.arrive(task.header(), Moment::now(), &self.slot().times);
    }
}

impl Shared {
    /// Follows a task that is about to go into the injector.
    #[cold]
    pub(super) fn follow_injected(&self, task: &Notified) {
        self.follows_injected.store(false, Relaxed);
        let number = context::thread_token() % self.remote_spawns.len();
        let stands_for = || self.remote_spawns[number].schedules_since_followed().max(1);
        self.places.follow(self.slots.len() + number, task.header(), Moment::now(), stands_for);
    }
}
