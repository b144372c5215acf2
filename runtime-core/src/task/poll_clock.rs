//! [`PollClock`]: how the harness of a task comes to know how long a poll took, for the task's record.
//!
//! It is handed over with the rest of the [`Runner`](super::Runner). When the clock is read, and what a poll is charged
//! with, says `metrics/poll_times.rs`.

use super::current;
use crate::clock::Moment;
use crate::metrics::{PollTimes, WorkerCounters, WorkerTimes};

/// See the module.
pub(crate) struct PollClock<'a> {
    /// What the worker has counted, the poll at hand included.
    pub(crate) counters: &'a WorkerCounters,
    pub(crate) times: &'a WorkerTimes,
    pub(crate) poll_times: &'a PollTimes,
}

#[cfg_attr(loom, allow(dead_code))] // models do not inspect
impl PollClock<'_> {
    /// The future has returned, and the task goes on. What the poll is charged with, in nanoseconds.
    #[inline]
    pub(super) fn end_poll(&self) -> u64 {
        let poll = self.counters.polls.get();
        if self.poll_times.is_last(poll) || self.times.watch.has_found(poll) {
            self.read(poll)
        } else {
            self.poll_times.usual()
        }
    }

    #[cold]
    fn read(&self, poll: u64) -> u64 {
        if !self.poll_times.is_on() {
            return 0;
        }
        let now = self.read_clock();
        let took = if self.poll_times.is_last(poll) { self.poll_times.note_end(now, poll) } else { None };
        took.unwrap_or_else(|| {
            // At least so long, if the monitor has found it.
            let found = self.times.watch.found(poll).map_or(0, |found| now.nanos_since(found));
            self.poll_times.usual().max(found)
        })
    }

    /// What the clock says. It is known where the time of the poll at hand is told, too.
    fn read_clock(&self) -> Moment {
        let now = Moment::now();
        current::set_time_here(now);
        self.times.note_clock(now);
        now
    }

    /// The poll goes on, although it was said to have ended: its future is dropped.
    pub(super) fn take_back_end(&self) {
        self.poll_times.take_back_end();
    }

    /// Calls a listener of the runtime, before the poll or at its end: that belongs to no poll.
    #[cold]
    pub(super) fn leave_out(&self, is_before_poll: bool, observe: impl FnOnce()) {
        if !self.poll_times.is_on() {
            return observe();
        }
        if !self.poll_times.is_one_by_one() {
            // For the end of a task: in the middle of a group.
            let before = Moment::now();
            observe();
            return self.poll_times.leave_out(self.read_clock().nanos_since(before));
        }
        let poll = self.counters.polls.get();
        if !is_before_poll && self.poll_times.is_last(poll) && self.poll_times.end_of(poll).is_none() {
            _ = self.poll_times.note_end(Moment::now(), poll);
        }
        observe();
        if is_before_poll && !self.poll_times.has_begun(poll - 1) {
            self.poll_times.begin(self.read_clock(), poll - 1);
        }
    }
}
