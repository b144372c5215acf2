//! Where the thread that has the core reads the clock to measure: how long polls take (`poll_times.rs`), how long tasks
//! wait (`followed.rs`), and what it spends its time on. As `multi/measure.rs`, but that nobody searches.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::{Shared, Worker};
use crate::clock::Clock;
use crate::metrics::WorkerState;
use crate::scheduler::poll_times::Polls;
use crate::task::Notified;

impl Worker {
    fn polls(&self) -> Polls {
        (self.counters().polls.get(), self.core.main_polls.get())
    }

    /// An interval of polls is over, or a part of it.
    #[cold]
    pub(super) fn end_part(&self) {
        let now = Clock::real();
        self.end_polls(now);
        if self.core.poll_interval.begin_part(self.core.poll_times.size()) {
            self.look_whom_to_follow(now);
        } else {
            self.maintain(now);
        }
    }

    /// The last poll has ended by now.
    pub(super) fn end_polls(&self, now: Instant) {
        self.core.poll_times.end(now, self.polls(), &self.shared().times);
    }

    /// What the thread did until now was no poll.
    pub(super) fn begin_polls(&self, now: Instant) {
        self.core.poll_times.begin(now, self.polls());
    }

    /// The same, where the clock was not read anyway.
    pub(super) fn begin_polls_now(&self) {
        if self.core.poll_times.is_on() {
            self.begin_polls(Clock::real());
        }
    }

    /// It has slept until now.
    pub(super) fn restart_polls(&self, now: Instant) {
        if self.core.poll_times.is_on() {
            self.core.poll_times.restart(now, self.polls());
            self.core.poll_interval.limit_part_after_sleep(self.core.poll_times.size());
            self.look_whom_to_follow(now);
        }
    }

    /// Polls the main future. Where polls are long, it is measured for itself, so as not to be taken for one of a task.
    pub(super) fn measure_main<T>(&self, poll: impl FnOnce() -> T) -> T {
        let is_alone = self.core.poll_times.size() == 1;
        if is_alone {
            self.end_polls(Clock::real());
        }
        let polled = poll();
        self.core.main_polls.set(self.core.main_polls.get() + 1);
        if is_alone {
            self.end_polls(Clock::real());
        }
        polled
    }

    /// From now on it does that; `None`: its thread leaves the core.
    pub(super) fn turn_to(&self, state: Option<WorkerState>, now: Instant) {
        let shared = self.shared();
        shared.times.turn_to(state, shared.nanos_at(now), self.counters());
    }

    /// Has this thread, and one outside of the runtime, follow the next task that it queues, if that is due.
    pub(super) fn look_whom_to_follow(&self, now: Instant) {
        if self.core.follower.look(now, self.core.poll_times.target()) {
            self.shared().follows_injected.store(true, Relaxed);
        }
    }

    /// Follows a task that is about to be queued, and was counted.
    #[cold]
    pub(super) fn follow(&self, task: &Notified) {
        self.core.follower.has_looked();
        let (shared, queued) = (self.shared(), self.counters().local_schedules.get());
        let stands_for = || self.core.follower.stands_for(queued);
        shared.places.follow(0, task.header(), shared.nanos_at(Clock::real()), stands_for);
    }

    /// A task that is followed is about to be polled.
    #[cold]
    pub(super) fn arrive(&self, task: &Notified) {
        let shared = self.shared();
        shared.places.arrive(task.header(), shared.nanos_at(Clock::real()), &shared.times);
    }
}

impl Shared {
    /// Follows a task that is about to go into the injector.
    #[cold]
    pub(super) fn follow_injected(&self, task: &Notified) {
        self.follows_injected.store(false, Relaxed);
        let stands_for = || self.remote_spawns.schedules_since_followed().max(1);
        self.places.follow(1, task.header(), self.nanos_at(Clock::real()), stands_for);
    }
}
