//! How often a busy thread looks after the drivers.
//!
//! Polling the drivers costs a system call; not polling them makes sockets and timers late. Counting polls alone gets
//! one of the two wrong: sixty polls may take a microsecond or a second. So the interval is a number of polls, at most
//! `event_interval`, which shrinks when polls are long so that the drivers are looked after every [`TARGET`] or so;
//! and when polls are so short that the interval passes in less than [`TOO_SOON`], the system call is left out.
//! Reading the clock is paid once an interval, or once for each poll that is long enough not to notice. What is
//! measured also says how often the injector has its turn (`injector_turns.rs`).
//!
//! The interval shrinks at once, and grows when polls were short for several intervals in a row. Short ones come in
//! runs: those of two hundred tasks that timers have woken say nothing about the tasks that come after them, and with a
//! long interval sixty polls of 100 us would go by before anybody looked at the timers again. For the same reason a
//! thread that has slept begins with short intervals: what it was woken for may be of another kind than what it did
//! before.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long sockets and timers may go unattended while tasks run, unless a single poll takes longer.
const TARGET: Duration = Duration::from_micros(200);
/// So little that nobody is meant to notice it: the drivers are not polled again before it has passed, and tasks from
/// outside wait for polls of no more than this.
const TOO_SOON: Duration = Duration::from_micros(20);
/// After so many intervals of short polls, one after the other, they are made twice as long. (In polls the run would be
/// too long for short intervals: with one long poll among two hundred short ones there would be an interval for each of
/// them for ever.)
const RUN: u32 = 16;
/// The first interval after sleep. Many wakes are for a poll or two, to which it adds nothing.
const FIRST: u32 = 3;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pacing {
    longest: u32,
    /// How many polls an interval has, by what was measured.
    interval: Cell<u32>,
    /// How many the current one has.
    length: Cell<u32>,
    /// Ticks until it ends. A tick comes before a poll, so there is one more of them if the thread has just got up.
    left: Cell<u32>,
    /// How many the next may have, so soon after sleep.
    at_most: Cell<u32>,
    /// So many intervals in a row had polls short enough for one of twice the length.
    run: Cell<u32>,
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
            length: Cell::new(longest.min(FIRST)),
            left: Cell::new(longest.min(FIRST) + 1),
            at_most: Cell::new(FIRST),
            run: Cell::new(0),
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

    /// How many polls fit into a time that nobody is meant to notice ([`TOO_SOON`]).
    pub(crate) fn polls_in_a_moment(&self) -> u32 {
        self.polls_in(TOO_SOON)
    }

    /// How many polls fit into the time for which sockets and timers may go unattended ([`TARGET`]).
    pub(crate) fn polls_in_target(&self) -> u32 {
        self.polls_in(TARGET)
    }

    fn polls_in(&self, time: Duration) -> u32 {
        let polls = time.as_nanos() as u64 / self.poll_time.get().max(1);
        u32::try_from(polls).unwrap_or(u32::MAX)
    }

    /// The interval is over with the poll at hand, whatever it has come to, and the drivers have their turn.
    pub(crate) fn end_now(&self) {
        self.is_called.set(true);
        // Those it has had and the one at hand, of which it can be measured in any case. (At least one tick is left,
        // always.)
        self.length.set(self.length.get().saturating_sub(self.left.get()) + 1);
        self.left.set(1);
    }

    /// At the end of an interval, by the time it is: sets the length of the next, and says whether to poll the drivers
    /// now.
    pub(crate) fn end_interval(&self, now: Instant) -> bool {
        if let Some(since) = self.since.replace(Some(now)) {
            let polls = self.length.get();
            let took = now.saturating_duration_since(since);
            self.poll_time.set(took.as_nanos() as u64 / u64::from(polls));
            self.interval.set(self.next_interval(polls, took));
            self.at_most.set(self.at_most.get().saturating_mul(2));
        }
        let next = self.interval.get().min(self.at_most.get());
        self.length.set(next);
        self.left.set(next);
        let is_due = || self.polled.get().is_none_or(|polled| now.saturating_duration_since(polled) >= TOO_SOON);
        let polls_drivers = self.is_called.take() || is_due();
        if polls_drivers {
            self.polled.set(Some(now));
        }
        polls_drivers
    }

    /// The thread slept until now: what was measured before says nothing about what comes.
    pub(crate) fn restart(&self, now: Instant) {
        self.since.set(Some(now));
        // It may have slept in the drivers; if not, somebody else did.
        self.polled.set(Some(now));
        let first = self.interval.get().min(FIRST);
        self.length.set(first);
        self.left.set(first + 1);
        self.at_most.set(FIRST);
    }

    /// The thread did something else until now: of the interval only the rest is measured.
    pub(crate) fn resume(&self, now: Instant) {
        self.since.set(Some(now));
        self.length.set(self.length.get().min(self.left.get()));
    }

    /// After so many polls that took so long.
    fn next_interval(&self, polls: u32, took: Duration) -> u32 {
        let interval = self.interval.get();
        let polls_in_target = TARGET.as_nanos() * u128::from(polls) / took.as_nanos().max(1);
        let fits = u32::try_from(polls_in_target).unwrap_or(u32::MAX).clamp(1, self.longest);
        let doubled = interval.saturating_mul(2).min(self.longest);
        let run = if fits < doubled { 0 } else { self.run.get() + 1 };
        if run < RUN {
            self.run.set(run);
            return fits.min(interval);
        }
        self.run.set(0);
        doubled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    const MICROSECOND: Duration = Duration::from_micros(1);

    /// Has an interval of such polls end.
    fn interval_of(pacing: &Pacing, poll: Duration) -> u32 {
        let interval = pacing.interval.get();
        let next = pacing.next_interval(interval, poll * interval);
        pacing.interval.set(next);
        next
    }

    #[test]
    fn long_polls_shorten_the_interval_at_once() {
        let pacing = Pacing::new(61);
        assert_eq!(interval_of(&pacing, 3 * MICROSECOND), 61);
        assert_eq!(interval_of(&pacing, 90 * MICROSECOND), 2);
        assert_eq!(interval_of(&pacing, Duration::from_secs(60)), 1);
    }

    #[test]
    fn a_run_of_short_polls_lengthens_it_step_by_step() {
        let pacing = Pacing::new(61);
        interval_of(&pacing, Duration::from_secs(60));
        for (interval, longer) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 61)] {
            (1..RUN).for_each(|_| assert_eq!(interval_of(&pacing, MICROSECOND), interval));
            assert_eq!(interval_of(&pacing, Duration::ZERO), longer);
        }
        (0..100).for_each(|_| assert_eq!(interval_of(&pacing, MICROSECOND), 61));
    }

    #[test]
    fn a_long_poll_ends_the_run() {
        let pacing = Pacing::new(61);
        for _ in 0..10 {
            assert_eq!(interval_of(&pacing, 100 * MICROSECOND), 2);
            (1..RUN).for_each(|_| assert_eq!(interval_of(&pacing, MICROSECOND), 2));
        }
        assert_eq!(interval_of(&pacing, MICROSECOND), 4);
    }

    #[test]
    fn one_long_poll_among_hundreds_of_short_ones_does_not_make_each_an_interval() {
        let (pacing, mut now) = (Pacing::new(61), Clock::real());
        pacing.restart(now);
        let (mut ended, all) = (0, 255 * 100);
        for poll in 0..all {
            if pacing.tick() {
                pacing.end_interval(now);
                ended += 1;
            }
            now += if poll % 255 == 0 { 110 * MICROSECOND } else { Duration::from_nanos(200) };
        }
        assert!(ended < all / 3, "{ended} intervals in {all} polls");
    }

    #[test]
    fn polls_for_which_the_interval_is_right_leave_it() {
        let pacing = Pacing::new(61);
        (0..1000).for_each(|_| assert_eq!(interval_of(&pacing, 15 * MICROSECOND), 13));
    }

    /// Ticks until the interval ends. How many it had.
    fn polls(pacing: &Pacing) -> u32 {
        (1..).find(|_| pacing.tick()).expect("it ends")
    }

    #[test]
    fn an_interval_that_was_cut_short_is_measured_by_the_polls_it_had() {
        let (pacing, now) = (Pacing::new(1000), Clock::real());
        pacing.restart(now);
        assert!((0..3).all(|_| !pacing.tick()));
        pacing.end_now();
        assert!(pacing.tick());
        pacing.end_now();
        assert!(pacing.end_interval(now + Duration::from_micros(30)));
        assert_eq!(pacing.poll_time.get(), 10_000);
        assert_eq!(pacing.interval.get(), 20, "cut short is not short");
    }

    #[test]
    fn the_longest_interval_of_all_can_be_cut_short() {
        let pacing = Pacing::new(u32::MAX);
        for (left, had) in [(u32::MAX, 1), (u32::MAX - 2, 3), (1, u32::MAX)] {
            pacing.length.set(u32::MAX);
            pacing.left.set(left);
            pacing.end_now();
            assert_eq!(pacing.length.get(), had);
            assert!(pacing.tick());
        }
    }

    #[test]
    fn after_sleep_it_begins_with_short_intervals() {
        let (pacing, mut now) = (Pacing::new(61), Clock::real());
        for _ in 0..2 {
            pacing.restart(now);
            // The first tick is before the first poll.
            assert_eq!(polls(&pacing), FIRST + 1);
            for expected in [6, 12, 24, 48, 61, 61] {
                now += MICROSECOND;
                pacing.end_interval(now);
                assert_eq!(polls(&pacing), expected);
            }
        }
        pacing.restart(now);
        assert_eq!(polls(&pacing), FIRST + 1);
        assert!(pacing.end_interval(now + FIRST * 100 * MICROSECOND));
        assert_eq!(polls(&pacing), 2, "they turn out to be long");
    }

    #[test]
    fn what_is_no_poll_is_not_measured() {
        let (pacing, now) = (Pacing::new(10), Clock::real());
        (0..6).for_each(|_| pacing.restart(now));
        assert!(!pacing.tick() && !pacing.tick());
        let later = now + Duration::from_secs(1);
        pacing.resume(later);
        assert_eq!(polls(&pacing), 2);
        pacing.end_interval(later + 10 * MICROSECOND);
        assert_eq!((pacing.poll_time.get(), pacing.interval.get()), (5_000, 10));
    }

    #[test]
    fn an_interval_of_short_polls_does_not_poll_the_drivers_twice() {
        let (pacing, now) = (Pacing::new(3), Clock::real());
        pacing.restart(now);
        assert_eq!(polls(&pacing), 4);
        assert!(!pacing.end_interval(now), "it may have slept in the drivers");
        assert!(!pacing.end_interval(now));
        assert!(pacing.end_interval(now + TOO_SOON));
    }

    #[test]
    fn a_call_is_obeyed_however_soon() {
        let (pacing, now) = (Pacing::new(3), Clock::real());
        pacing.end_now();
        assert!(pacing.end_interval(now));
        pacing.end_now();
        assert!(pacing.end_interval(now));
        assert!(!pacing.end_interval(now), "once");
    }

    #[test]
    fn a_poll_takes_its_part_of_the_interval() {
        let (pacing, now) = (Pacing::new(10), Clock::real());
        pacing.end_interval(now);
        assert_eq!(pacing.poll_time.get(), 0, "not known");
        pacing.end_interval(now + 15 * MICROSECOND);
        assert_eq!(pacing.poll_time.get(), 5_000);
    }
}
