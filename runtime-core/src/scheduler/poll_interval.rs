//! How often a busy thread looks after the drivers.
//!
//! Polling the drivers costs a system call; not polling them makes sockets and timers late. Counting polls alone gets
//! one of the two wrong: sixty polls may take a microsecond or a second. So the interval is a number of polls, at most
//! `event_interval`, which shrinks when polls are long so that the drivers are looked after every
//! [`DRIVER_POLL_TARGET`] or so; and when polls are so short that the interval passes in less than
//! [`MIN_DRIVER_POLL_GAP`], the system call is left out. Reading the clock is paid once an interval, or once for each
//! poll that is long enough not to notice. What is measured also says how often the injector has its turn
//! (`injector_turns.rs`).
//!
//! An interval may be cut into *parts*, as the clock may have to be read more often than that, to measure polls
//! (`metrics/poll_times.rs`). They say when the counting of ticks ends for the moment, and nothing else. So there is
//! one countdown for both, and an ordinary poll does nothing more for a second reason.
//!
//! A worker of several also leaves it out while many tasks wait on its own queue that sockets have woken. What it
//! brought would wait behind them; and an event that stays with the system is for any worker, where one in the queue of
//! a worker that loses its processor waits until that comes back. So a worker takes as many events at a time as tasks
//! from the injector ([`MAX_SHARED_BATCH`]), and comes for more when half of those are left: not later, for a worker
//! whose queues run dry goes to sleep and has others woken. It comes in any case at the end of an interval when
//! `event_interval` polls or [`MAX_DRIVER_POLL_GAP`] have gone by, or if it is asked to.
//!
//! If the drivers have left nothing with the system when they last had their turn, a thread leaves them alone for as
//! long as it may: if the next interval, too, is likely to end within [`DRIVER_POLL_TARGET`] of that turn, it waits for
//! that one. Where a few connections are in use a turn brings an event or two, and turns after each of a row of short
//! intervals would mostly bring nothing. If the thread has nothing else to do before that it goes to sleep in the
//! drivers, and is told at once.
//!
//! A task that gives way does so to what sockets and timers are about to wake, too. So when one has, the drivers have
//! their turn as soon as [`MIN_DRIVER_POLL_GAP`] has passed since the last one, whatever that left.
//!
//! The interval shrinks at once, and grows when polls were short for several intervals in a row. Short ones come in
//! runs: those of two hundred tasks that timers have woken say nothing about the tasks that come after them, and with a
//! long interval sixty polls of 100 us would go by before anybody looked at the timers again. For the same reason a
//! thread that has slept begins with short intervals: what it was woken for may be of another kind than what it did
//! before.

use std::cell::Cell;
use std::time::Duration;

use super::injector_turns::MAX_SHARED_BATCH;
use crate::clock::Moment;

/// How long sockets and timers may go unattended while tasks run, unless a single poll takes longer, or many events
/// are left to be served ([`MAX_DRIVER_POLL_GAP`]).
pub(crate) const DRIVER_POLL_TARGET: Duration = Duration::from_micros(200);
/// So little that nobody is meant to notice it: the drivers are not polled again before it has passed, tasks from
/// outside wait for polls of no more than this, and no worker is called for one of two tasks that take no longer.
const MIN_DRIVER_POLL_GAP: Duration = Duration::from_micros(DRIVER_POLL_TARGET.as_micros() as u64 / 10);
/// For so long a worker may leave the drivers alone because events are left.
const MAX_DRIVER_POLL_GAP: Duration = Duration::from_micros(DRIVER_POLL_TARGET.as_micros() as u64 * 10);
/// The interval doubles after this number of consecutive intervals of short polls. (Were polls counted, the run would
/// be too long for short intervals: with one long poll among two hundred short ones there would be an interval for each
/// poll for ever.)
const SHORT_INTERVALS_TO_GROW: u32 = 16;
/// The first interval after sleep. Many wakes are for a poll or two, to which it adds nothing.
const FIRST_INTERVAL_POLLS: u32 = 3;

/// Says after how many polls of tasks a thread polls the drivers.
#[derive(Debug)]
pub(crate) struct PollInterval {
    max: u32,
    /// How many polls an interval has, by what was measured.
    interval: Cell<u32>,
    /// How many the current one has.
    length: Cell<u32>,
    /// Ticks until it ends, or the part of it that is at hand. A tick comes before a poll, so there is one more of them
    /// if the thread has just woken up.
    left: Cell<u32>,
    /// Ticks from the end of that part to the end of the interval.
    after: Cell<u32>,
    /// How many the next may have, so soon after sleep.
    next_limit: Cell<u32>,
    /// The number of consecutive intervals whose polls were short enough for an interval of twice the length.
    short_intervals: Cell<u32>,
    /// When the current interval began.
    since: Cell<Option<Moment>>,
    /// When the drivers last had their turn.
    polled: Cell<Option<Moment>>,
    /// How many polls of tasks there have been since, by the intervals that have ended.
    polls_since: Cell<u32>,
    /// Whether something may have been left with the system then.
    may_be_more: Cell<bool>,
    /// Whether a task has given way since then.
    gave_way: Cell<bool>,
    is_requested: Cell<bool>,
    /// How long a poll took in the last interval that was measured, in nanoseconds.
    poll_time: Cell<u64>,
}

impl PollInterval {
    pub(crate) fn new(max: u32) -> Self {
        let max = max.max(1);
        Self {
            max,
            interval: Cell::new(max),
            length: Cell::new(max.min(FIRST_INTERVAL_POLLS)),
            left: Cell::new(max.min(FIRST_INTERVAL_POLLS) + 1),
            after: Cell::new(0),
            next_limit: Cell::new(FIRST_INTERVAL_POLLS),
            short_intervals: Cell::new(0),
            since: Cell::new(None),
            polled: Cell::new(None),
            polls_since: Cell::new(0),
            may_be_more: Cell::new(true),
            gave_way: Cell::new(false),
            is_requested: Cell::new(false),
            poll_time: Cell::new(0),
        }
    }

    /// Counts one poll of a task. True when the interval is over, or a part of it: [`begin_part`](Self::begin_part)
    /// tells which.
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

    /// How many ticks there are until one says so, that one included: as many as the part has polls, if each tick is
    /// followed by one, and the next poll comes without.
    pub(crate) fn ticks_of_part(&self) -> u32 {
        self.left.get()
    }

    /// At a tick that said so: if only a part of the interval is over the next one begins, with `polls` polls at most,
    /// and this is true. Else it is time to [end the interval](Self::end_interval).
    #[inline]
    pub(crate) fn begin_part(&self, polls: u32) -> bool {
        let left = self.after.get();
        if left > 0 {
            self.cut(left, polls);
        }
        left > 0
    }

    /// The part at hand has `polls` more polls at most.
    pub(crate) fn limit_part(&self, polls: u32) {
        self.cut(self.ticks_left(), polls);
    }

    /// The same, if a tick comes before the first of them, as after sleep.
    pub(crate) fn limit_part_before_tick(&self, polls: u32) {
        self.cut(self.ticks_left(), polls.saturating_add(1));
    }

    fn cut(&self, left: u32, part: u32) {
        let part = left.min(part.max(1));
        self.left.set(part);
        self.after.set(left - part);
    }

    /// Ticks until the interval ends.
    fn ticks_left(&self) -> u32 {
        self.left.get() + self.after.get()
    }

    /// How many polls fit into a time that nobody is meant to notice ([`MIN_DRIVER_POLL_GAP`]).
    pub(crate) fn polls_in_min_gap(&self) -> u32 {
        self.polls_in(MIN_DRIVER_POLL_GAP)
    }

    /// Whether that many polls fit into a time that nobody is meant to notice ([`MIN_DRIVER_POLL_GAP`]). As
    /// [`polls_in_min_gap`](Self::polls_in_min_gap) says, without a division.
    #[inline]
    pub(crate) fn has_short_polls(&self, polls: u64) -> bool {
        self.poll_time.get().saturating_mul(polls) <= MIN_DRIVER_POLL_GAP.as_nanos() as u64
    }

    /// How many polls fit into the time for which sockets and timers may go unattended ([`DRIVER_POLL_TARGET`]).
    pub(crate) fn polls_in_target(&self) -> u32 {
        self.polls_in(DRIVER_POLL_TARGET)
    }

    fn polls_in(&self, time: Duration) -> u32 {
        let polls = time.as_nanos() as u64 / self.poll_time.get().max(1);
        u32::try_from(polls).unwrap_or(u32::MAX)
    }

    /// The interval is over with the poll at hand, whatever it has come to, and the drivers have their turn.
    pub(crate) fn end_now(&self) {
        self.is_requested.set(true);
        // Those it has had and the one at hand, of which it can be measured in any case. (At least one tick is left,
        // always.)
        self.length.set(self.length.get().saturating_sub(self.ticks_left()) + 1);
        self.set_left(1);
    }

    /// The task that was just polled has given way: the interval ends when what nobody is meant to notice has passed.
    #[inline]
    pub(crate) fn note_gave_way(&self) {
        if !self.gave_way.replace(true) {
            let (left, in_gap) = (self.ticks_left(), self.polls_in_min_gap().max(1));
            if left > in_gap {
                // One at least, as the time that they took is divided by it.
                self.length.set(self.length.get().saturating_sub(left - in_gap).max(1));
                self.cut(in_gap, self.left.get());
            }
        }
    }

    /// Whether a task has given way since the drivers last had their turn.
    pub(crate) fn has_given_way(&self) -> bool {
        self.gave_way.get()
    }

    /// At the end of an interval, by the time it is: sets the length of the next, and says whether to poll the drivers
    /// now. `events_left`: how many tasks still wait that sockets have woken, if others could take what comes.
    pub(crate) fn end_interval(&self, now: Moment, events_left: impl FnOnce() -> usize) -> bool {
        let polls_since = self.polls_since.get().saturating_add(self.length.get());
        self.polls_since.set(polls_since);
        if let Some(since) = self.since.replace(Some(now)) {
            let polls = self.length.get();
            let took = now.nanos_since(since);
            self.poll_time.set(took / u64::from(polls));
            self.interval.set(self.next_interval(polls, took));
            self.next_limit.set(self.next_limit.get().saturating_mul(2));
        }
        let gap = self.polled.get().map_or(Duration::MAX, |polled| now.since(polled));
        let has_room =
            || polls_since >= self.max || gap >= MAX_DRIVER_POLL_GAP || events_left() <= MAX_SHARED_BATCH as usize / 2;
        let next = self.interval.get().min(self.next_limit.get());
        let next_end = || gap.saturating_add(Duration::from_nanos(self.poll_time.get().saturating_mul(next.into())));
        let is_awaited = || self.gave_way.get() || self.may_be_more.get() || next_end() > DRIVER_POLL_TARGET;
        let is_time = gap >= MIN_DRIVER_POLL_GAP && is_awaited();
        let polls_drivers = self.is_requested.take() || (is_time && has_room());
        if polls_drivers {
            self.polled.set(Some(now));
            self.polls_since.set(0);
            self.gave_way.set(false);
        }
        let next = if self.gave_way.get() { next.min(self.polls_in_min_gap().max(1)) } else { next };
        self.length.set(next);
        self.set_left(next);
        polls_drivers
    }

    /// The drivers have had their turn, on this thread, or on another one while this one slept. Whether they may have
    /// left events with the system.
    pub(crate) fn note_turn(&self, may_be_more: bool) {
        self.may_be_more.set(may_be_more);
    }

    /// The thread slept until now: what was measured before says nothing about what comes.
    pub(crate) fn restart(&self, now: Moment) {
        self.since.set(Some(now));
        // It may have slept in the drivers; if not, somebody else did.
        self.polled.set(Some(now));
        self.polls_since.set(0);
        self.gave_way.set(false);
        let first = self.interval.get().min(FIRST_INTERVAL_POLLS);
        self.length.set(first);
        self.set_left(first + 1);
        self.next_limit.set(FIRST_INTERVAL_POLLS);
    }

    /// The thread did something else until now: of the interval only the rest is measured.
    pub(crate) fn resume(&self, now: Moment) {
        self.since.set(Some(now));
        self.length.set(self.length.get().min(self.ticks_left()));
    }

    fn set_left(&self, ticks: u32) {
        self.left.set(ticks);
        self.after.set(0);
    }

    /// The length of the next interval, after one of `polls` polls that took that number of nanoseconds.
    fn next_interval(&self, polls: u32, took: u64) -> u32 {
        let interval = self.interval.get();
        let polls_in_target = (DRIVER_POLL_TARGET.as_nanos() as u64).saturating_mul(polls.into()) / took.max(1);
        let fits = u32::try_from(polls_in_target).unwrap_or(u32::MAX).clamp(1, self.max);
        let doubled = interval.saturating_mul(2).min(self.max);
        let short_intervals = if fits < doubled { 0 } else { self.short_intervals.get() + 1 };
        if short_intervals < SHORT_INTERVALS_TO_GROW {
            self.short_intervals.set(short_intervals);
            return fits.min(interval);
        }
        self.short_intervals.set(0);
        doubled
    }
}

#[cfg(test)]
mod tests;
