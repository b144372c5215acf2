//! [`Line`]: how many tasks go before a main future that was woken.
//!
//! As in Tokio, tasks are polled in *rounds* of [`MOST_AHEAD_OF_MAIN`] polls at most. A main future that a task wakes
//! stands in the line: what is left of the round goes before it. That is what is queued, and what these tasks spawn and
//! wake. Tests of programs count on that: what a task has begun has been seen by the others when the main future goes
//! on. A task that gives way does so to the main future, too, and waits for the next round. The next round begins when
//! nobody else is left, or the main future has been polled. A main future that has woken itself stands in the same
//! line.
//!
//! A main future that was woken while the thread slept, by the drivers or by another thread, is polled at once.
//!
//! A main future that *gives way* (by `yield_now`, or for want of budget) stands in the same line, and then the drivers
//! are polled once before it goes on: after one `yield_now` it is known what happened to a socket.
//!
//! A main future that *waits* does so for what a task does, or for a socket or a timer. Once the tasks that were queued
//! when it began to wait have been polled, it is not woken, and one of them gave way, the drivers are polled, once:
//! such tasks may go on and on, while what the main future waits for has happened already. If none gave way, they work
//! for each other, and the drivers have their turn as ever.
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
    /// Whether a task has given way since the main future began to wait.
    has_yielder: Cell<bool>,
    /// No task has been polled since the thread slept, or began: a main future that is woken goes first.
    is_main_first: Cell<bool>,
    /// How many polls the round has had.
    polls: Cell<usize>,
    /// How many tasks have given way in it: they wait for the next.
    yields: Cell<usize>,
}

impl Default for Line {
    fn default() -> Self {
        let (who, ahead, room, has_yielder, polls, yields) = Default::default();
        Self { who, ahead, room, has_yielder, is_main_first: Cell::new(true), polls, yields }
    }
}

impl Line {
    /// The thread has slept: a main future that was woken meanwhile goes first.
    pub(super) fn let_main_first(&self) {
        self.begin_round();
        self.is_main_first.set(true);
    }

    /// Whether a main future that is woken goes first.
    pub(super) fn is_main_first(&self) -> bool {
        self.is_main_first.get()
    }

    /// The main future has been polled, or nobody else is left of the last one.
    pub(super) fn begin_round(&self) {
        self.polls.set(0);
        self.yields.set(0);
    }

    /// The main future has given way, and goes behind this many tasks.
    pub(super) fn begin(&self, tasks: usize) {
        self.stand(Who::GaveWay, tasks);
    }

    /// The main future was woken, and goes behind this many tasks, but for those that have given way.
    pub(super) fn begin_woken(&self, tasks: usize) {
        self.stand(Who::Woken, tasks.saturating_sub(self.yields.get()));
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
        self.has_yielder.set(false);
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

    /// A task is about to be polled, of this many that were queued.
    #[inline]
    pub(super) fn note_poll(&self, queued: usize) {
        let yields = self.yields.get();
        if self.polls.get() >= MOST_AHEAD_OF_MAIN || (yields > 0 && yields >= queued) {
            self.begin_round();
        }
        self.ahead.set(self.ahead.get().saturating_sub(1));
        self.polls.set(self.polls.get() + 1);
        self.is_main_first.set(false);
    }

    /// A task gave way.
    #[inline]
    pub(super) fn note_yield(&self) {
        self.has_yielder.set(true);
        self.yields.set(self.yields.get() + 1);
    }

    /// Whether one has since the main future began to wait.
    pub(super) fn has_yielder(&self) -> bool {
        self.has_yielder.get()
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
    fn only_a_yield_since_the_wait_began_counts() {
        let line = Line::default();
        line.note_yield();
        line.begin_wait(2);
        assert!(line.is_of_wait() && line.is_anybody_ahead() && !line.has_yielder());
        // What is woken meanwhile does not join those ahead.
        line.note_new();
        line.note_poll(1);
        line.note_yield();
        line.note_poll(1);
        assert!(!line.is_anybody_ahead() && line.has_yielder());
        line.end();
        assert!(line.is_empty());
        line.begin_wait(0);
        assert!(!line.has_yielder());
    }

    #[test]
    fn a_main_future_that_gave_way_goes_behind_a_bounded_number() {
        let line = Line::default();
        line.begin(MOST_AHEAD_OF_MAIN - 1);
        (0..3).for_each(|_| line.note_new());
        (0..MOST_AHEAD_OF_MAIN).for_each(|_| {
            assert!(line.is_anybody_ahead());
            line.note_poll(1);
        });
        assert!(!line.is_anybody_ahead() && !line.is_of_wait());
    }

    #[test]
    fn a_main_future_that_was_woken_goes_behind_what_is_left_of_the_round() {
        let line = Line::default();
        assert!(line.is_main_first(), "the first poll is at once");
        (0..10).for_each(|_| line.note_poll(1));
        line.note_yield();
        line.begin_woken(3);
        // Two of the three have not had their turn in this round.
        (0..2).for_each(|left| line.note_poll(3 - left));
        assert!(line.is_main_in_it() && !line.is_anybody_ahead());
        (0..MOST_AHEAD_OF_MAIN).for_each(|_| line.note_new());
        (0..MOST_AHEAD_OF_MAIN - 10 - 2).for_each(|_| {
            assert!(line.is_anybody_ahead());
            line.note_poll(3);
        });
        assert!(!line.is_anybody_ahead());
        // The next round: of those that are queued one has given way, and has its turn again.
        line.note_poll(1);
        line.begin_woken(1);
        assert!(!line.is_main_first() && line.is_anybody_ahead());
    }
}
