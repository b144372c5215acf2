//! [`PollTimes`]: how long polls take, measured at a bounded cost.
//!
//! To read the clock takes longer than to poll a task that just yields. So a worker reads it once in a *group* of polls,
//! and the end of one group is the beginning of the next. How many polls a group has depends on how long they take: as
//! many as it needs for reading the clock to take no more than a [share](CLOCK_SHARE) of the time. Polls that take that
//! long each (some microseconds) are measured one by one. What a reading costs is measured as well, once a process.
//!
//! # What a group says of its polls
//!
//! - A group of one poll is that poll, to the nanosecond, with what the worker did to get at it.
//! - A group that took about as long as it was expected to: each of its polls counts as an equal part.
//! - One that took much longer: one of its polls counts as the whole time, the others as what was usual before. That is
//!   what it mostly is: a long one among short ones. So no long poll is missed, and none counts as shorter than it was.
//!   If several were long they count as one that was longer than each: once, for the next group has one poll, and
//!   groups grow by and by.
//!
//! Polls of futures that are no tasks (the main one, on a current-thread runtime) are part of a group, but not counted.
//! (So a long one may count as one of a task, once.)
//!
//! Each poll is counted once: those of the group at hand when it ends, which is when the worker has run out of work at
//! the latest. The time between two polls counts to the later one, but not that which the worker has spent with the
//! drivers, looking for work, or asleep.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::metrics::{WorkerTimes, nanos};
use crate::primitive::OnceLock;

/// Of the time of a worker that is busy reading the clock takes no more than one part in this number.
const CLOCK_SHARE: u64 = 200;

/// How long reading the clock takes, in nanoseconds.
pub(super) fn clock_cost() -> u64 {
    static COST: OnceLock<u64> = OnceLock::new();
    *COST.get_or_init(|| {
        // The fastest of some: the others were disturbed.
        const READINGS: u32 = 16;
        let time = || {
            let began = Clock::real();
            let last = (0..READINGS).fold(began, |_, _| std::hint::black_box(Clock::real()));
            nanos(last.saturating_duration_since(began)) / u64::from(READINGS)
        };
        (0..4).map(|_| time()).min().unwrap_or(0).max(1)
    })
}

/// How many polls a worker is to have until it reads the clock again, if the last `polls` took that long in all, and
/// `size` was meant to be as many as take `target`.
fn next_size(size: u32, polls: u32, took: u64, target: u64) -> u32 {
    let fits = u64::from(polls).saturating_mul(target) / took.max(1);
    let fits = u32::try_from(fits).unwrap_or(u32::MAX).max(1);
    // At once if they turn out to be longer. Else step by step, and only by what a whole group says: short polls come in
    // runs, and a long group is one in which long polls cannot be told apart.
    if fits <= size || polls < size { fits.min(size) } else { fits.min(size.saturating_mul(2)) }
}

/// How many polls a worker has counted: of tasks, and of futures that are no tasks.
pub(super) type Polls = (u64, u64);

/// See the module. What a worker's thread needs for it; the results are in its [`WorkerTimes`].
#[derive(Debug)]
pub(super) struct PollTimes {
    /// How long a group is to take, in nanoseconds. `None`: nothing is measured.
    target: Option<u64>,
    /// When the group began, and how many polls the worker had counted then.
    began: Cell<Option<Instant>>,
    before: Cell<Polls>,
    /// How many polls it is to have.
    size: Cell<u32>,
    /// How long a poll took in the last group that took as long as expected, in nanoseconds.
    usual: Cell<u64>,
}

impl PollTimes {
    pub(super) fn new(is_on: bool) -> Self {
        Self::with_target(is_on.then(|| clock_cost() * CLOCK_SHARE))
    }

    fn with_target(target: Option<u64>) -> Self {
        let size = Cell::new(if target.is_some() { 1 } else { u32::MAX });
        let (began, before, usual) = Default::default();
        Self { target, began, before, size, usual }
    }

    /// Whether polls are measured.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.target.is_some()
    }

    /// How long a group is to take.
    pub(super) fn target(&self) -> Option<Duration> {
        self.target.map(Duration::from_nanos)
    }

    /// How many polls the group at hand is to have.
    #[inline]
    pub(super) fn size(&self) -> u32 {
        self.size.get()
    }

    /// The worker begins a poll now, or soon, and has counted `polls` so far. What it did since the last group ended was
    /// no poll.
    pub(super) fn begin(&self, now: Instant, polls: Polls) {
        if self.is_on() {
            self.began.set(Some(now));
            self.before.set(polls);
        }
    }

    /// The worker has slept: of the first poll it is not known how long such polls take.
    pub(super) fn restart(&self, now: Instant, polls: Polls) {
        if self.is_on() {
            self.size.set(1);
            self.begin(now, polls);
        }
    }

    /// The last poll has ended, and the next group begins.
    pub(super) fn end(&self, now: Instant, polls: Polls, times: &WorkerTimes) {
        let Some(target) = self.target else { return };
        let began = self.began.replace(Some(now));
        let before = self.before.replace(polls);
        let tasks = polls.0.wrapping_sub(before.0);
        let polls = tasks + polls.1.wrapping_sub(before.1);
        let Some(began) = began.filter(|_| polls > 0) else { return };
        let took = nanos(now.saturating_duration_since(began));
        let mean = took / polls;
        if tasks > 0 {
            if polls == 1 || took < 2 * target {
                times.polls.add(mean, tasks);
                self.usual.set(mean);
            } else {
                times.polls.add(took, 1);
                times.polls.add(self.usual.get().min(mean), tasks - 1);
            }
            times.note_mean_poll(mean);
        }
        self.size.set(next_size(self.size.get(), u32::try_from(polls).unwrap_or(u32::MAX), took, target));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const TARGET: u64 = 4_000;

    /// Has a group end, of polls that take that long each. How many it has had.
    fn group(poll_times: &PollTimes, times: &WorkerTimes, at: &mut (Instant, u64), poll: impl Fn(u32) -> u64) -> u32 {
        let size = poll_times.size();
        at.0 += Duration::from_nanos((0..size).map(poll).sum());
        at.1 += u64::from(size);
        poll_times.end(at.0, (at.1, 0), times);
        size
    }

    fn new() -> (PollTimes, WorkerTimes, (Instant, u64)) {
        let (poll_times, now) = (PollTimes::with_target(Some(TARGET)), Clock::real());
        poll_times.begin(now, (0, 0));
        (poll_times, WorkerTimes::default(), (now, 0))
    }

    #[test]
    fn short_polls_are_measured_in_groups_that_take_the_time_that_reading_the_clock_is_worth() {
        let (poll_times, times, mut at) = new();
        let sizes: Vec<_> = (0..10).map(|_| group(&poll_times, &times, &mut at, |_| 100)).collect();
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 40, 40, 40, 40]);
        let polls = times.polls.read();
        assert_eq!((polls.count(), polls.buckets()[6]), (at.1, at.1), "all are in the bucket from 64 to 128 ns");
        // No shorter than the clock can tell.
        group(&poll_times, &times, &mut at, |_| 0);
        assert_eq!(poll_times.size(), 80);
        assert_eq!(times.polls.read().buckets()[0], 40);
    }

    #[test]
    fn long_polls_are_measured_one_by_one() {
        let (poll_times, times, mut at) = new();
        for _ in 0..100 {
            assert_eq!(group(&poll_times, &times, &mut at, |_| 5_000), 1);
        }
        assert_eq!(times.polls.read().buckets()[12], 100);
        assert_eq!(times.mean_poll(), 5_000);
    }

    #[test]
    fn the_size_follows_from_how_long_polls_take() {
        // Longer polls: at once. (So many as fit, and one at least.)
        assert_eq!(next_size(40, 40, 8_000, TARGET), 20);
        assert_eq!(next_size(40, 40, 1_000_000, TARGET), 1);
        assert_eq!(next_size(1, 1, u64::MAX, TARGET), 1);
        // Shorter ones: twice as many at most.
        assert_eq!(next_size(40, 40, 1_000, TARGET), 80);
        assert_eq!(next_size(40, 40, 3_200, TARGET), 50);
        assert_eq!(next_size(u32::MAX, u32::MAX, 0, TARGET), u32::MAX);
        // A group that was cut short says nothing about more polls than it had,
        assert_eq!(next_size(40, 2, 10, TARGET), 40);
        // but may say that they are long.
        assert_eq!(next_size(40, 2, 8_000, TARGET), 1);
    }

    #[test]
    fn a_long_poll_among_short_ones_is_found() {
        let (poll_times, times, mut at) = new();
        for _ in 0..10 {
            group(&poll_times, &times, &mut at, |_| 100);
        }
        let before = times.polls.read().count();
        let size = group(&poll_times, &times, &mut at, |poll| if poll == 7 { 2_000_000 } else { 100 });
        assert_eq!(size, 40);
        let polls = times.polls.read();
        assert_eq!(polls.buckets()[20], 1, "2 ms");
        assert_eq!((polls.buckets()[6], polls.count()), (before + 39, before + 40));
        assert_eq!(poll_times.size(), 1, "there may be more");
    }

    #[test]
    fn what_is_no_poll_does_not_count() {
        let (poll_times, times, (mut now, polls)) = new();
        now += Duration::from_secs(1);
        poll_times.end(now, (polls, 0), &times);
        assert_eq!(times.polls.read().count(), 0);
        now += Duration::from_secs(1);
        poll_times.restart(now, (polls, 0));
        poll_times.end(now + Duration::from_nanos(3), (polls + 1, 0), &times);
        assert_eq!((times.polls.read().buckets()[1], times.polls.read().count()), (1, 1));
    }

    #[test]
    fn polls_of_what_is_no_task_do_not_count_but_are_no_part_of_others() {
        let (poll_times, times, (now, _)) = new();
        poll_times.end(now + Duration::from_secs(1), (0, 1), &times);
        assert_eq!((times.polls.read().count(), times.mean_poll(), poll_times.size()), (0, 0, 1));
        poll_times.end(now + Duration::from_secs(1) + Duration::from_nanos(400), (1, 4), &times);
        assert_eq!((times.polls.read().buckets()[6], times.polls.read().count()), (1, 1), "100 ns");
    }

    #[test]
    fn switched_off_it_measures_nothing() {
        let (poll_times, times, now) = (PollTimes::new(false), WorkerTimes::default(), Clock::real());
        poll_times.begin(now, (0, 0));
        poll_times.restart(now, (0, 0));
        poll_times.end(now + Duration::from_secs(1), (1, 0), &times);
        assert_eq!((times.polls.read().count(), times.mean_poll(), poll_times.size()), (0, 0, u32::MAX));
        assert_eq!(poll_times.target(), None);
    }

    #[test]
    fn reading_the_clock_costs_something() {
        assert!(clock_cost() > 0);
    }
}
