//! How often a busy thread looks after the drivers.
//!
//! Polling the drivers costs a system call; not polling them makes sockets and timers late. Counting polls alone gets
//! one of the two wrong: sixty polls may take a microsecond or a second. So the interval is a number of polls, at most
//! `event_interval`, which shrinks when polls are long so that the drivers are looked after every [`TARGET`] or so;
//! and when polls are so short that the interval passes in less than [`TOO_SOON`], the system call is left out.
//! Reading the clock is paid once an interval, or once for each poll that is long enough not to notice. (A worker of several may
//! leave its turn to another: `multi/drivers.rs`.)

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long sockets and timers may go unattended while tasks run, unless a single poll takes longer.
const TARGET: Duration = Duration::from_micros(200);
/// The drivers are not polled again before this has passed.
const TOO_SOON: Duration = Duration::from_micros(20);

/// Whether to look after the drivers at the end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    TooSoon,
    Due,
    /// Somebody has asked this very thread to.
    Called,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Pacing {
    longest: u32,
    interval: Cell<u32>,
    left: Cell<u32>,
    /// When the current interval began.
    since: Cell<Option<Instant>>,
    /// When the drivers last had their turn.
    polled: Cell<Option<Instant>>,
    is_called: Cell<bool>,
    /// How long a poll took in the last interval that was measured, in nanoseconds.
    poll_time: Cell<u64>,
}

impl Pacing {
    pub(crate) fn new(longest: u32) -> Self {
        let longest = longest.max(1);
        Self {
            longest,
            interval: Cell::new(longest),
            left: Cell::new(longest),
            since: Cell::new(None),
            polled: Cell::new(None),
            is_called: Cell::new(false),
            poll_time: Cell::new(0),
        }
    }

    /// Counts one poll of a task. True when it is time to look after the drivers, perhaps.
    #[inline]
    pub(crate) fn tick(&self) -> bool {
        let left = self.left.get();
        if left > 1 {
            self.left.set(left - 1);
            false
        } else {
            true
        }
    }

    /// How long a poll takes about, in nanoseconds.
    pub(crate) fn poll_time(&self) -> u64 {
        self.poll_time.get()
    }

    /// The interval is over with the poll at hand, whatever it has come to, and the drivers have their turn.
    pub(crate) fn end_now(&self) {
        self.is_called.set(true);
        // So that it is measured by the polls that it has had.
        self.interval.set(self.interval.get() - self.left.get() + 1);
        self.left.set(1);
    }

    /// At the end of an interval, by the time it is: sets the length of the next, and says whether to poll the drivers
    /// now.
    pub(crate) fn end_interval(&self, now: Instant) -> Turn {
        let interval = self.interval.get();
        let next = match self.since.replace(Some(now)) {
            None => interval,
            Some(since) => {
                let took = now.saturating_duration_since(since);
                self.poll_time.set(took.as_nanos() as u64 / u64::from(interval));
                Self::next_interval(interval, took, self.longest)
            }
        };
        self.interval.set(next);
        self.left.set(next);
        let is_due = || self.polled.get().is_none_or(|polled| now.saturating_duration_since(polled) >= TOO_SOON);
        let turn = match self.is_called.take() {
            true => Turn::Called,
            false if is_due() => Turn::Due,
            false => return Turn::TooSoon,
        };
        self.polled.set(Some(now));
        turn
    }

    /// The thread slept in the meantime: what was measured before says nothing about what comes.
    pub(crate) fn restart(&self) {
        self.since.set(None);
        self.left.set(self.interval.get());
    }

    fn next_interval(interval: u32, took: Duration, longest: u32) -> u32 {
        let polls_in_target = TARGET.as_nanos() * u128::from(interval) / took.as_nanos().max(1);
        // Down at once, up by doubling: a single short interval does not prove that the long polls are over.
        u32::try_from(polls_in_target).unwrap_or(u32::MAX).clamp(1, interval.saturating_mul(2)).min(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn long_polls_shorten_the_interval_at_once() {
        assert_eq!(Pacing::next_interval(61, Duration::from_millis(6), 61), 2);
        assert_eq!(Pacing::next_interval(61, Duration::from_secs(60), 61), 1);
    }

    #[test]
    fn short_polls_lengthen_it_step_by_step() {
        assert_eq!(Pacing::next_interval(2, Duration::from_nanos(100), 61), 4);
        assert_eq!(Pacing::next_interval(40, Duration::ZERO, 61), 61);
    }

    #[test]
    fn an_interval_that_was_cut_short_is_measured_by_the_polls_it_had() {
        let pacing = Pacing::new(1000);
        assert!((0..3).all(|_| !pacing.tick()));
        pacing.end_now();
        assert!(pacing.tick());
        assert_eq!(pacing.interval.get(), 4);
        pacing.end_now();
        assert_eq!(pacing.interval.get(), 4, "once");
    }

    #[test]
    fn an_interval_of_short_polls_does_not_poll_the_drivers_twice() {
        let pacing = Pacing::new(3);
        assert!(!pacing.tick() && !pacing.tick() && pacing.tick());
        let now = Clock::real();
        assert_eq!(pacing.end_interval(now), Turn::Due, "the first time there is nothing to compare with");
        assert!(!pacing.tick());
        assert_eq!(pacing.end_interval(now), Turn::TooSoon);
        assert_eq!(pacing.end_interval(now + TOO_SOON), Turn::Due);
    }

    #[test]
    fn a_call_is_obeyed_however_soon() {
        let (pacing, now) = (Pacing::new(3), Clock::real());
        assert_eq!(pacing.end_interval(now), Turn::Due);
        pacing.end_now();
        assert_eq!(pacing.end_interval(now), Turn::Called);
        assert_eq!(pacing.end_interval(now), Turn::TooSoon, "once");
    }

    #[test]
    fn a_poll_takes_its_part_of_the_interval() {
        let (pacing, now) = (Pacing::new(10), Clock::real());
        pacing.end_interval(now);
        assert_eq!(pacing.poll_time(), 0, "not known");
        pacing.end_interval(now + Duration::from_micros(50));
        assert_eq!(pacing.poll_time(), 5_000);
    }
}
