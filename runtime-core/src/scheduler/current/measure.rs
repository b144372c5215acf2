//! Where the thread that has the core reads the clock to measure: how long polls take (`metrics/poll_times.rs`), how
//! long tasks wait (`followed.rs`), and what it spends its time on. As `multi/measure.rs`, but that nobody searches,
//! and that there are polls of a main future between those of tasks.

use std::sync::atomic::Ordering::Relaxed;

use super::{Shared, Worker};
use crate::clock::Moment;
use crate::metrics::WorkerState;
use crate::scheduler::measure::Measure;
use crate::task::Notified;

impl Worker {
    /// What it measures its polls with.
    pub(super) fn measure(&self) -> Measure<'_> {
        let (poll_interval, poll_times) = (&self.core.poll_interval, &self.core.poll_times);
        Measure { poll_interval, poll_times, counters: self.counters(), times: &self.shared().times }
    }

    /// An interval of polls is over, or a part of it.
    #[cold]
    pub(super) fn end_part(&self) {
        let measure = self.measure();
        let now = measure.end_of_poll();
        measure.end_polls(now);
        if measure.begin_part() {
            self.look_whom_to_follow(now);
        } else {
            self.maintain(now);
        }
    }

    /// It is about to do something else than to poll: for less time, perhaps, than it takes to read the clock twice. So
    /// it is read before only if there was a poll of a task, and after only if there is another one.
    pub(super) fn interrupt_polls(&self) {
        self.measure().end_polls_now();
        self.core.poll_times.interrupt();
    }

    /// It has slept until now.
    pub(super) fn restart_polls(&self, now: Moment) {
        self.measure().restart_polls(now);
        self.look_whom_to_follow(now);
    }

    /// Polls the main future. Where polls are measured one by one it is measured for itself, so as not to be taken for
    /// one of a task.
    pub(super) fn measure_main<T>(&self, poll: impl FnOnce() -> T) -> T {
        let is_alone = self.core.poll_times.size() == 1;
        if is_alone {
            self.measure().end_polls(self.measure().end_of_poll());
        }
        let polled = poll();
        self.core.poll_times.note_other();
        if is_alone {
            self.measure().end_polls(Moment::now());
            self.measure().limit_part_before_tick();
        }
        polled
    }

    /// From now on it does that; `None`: its thread leaves the core.
    pub(super) fn turn_to(&self, state: Option<WorkerState>, now: Moment) {
        self.shared().times.turn_to(state, now);
    }

    /// Has this thread, and one outside of the runtime, follow the next task that it queues, if that is due.
    pub(super) fn look_whom_to_follow(&self, now: Moment) {
        if self.core.follower.look(now, self.core.poll_times.target_nanos(), self.counters().local_schedules.get()) {
            self.shared().follows_injected.store(true, Relaxed);
        }
    }

    /// Follows a task that is about to be queued, and was counted.
    #[cold]
    pub(super) fn follow(&self, task: &Notified) {
        self.core.follower.has_looked();
        let (shared, queued) = (self.shared(), self.counters().local_schedules.get());
        let stands_for = || self.core.follower.stands_for(queued);
        shared.places.follow(0, task.header(), Moment::now(), stands_for);
    }

    /// A task that is followed is about to be polled.
    #[cold]
    pub(super) fn arrive(&self, task: &Notified) {
        let shared = self.shared();
        shared.places.arrive(task.header(), Moment::now(), &shared.times);
    }
}

impl Shared {
    /// Follows a task that is about to go into the injector.
    #[cold]
    pub(super) fn follow_injected(&self, task: &Notified) {
        self.follows_injected.store(false, Relaxed);
        let stands_for = || self.remote_spawns.schedules_since_followed().max(1);
        self.places.follow(1, task.header(), Moment::now(), stands_for);
    }
}
