//! [`Measure`]: where a thread that polls tasks reads the clock for the times of its polls (`metrics/poll_times.rs`).
//! What both schedulers have in common; their own files of this name have the rest.

use super::poll_interval::PollInterval;
use crate::clock::Moment;
use crate::metrics::{PollTimes, WorkerCounters, WorkerTimes};
use crate::task::current;

/// What a worker measures its polls with.
#[derive(Clone, Copy)]
pub(super) struct Measure<'a> {
    pub(super) poll_interval: &'a PollInterval,
    pub(super) poll_times: &'a PollTimes,
    pub(super) counters: &'a WorkerCounters,
    pub(super) times: &'a WorkerTimes,
}

impl Measure<'_> {
    /// The polls that the worker has counted.
    fn polls(self) -> u64 {
        self.counters.polls.get()
    }

    /// When the last poll ended: as its harness has read it, or now.
    pub(super) fn end_of_poll(self) -> Moment {
        self.poll_times.end_of(self.polls()).unwrap_or_else(Moment::now)
    }

    /// The part of the interval that has begun ends with a group of polls.
    fn expect_last(self, ticks_before: u32) {
        let polls = self.poll_interval.ticks_of_part().saturating_sub(ticks_before);
        self.poll_times.expect_last(self.polls() + u64::from(polls));
    }

    /// An interval has begun: has its first part end with the group.
    pub(super) fn limit_part(self) {
        self.poll_interval.limit_part(self.poll_times.size());
        self.expect_last(0);
    }

    /// The same, where a tick comes before the next poll.
    pub(super) fn limit_part_before_tick(self) {
        self.poll_interval.limit_part_before_tick(self.poll_times.size());
        self.expect_last(1);
    }

    /// A part of the interval is over. Begins the next one, unless it was the last.
    pub(super) fn begin_part(self) -> bool {
        let has_begun = self.poll_interval.begin_part(self.poll_times.size());
        if has_begun {
            self.expect_last(0);
        }
        has_begun
    }

    /// The last poll has ended at that time, and the next one begins then if it is not said otherwise. The next group
    /// may have another size: before the next poll of a task its part is to be limited, or another one begun.
    pub(super) fn end_polls(self, now: Moment) {
        self.note_clock(now);
        self.poll_times.end(now, self.polls(), self.times);
    }

    /// The same, before the worker does anything else than to poll, if it has polled anything.
    pub(super) fn end_polls_now(self) {
        if self.poll_times.has_begun(self.polls()) {
            self.end_polls(self.end_of_poll());
        }
    }

    /// What the worker did until now was no poll. It has a task in hand, or is about to take one without a tick.
    pub(super) fn begin_polls(self, now: Moment) {
        self.note_clock(now);
        self.poll_times.begin(now, self.polls());
        self.limit_part();
    }

    /// The same, where a tick comes before the next poll.
    pub(super) fn begin_polls_with_tick(self, now: Moment) {
        self.note_clock(now);
        self.poll_times.begin(now, self.polls());
        self.limit_part_before_tick();
    }

    /// It has slept until now.
    pub(super) fn restart_polls(self, now: Moment) {
        self.poll_times.restart(now, self.polls());
        self.begin_polls_with_tick(now);
    }

    /// The worker's thread knows the time.
    fn note_clock(self, now: Moment) {
        current::set_time_here(now);
        self.times.note_clock(now);
    }
}
