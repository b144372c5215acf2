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
/// So little that nobody is meant to notice it: the drivers are not polled again before it has passed, and tasks from
/// outside wait for polls of no more than this.
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
        let next = self.interval.get().min(self.next_limit.get());
        self.length.set(next);
        self.set_left(next);
        let gap = self.polled.get().map_or(Duration::MAX, |polled| now.since(polled));
        let has_room =
            || polls_since >= self.max || gap >= MAX_DRIVER_POLL_GAP || events_left() <= MAX_SHARED_BATCH as usize / 2;
        let next_end = || gap.saturating_add(Duration::from_nanos(self.poll_time.get().saturating_mul(next.into())));
        let is_time = gap >= MIN_DRIVER_POLL_GAP && (self.may_be_more.get() || next_end() > DRIVER_POLL_TARGET);
        let polls_drivers = self.is_requested.take() || (is_time && has_room());
        if polls_drivers {
            self.polled.set(Some(now));
            self.polls_since.set(0);
        }
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
mod tests {
    use super::*;

    const MICROSECOND: Duration = Duration::from_micros(1);

    /// Has an interval of such polls end.
    fn interval_of(poll_interval: &PollInterval, poll: Duration) -> u32 {
        let interval = poll_interval.interval.get();
        let next = poll_interval.next_interval(interval, (poll * interval).as_nanos() as u64);
        poll_interval.interval.set(next);
        next
    }

    #[test]
    fn long_polls_shorten_the_interval_at_once() {
        let poll_interval = PollInterval::new(61);
        assert_eq!(interval_of(&poll_interval, 3 * MICROSECOND), 61);
        assert_eq!(interval_of(&poll_interval, 90 * MICROSECOND), 2);
        assert_eq!(interval_of(&poll_interval, Duration::from_secs(60)), 1);
    }

    #[test]
    fn a_run_of_short_polls_lengthens_it_step_by_step() {
        let poll_interval = PollInterval::new(61);
        interval_of(&poll_interval, Duration::from_secs(60));
        for (interval, longer) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 61)] {
            (1..SHORT_INTERVALS_TO_GROW).for_each(|_| assert_eq!(interval_of(&poll_interval, MICROSECOND), interval));
            assert_eq!(interval_of(&poll_interval, Duration::ZERO), longer);
        }
        (0..100).for_each(|_| assert_eq!(interval_of(&poll_interval, MICROSECOND), 61));
    }

    #[test]
    fn a_long_poll_ends_the_run() {
        let poll_interval = PollInterval::new(61);
        for _ in 0..10 {
            assert_eq!(interval_of(&poll_interval, 100 * MICROSECOND), 2);
            (1..SHORT_INTERVALS_TO_GROW).for_each(|_| assert_eq!(interval_of(&poll_interval, MICROSECOND), 2));
        }
        assert_eq!(interval_of(&poll_interval, MICROSECOND), 4);
    }

    #[test]
    fn one_long_poll_among_hundreds_of_short_ones_does_not_make_each_an_interval() {
        let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
        poll_interval.restart(now);
        let (mut ended, all) = (0, 255 * 100);
        for poll in 0..all {
            if poll_interval.tick() {
                poll_interval.end_interval(now, || 0);
                ended += 1;
            }
            now += if poll % 255 == 0 { 110 * MICROSECOND } else { Duration::from_nanos(200) };
        }
        assert!(ended < all / 3, "{ended} intervals in {all} polls");
    }

    #[test]
    fn polls_for_which_the_interval_is_right_leave_it() {
        let poll_interval = PollInterval::new(61);
        (0..1000).for_each(|_| assert_eq!(interval_of(&poll_interval, 15 * MICROSECOND), 13));
    }

    /// Ticks until the interval ends. How many it had.
    fn polls(poll_interval: &PollInterval) -> u32 {
        (1..).find(|_| poll_interval.tick()).expect("it ends")
    }

    /// Ticks until the interval ends, in parts of that number of polls. How many it had.
    fn polls_in_parts(poll_interval: &PollInterval, part: u32) -> u32 {
        poll_interval.limit_part(part);
        let mut all = 0;
        loop {
            let ticks = polls(poll_interval);
            assert!(ticks <= part, "{ticks} in a part of {part}");
            all += ticks;
            if !poll_interval.begin_part(part) {
                return all;
            }
        }
    }

    #[test]
    fn parts_add_up_to_the_interval() {
        for part in [1, 2, 7, 60, 61, 62, u32::MAX] {
            let (poll_interval, now) = (PollInterval::new(61), Moment::now());
            poll_interval.interval.set(61);
            poll_interval.next_limit.set(61);
            poll_interval.end_interval(now, || 0);
            assert_eq!(polls_in_parts(&poll_interval, part), 61);
            poll_interval.end_interval(now + MICROSECOND, || 0);
            assert_eq!(polls_in_parts(&poll_interval, part), 61);
        }
    }

    #[test]
    fn after_sleep_the_first_part_has_a_tick_more() {
        let (poll_interval, now) = (PollInterval::new(61), Moment::now());
        poll_interval.restart(now);
        poll_interval.limit_part_before_tick(1);
        assert_eq!(polls(&poll_interval), 2);
        assert!(poll_interval.begin_part(1));
        assert_eq!(polls(&poll_interval), 1);
        assert!(poll_interval.begin_part(u32::MAX));
        assert_eq!(polls(&poll_interval), 1);
        assert!(!poll_interval.begin_part(1), "three polls");
        poll_interval.restart(now);
        poll_interval.limit_part_before_tick(u32::MAX);
        assert_eq!(polls(&poll_interval), FIRST_INTERVAL_POLLS + 1);
    }

    #[test]
    fn an_interval_in_parts_can_be_cut_short() {
        let (poll_interval, now) = (PollInterval::new(1000), Moment::now());
        poll_interval.next_limit.set(1000);
        poll_interval.end_interval(now, || 0);
        poll_interval.limit_part(10);
        assert_eq!(polls(&poll_interval), 10);
        assert!(poll_interval.begin_part(10));
        poll_interval.end_now();
        assert!(poll_interval.tick() && !poll_interval.begin_part(10));
        assert_eq!(poll_interval.length.get(), 11);
    }

    #[test]
    fn an_interval_that_was_cut_short_is_measured_by_the_polls_it_had() {
        let (poll_interval, now) = (PollInterval::new(1000), Moment::now());
        poll_interval.restart(now);
        assert!((0..3).all(|_| !poll_interval.tick()));
        poll_interval.end_now();
        assert!(poll_interval.tick());
        poll_interval.end_now();
        assert!(poll_interval.end_interval(now + Duration::from_micros(30), || 0));
        assert_eq!(poll_interval.poll_time.get(), 10_000);
        assert_eq!(poll_interval.interval.get(), 20, "cut short is not short");
    }

    #[test]
    fn the_longest_interval_of_all_can_be_cut_short() {
        let poll_interval = PollInterval::new(u32::MAX);
        for (left, had) in [(u32::MAX, 1), (u32::MAX - 2, 3), (1, u32::MAX)] {
            poll_interval.length.set(u32::MAX);
            poll_interval.left.set(left);
            poll_interval.end_now();
            assert_eq!(poll_interval.length.get(), had);
            assert!(poll_interval.tick());
        }
    }

    #[test]
    fn after_sleep_it_begins_with_short_intervals() {
        let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
        for _ in 0..2 {
            poll_interval.restart(now);
            // The first tick is before the first poll.
            assert_eq!(polls(&poll_interval), FIRST_INTERVAL_POLLS + 1);
            for expected in [6, 12, 24, 48, 61, 61] {
                now += MICROSECOND;
                poll_interval.end_interval(now, || 0);
                assert_eq!(polls(&poll_interval), expected);
            }
        }
        poll_interval.restart(now);
        assert_eq!(polls(&poll_interval), FIRST_INTERVAL_POLLS + 1);
        assert!(poll_interval.end_interval(now + FIRST_INTERVAL_POLLS * 100 * MICROSECOND, || 0));
        assert_eq!(polls(&poll_interval), 2, "they turn out to be long");
    }

    #[test]
    fn what_is_no_poll_is_not_measured() {
        let (poll_interval, now) = (PollInterval::new(10), Moment::now());
        (0..6).for_each(|_| poll_interval.restart(now));
        assert!(!poll_interval.tick() && !poll_interval.tick());
        let later = now + Duration::from_secs(1);
        poll_interval.resume(later);
        assert_eq!(polls(&poll_interval), 2);
        poll_interval.end_interval(later + 10 * MICROSECOND, || 0);
        assert_eq!((poll_interval.poll_time.get(), poll_interval.interval.get()), (5_000, 10));
    }

    #[test]
    fn an_interval_of_short_polls_does_not_poll_the_drivers_twice() {
        let (poll_interval, now) = (PollInterval::new(3), Moment::now());
        poll_interval.restart(now);
        assert_eq!(polls(&poll_interval), 4);
        assert!(!poll_interval.end_interval(now, || 0), "it may have slept in the drivers");
        assert!(!poll_interval.end_interval(now, || 0));
        assert!(poll_interval.end_interval(now + MIN_DRIVER_POLL_GAP, || 0));
    }

    #[test]
    fn if_nothing_is_left_the_drivers_have_their_turn_at_the_last_end_of_an_interval_within_the_target() {
        let (poll_interval, now) = (PollInterval::new(61), Moment::now());
        // After how many microseconds the drivers have their turn, when all intervals take so long.
        let turn_after = |interval: u32| {
            poll_interval.restart(now);
            let mut ends = (1..).map(|number| number * interval);
            ends.find(|&after| {
                // Each has as many polls as the next.
                let PollInterval { length, interval, next_limit, .. } = &poll_interval;
                [length, interval, next_limit].into_iter().for_each(|polls| polls.set(6));
                poll_interval.end_interval(now + after * MICROSECOND, || 0)
            })
        };
        assert_eq!(turn_after(30), Some(30), "what is left is not known");
        poll_interval.note_turn(false);
        assert_eq!([7, 30, 60, 90].map(&turn_after), [196, 180, 180, 180].map(Some));
        assert_eq!([101, 150, 1000].map(&turn_after), [101, 150, 1000].map(Some));
        poll_interval.note_turn(true);
        assert_eq!([7, 30, 150].map(&turn_after), [21, 30, 150].map(Some));
        let of_new_thread = PollInterval::new(61);
        of_new_thread.resume(now);
        of_new_thread.note_turn(false);
        assert!(of_new_thread.end_interval(now + MICROSECOND, || 0), "when they had it is not known");
    }

    #[test]
    fn a_call_is_obeyed_however_soon() {
        let (poll_interval, now) = (PollInterval::new(3), Moment::now());
        poll_interval.end_now();
        assert!(poll_interval.end_interval(now, || 0));
        poll_interval.end_now();
        assert!(poll_interval.end_interval(now, || 0));
        assert!(!poll_interval.end_interval(now, || 0), "once");
    }

    #[test]
    fn a_poll_takes_its_part_of_the_interval() {
        let (poll_interval, now) = (PollInterval::new(10), Moment::now());
        poll_interval.end_interval(now, || 0);
        assert_eq!(poll_interval.poll_time.get(), 0, "not known");
        poll_interval.end_interval(now + 15 * MICROSECOND, || 0);
        assert_eq!(poll_interval.poll_time.get(), 5_000);
    }

    #[test]
    fn the_drivers_are_left_alone_while_many_events_wait() {
        let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
        poll_interval.restart(now);
        poll_interval.interval.set(1);
        let mut had = polls(&poll_interval) - 1;
        let mut end = |left, after| {
            now += after;
            let is_turn = poll_interval.end_interval(now, || left);
            had += polls(&poll_interval);
            (is_turn, had)
        };
        const GAP: Duration = MIN_DRIVER_POLL_GAP;
        while let (false, had) = end(17, GAP) {
            assert!(had < 61 + 60, "so many polls have gone by");
        }
        assert!(!end(17, GAP).0, "it counts anew");
        assert!(end(16, GAP).0 && end(0, GAP).0, "half of what it takes at a time");
        assert!(!end(17, MAX_DRIVER_POLL_GAP - GAP).0 && end(17, GAP).0, "so much time has gone by");
        poll_interval.end_now();
        assert!(poll_interval.end_interval(now, || 1000), "a call is obeyed");
    }
}
