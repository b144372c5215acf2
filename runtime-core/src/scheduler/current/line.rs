//! [`Line`]: how many tasks go before a main future that was woken.
//!
//! | the main future | goes on after | are the drivers polled before? |
//! |---|---|---|
//! | was woken by a task, or by itself | what is left of the round | if they have their turn |
//! | was woken while the thread slept | nobody | they have been |
//! | gave way | what is left of the round | yes, once |
//! | waits | its wake | once, when what was queued has been polled, if one of these tasks has woken itself |
//!
//! As in Tokio, tasks are polled in *rounds* of [`MOST_AHEAD_OF_MAIN`] polls at most. A main future that a task wakes
//! stands in the line: what is left of the round goes before it. That is what is queued, and what these tasks spawn and
//! wake. Tests of programs count on that: what a task has begun has been seen by the others when the main future goes
//! on. A task that gives way does so to all of them, and waits for the next round (`Queue`). The next round begins when
//! nobody else is left, or the main future is polled. A main future that has woken itself stands in the same line.
//!
//! A main future that was woken while the thread slept, by the drivers or by another thread, is polled at once.
//!
//! A main future that *gives way* (by `yield_now`, or for want of budget) stands in the same line, and then the drivers
//! are polled once before it goes on: after one `yield_now` it is known what happened to a socket.
//!
//! A main future that *waits* does so for what a task does, or for a socket or a timer. Once the tasks that were queued
//! when it began to wait have been polled, it is not woken, and one of them has woken itself, the drivers are polled,
//! once: such tasks may go on and on, while what the main future waits for has happened already. If none has
//! woken itself, they work for each other, and the drivers have their turn as ever.
//!
//! It belongs to the thread that drives (`drive.rs`), and is a count of polls: it holds no tasks.

use std::cell::Cell;

use crate::runtime::DEFAULT_INTERVAL;

/// How many polls of tasks of one round go before a main future that was woken, at most.
const MOST_AHEAD_OF_MAIN: usize = DEFAULT_INTERVAL as usize;

/// Who stands in the line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Who {
    #[default]
    Nobody,
    /// The main future, which gave way.
    GaveWay,
    /// The main future, which was woken.
    Woken,
    /// The drivers, as the main future waits.
    Drivers,
}

/// See the module.
pub(super) struct Line {
    who: Cell<Who>,
    /// The polls of tasks before its turn.
    ahead: Cell<usize>,
    /// How many more tasks may join these.
    room: Cell<usize>,
    /// Whether a task has woken itself since the main future began to wait.
    has_self_waker: Cell<bool>,
    /// No task has been polled since the thread slept, or began: a main future that is woken goes first.
    is_main_first: Cell<bool>,
    /// How many polls the round has had.
    polls: Cell<usize>,
}

impl Default for Line {
    fn default() -> Self {
        let (who, ahead, room, has_self_waker, polls) = Default::default();
        Self { who, ahead, room, has_self_waker, is_main_first: Cell::new(true), polls }
    }
}

impl Line {
    /// The line of a thread that takes the core over, in a round that has had this many polls.
    pub(super) fn in_round(polls: usize) -> Self {
        Self { polls: Cell::new(polls), ..Self::default() }
    }

    /// How many polls the round has had.
    pub(super) fn polls(&self) -> usize {
        self.polls.get()
    }

    /// The thread has slept: a main future that was woken meanwhile goes first.
    pub(super) fn let_main_first(&self) {
        self.begin_round();
        self.is_main_first.set(true);
    }

    /// Whether a main future that is woken goes first.
    pub(super) fn is_main_first(&self) -> bool {
        self.is_main_first.get()
    }

    /// The main future is to be polled, nobody else is left of the last round, or that is over.
    pub(super) fn begin_round(&self) {
        self.polls.set(0);
    }

    /// Whether the round has had all of its polls.
    #[inline]
    pub(super) fn is_round_over(&self) -> bool {
        self.polls.get() >= MOST_AHEAD_OF_MAIN
    }

    /// The main future has given way, and goes behind this many tasks.
    pub(super) fn begin_given_way(&self, tasks: usize) {
        self.stand(Who::GaveWay, tasks);
    }

    /// The main future was woken, and goes behind this many tasks.
    pub(super) fn begin_woken(&self, tasks: usize) {
        self.stand(Who::Woken, tasks);
    }

    fn stand(&self, who: Who, tasks: usize) {
        let most = MOST_AHEAD_OF_MAIN.saturating_sub(self.polls.get());
        let ahead = tasks.min(most);
        self.who.set(who);
        self.ahead.set(ahead);
        self.room.set(most - ahead);
        self.is_main_first.set(false);
    }

    /// The main future waits: the drivers go behind this many tasks, and no others.
    pub(super) fn begin_wait(&self, tasks: usize) {
        self.who.set(Who::Drivers);
        self.has_self_waker.set(false);
        self.ahead.set(tasks.min(MOST_AHEAD_OF_MAIN));
        self.room.set(0);
        self.is_main_first.set(false);
    }

    /// Whether nobody stands in it.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.who.get() == Who::Nobody
    }

    /// Whether the main future stands in it.
    #[inline]
    pub(super) fn is_main_in_it(&self) -> bool {
        matches!(self.who.get(), Who::GaveWay | Who::Woken)
    }

    /// Whether it is for a main future that gave way.
    pub(super) fn has_given_way(&self) -> bool {
        self.who.get() == Who::GaveWay
    }

    /// Whether it is for a main future that waits.
    pub(super) fn is_of_wait(&self) -> bool {
        self.who.get() == Who::Drivers
    }

    /// Whether tasks go before the one who stands in it.
    pub(super) fn is_anybody_ahead(&self) -> bool {
        self.ahead.get() > 0
    }

    /// A task was spawned or woken.
    #[inline]
    pub(super) fn note_new(&self) {
        let room = self.room.get();
        if room > 0 {
            self.room.set(room - 1);
            self.ahead.set(self.ahead.get() + 1);
        }
    }

    /// A task is about to be polled.
    #[inline]
    pub(super) fn note_poll(&self) {
        self.ahead.set(self.ahead.get().saturating_sub(1));
        self.polls.set(self.polls.get() + 1);
        self.is_main_first.set(false);
    }

    /// A task has woken itself.
    #[inline]
    pub(super) fn note_self_wake(&self) {
        self.has_self_waker.set(true);
    }

    /// Whether one has since the main future began to wait.
    pub(super) fn has_self_waker(&self) -> bool {
        self.has_self_waker.get()
    }

    /// The one who stands in it has his turn.
    pub(super) fn end(&self) {
        self.who.set(Who::Nobody);
        self.ahead.set(0);
        self.room.set(0);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_a_self_wake_since_the_wait_began_counts() {
        let line = Line::default();
        line.note_self_wake();
        line.begin_wait(2);
        assert!(line.is_of_wait() && line.is_anybody_ahead() && !line.has_self_waker());
        // What is woken meanwhile does not join those ahead.
        line.note_new();
        line.note_poll();
        line.note_self_wake();
        line.note_poll();
        assert!(!line.is_anybody_ahead() && line.has_self_waker());
        line.end();
        assert!(line.is_empty());
        line.begin_wait(0);
        assert!(!line.has_self_waker());
    }

    #[test]
    fn a_main_future_that_gave_way_goes_behind_a_bounded_number() {
        let line = Line::default();
        line.begin_given_way(MOST_AHEAD_OF_MAIN - 1);
        (0..3).for_each(|_| line.note_new());
        (0..MOST_AHEAD_OF_MAIN).for_each(|_| {
            assert!(line.is_anybody_ahead());
            line.note_poll();
        });
        assert!(!line.is_anybody_ahead() && !line.is_of_wait());
    }

    #[test]
    fn a_main_future_that_was_woken_goes_behind_what_is_left_of_the_round() {
        let line = Line::default();
        assert!(line.is_main_first(), "the first poll is at once");
        (0..10).for_each(|_| line.note_poll());
        line.begin_woken(2);
        (0..2).for_each(|_| line.note_poll());
        assert!(line.is_main_in_it() && !line.is_anybody_ahead());
        (0..MOST_AHEAD_OF_MAIN).for_each(|_| line.note_new());
        (0..MOST_AHEAD_OF_MAIN - 10 - 2).for_each(|_| {
            assert!(line.is_anybody_ahead());
            line.note_poll();
        });
        assert!(!line.is_anybody_ahead() && line.is_round_over());
        line.begin_woken(1);
        assert!(!line.is_anybody_ahead(), "nobody has a turn any more in a round that is over");
        line.begin_round();
        line.begin_woken(1);
        assert!(!line.is_main_first() && line.is_anybody_ahead() && !line.is_round_over());
    }
}
