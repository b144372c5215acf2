//! [`InjectorTurns`]: when a thread that has tasks of its own takes some from the injector, and how many.
//!
//! Tasks that are spawned or woken from outside wait in the injector until a thread of the scheduler comes by. A thread
//! without tasks does so at once. One with tasks has to find time for it, between two extremes:
//!
//! - To look at the injector is to read memory that other threads write, so it does not look at every tick.
//! - Ticks say nothing about time. Sixty polls may take a microsecond or a second, and a task from outside must not
//!   wait for sixty long ones.
//!
//! So the injector has a turn after an *interval* of ticks. The interval is `global_queue_interval` at most (61, unless
//! the builder says otherwise) while polls are short, and has no more polls than fit into some twenty microseconds
//! ([`PollInterval::polls_in_min_gap`]) when they are longer. Where each poll takes longer than that, the thread looks
//! at every tick: a look costs nothing beside such a poll. So a task at the head of the injector waits for that time or
//! for one poll, once it is known how long polls take, and for the longest interval in ticks in any case.
//!
//! # What the thread's own tasks are left
//!
//! At its turn no more tasks are taken from the injector than half the interval has ticks. They go before those of the
//! thread's own tasks that have had a turn, in the order in which they came. For each of them a tick passes in which it
//! may be polled, and another one for the others, before the injector has its next turn. So half of all ticks, at
//! least, are left to the thread's own tasks, however much comes from outside, and even where the thread looks at every
//! tick.
//!
//! Unless all of them have given way ([`Others::GaveWay`]): they have said that others should go first. Then a turn
//! takes as many tasks as for a thread that has none, and the next one comes when each of both has been polled once.
//! Half of the ticks would be nearly all of the time, where tasks that compute for long yield in between, and would
//! hold up what comes from outside, a job of the blocking pool that is done, say, by a poll of such a task for each.
//!
//! # A thread without tasks
//!
//! It takes as many as it will have polled when it looks after the drivers next ([`PollInterval::polls_in_target`]).
//! They go where a task goes that wakes itself: so tasks that were spawned together take turns in the order of their
//! spawns. With more of them, what sockets wake would wait behind a backlog; with one at a time, the first would have
//! several turns before the second has one.

use std::cell::Cell;

use super::poll_interval::PollInterval;

/// The most that a worker takes at once of what is everybody's: of tasks in the injector, and of events that the system
/// has for the driver. Others may come for the rest.
pub(crate) const MAX_SHARED_BATCH: u32 = 32;

/// Who waits on the thread's own queues when it is the injector's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    Nobody,
    /// Only tasks that have had a turn, and have given way. They get as many ticks as they need to be polled once.
    GaveWay {
        ticks: usize,
    },
    /// Some that have a right to their turn.
    Waiting,
}

/// Says when a thread takes tasks from the injector, and how many.
#[derive(Debug)]
pub(super) struct InjectorTurns {
    max: u32,
    /// Ticks from one look to the next.
    interval: Cell<u32>,
    /// How many tasks a thread without tasks takes.
    share_alone: Cell<u32>,
    /// Ticks until the next turn.
    left: Cell<u32>,
    /// How many of those, the last ones, are owed to nobody. Those before them are for the tasks that were taken, and
    /// for the others.
    free: Cell<u32>,
}

impl InjectorTurns {
    /// With an interval of at most `max` ticks. Until it is known how long polls take, they are taken for short.
    pub(super) fn new(max: u32) -> Self {
        let max = max.max(1);
        Self {
            max,
            interval: Cell::new(max),
            share_alone: Cell::new(MAX_SHARED_BATCH),
            left: Cell::new(max),
            free: Cell::new(max),
        }
    }

    /// Counts a tick. Whether it is the injector's turn.
    #[inline]
    pub(super) fn tick(&self) -> bool {
        let left = self.left.get() - 1;
        if left > 0 {
            self.left.set(left);
            return false;
        }
        self.set_left(0, self.interval.get());
        true
    }

    /// Counts a tick unless it is the injector's turn, which then is still to come. True if it was counted.
    #[inline]
    pub(super) fn tick_unless_turn(&self) -> bool {
        let left = self.left.get();
        let counts = left > 1;
        if counts {
            self.left.set(left - 1);
        }
        counts
    }

    /// How many tasks may be taken, at most.
    pub(super) fn share(&self, others: Others) -> usize {
        let share = match others {
            Others::Nobody | Others::GaveWay { .. } => self.share_alone.get(),
            Others::Waiting => self.interval.get() / 2,
        };
        share.clamp(1, MAX_SHARED_BATCH) as usize
    }

    /// Called when `tasks` tasks were taken from the injector. (By a thread without others, they are its own from then
    /// on.)
    pub(super) fn have_taken(&self, tasks: usize, others: Others) {
        let theirs_and_others = match others {
            Others::Nobody => 0,
            Others::GaveWay { ticks } => tasks + ticks.min(tasks),
            Others::Waiting => 2 * tasks,
        };
        // No more than a batch.
        self.set_left(theirs_and_others as u32, self.interval.get());
    }

    /// At the end of an interval of polls, which tells how long they take.
    pub(super) fn adapt(&self, poll_interval: &PollInterval) {
        self.interval.set(poll_interval.polls_in_min_gap().clamp(1, self.max));
        self.share_alone.set(poll_interval.polls_in_target());
        let left = self.left.get();
        self.set_left(left.saturating_sub(self.free.get()), self.interval.get().min(left));
    }

    /// The next turn comes in `ticks` ticks, but not before `not_before` others.
    fn set_left(&self, not_before: u32, ticks: u32) {
        let left = ticks.max(not_before);
        self.left.set(left);
        self.free.set(left - not_before);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Moment;

    const NANOSECOND: Duration = Duration::from_nanos(1);
    const MICROSECOND: Duration = Duration::from_micros(1);

    /// Ticks until the turn. How many it took.
    fn ticks(turns: &InjectorTurns) -> u32 {
        (1..).find(|_| turns.tick()).expect("it comes")
    }

    /// A poll interval that has seen polls of such a length.
    fn poll_interval_with(poll: Duration) -> PollInterval {
        let (poll_interval, now) = (PollInterval::new(61), Moment::now());
        poll_interval.restart(now);
        let polls = (0..).find(|_| poll_interval.tick()).expect("the interval ends");
        poll_interval.end_interval(now + poll * polls, || 0);
        poll_interval
    }

    fn turns_with(poll: Duration) -> InjectorTurns {
        let turns = InjectorTurns::new(61);
        turns.adapt(&poll_interval_with(poll));
        turns
    }

    #[test]
    fn short_polls_leave_the_injector_alone_for_the_longest_interval() {
        let turns = turns_with(50 * NANOSECOND);
        assert_eq!((ticks(&turns), ticks(&turns)), (61, 61));
        assert_eq!(ticks(&InjectorTurns::new(61)), 61, "nothing is known");
    }

    #[test]
    fn the_turn_comes_in_time_however_long_polls_are() {
        for (poll, expected) in
            [(MICROSECOND, 20), (10 * MICROSECOND, 2), (100 * MICROSECOND, 1), (60_000 * MICROSECOND, 1)]
        {
            let turns = turns_with(poll);
            // The one under way.
            assert!(ticks(&turns) <= expected.max(2));
            for _ in 0..5 {
                assert_eq!(ticks(&turns), expected, "polls of {poll:?}");
            }
        }
    }

    #[test]
    fn the_longest_interval_may_be_any_number() {
        for max in [0, 1, 2, u32::MAX] {
            let turns = InjectorTurns::new(max);
            turns.adapt(&poll_interval_with(100 * MICROSECOND));
            assert!(ticks(&turns) <= 2);
            assert_eq!(ticks(&turns), 1);
        }
    }

    /// Polls of the injector's tasks, and of the others, in a number of ticks in which there always are some of both.
    fn shares(turns: &InjectorTurns, poll_interval: impl Fn(usize) -> PollInterval, ticks: usize) -> (usize, usize) {
        let (mut taken, mut injected, mut others) = (0, 0, 0);
        for tick in 0..ticks {
            turns.adapt(&poll_interval(tick));
            if turns.tick() {
                assert_eq!(taken, 0, "what was taken before is polled before the next turn");
                taken = turns.share(Others::Waiting);
                turns.have_taken(taken, Others::Waiting);
            }
            match taken.checked_sub(1) {
                Some(left) => (taken, injected) = (left, injected + 1),
                None => others += 1,
            }
        }
        (injected, others)
    }

    #[test]
    fn half_of_the_ticks_are_left_to_the_others() {
        for poll in [NANOSECOND, MICROSECOND, 10 * MICROSECOND, 1_000 * MICROSECOND] {
            for max in [1, 2, 3, 60, 61] {
                let (injected, others) = shares(&InjectorTurns::new(max), |_| poll_interval_with(poll), 10_000);
                assert!(others >= injected, "{injected} and {others}, polls of {poll:?}, at most {max} ticks");
                assert!(injected >= 3_000, "{injected} and {others}, polls of {poll:?}, at most {max} ticks");
            }
        }
    }

    #[test]
    fn half_of_the_ticks_are_left_to_the_others_while_polls_become_longer_and_shorter() {
        for every in [1, 2, 3, 5, 10, 40, 100] {
            let poll_interval =
                |tick| poll_interval_with(if tick / every % 2 == 0 { NANOSECOND } else { 100 * MICROSECOND });
            let (injected, others) = shares(&InjectorTurns::new(61), poll_interval, 10_000);
            // But for the turn under way at the end.
            assert!(
                others + MAX_SHARED_BATCH as usize >= injected,
                "{injected} and {others}, they change every {every} ticks"
            );
        }
    }

    #[test]
    fn tasks_that_gave_way_get_the_ticks_they_need_and_no_more_than_half() {
        let turns = turns_with(MICROSECOND);
        for (taken, needed, expected) in [(1, 1, 20), (32, 4, 36), (32, 40, 64), (30, 0, 30)] {
            turns.have_taken(taken, Others::GaveWay { ticks: needed });
            assert_eq!(ticks(&turns), expected, "{taken} taken, and {needed} of the others");
        }
        assert_eq!(turns.share(Others::GaveWay { ticks: 1 }), turns.share(Others::Nobody));
    }

    #[test]
    fn one_that_was_taken_does_not_put_off_the_turn_when_polls_become_long() {
        let turns = turns_with(NANOSECOND);
        turns.have_taken(1, Others::Waiting);
        turns.adapt(&poll_interval_with(100 * MICROSECOND));
        assert_eq!((ticks(&turns), ticks(&turns)), (2, 1));
    }

    #[test]
    fn nor_does_what_was_taken_at_an_earlier_turn() {
        let turns = turns_with(NANOSECOND);
        turns.have_taken(10, Others::Waiting);
        assert_eq!(ticks(&turns), 61);
        turns.adapt(&poll_interval_with(100 * MICROSECOND));
        assert_eq!(ticks(&turns), 1);
    }

    #[test]
    fn a_thread_without_tasks_takes_no_more_than_it_polls_before_it_looks_after_the_drivers() {
        assert_eq!(InjectorTurns::new(61).share(Others::Nobody), 32, "nothing is known");
        for (poll, expected) in
            [(NANOSECOND, 32), (10 * MICROSECOND, 20), (100 * MICROSECOND, 2), (1_000 * MICROSECOND, 1)]
        {
            assert_eq!(turns_with(poll).share(Others::Nobody), expected, "polls of {poll:?}");
        }
    }

    #[test]
    fn a_tick_that_would_be_the_turn_is_not_counted_away() {
        let turns = InjectorTurns::new(3);
        assert!(turns.tick_unless_turn() && turns.tick_unless_turn());
        assert!(!turns.tick_unless_turn() && !turns.tick_unless_turn());
        assert!(turns.tick());
    }
}
