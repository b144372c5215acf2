//! [`Line`]: how many tasks go before a main future that has given way.
//!
//! A main future that *gives way* (by `yield_now`, or for want of budget) wants others to run: the tasks that are
//! queued, and what these spawn and wake, go before it, up to [`MOST_AHEAD_OF_MAIN`] polls, and then the drivers are
//! polled once. Tests of programs count on that: after one `yield_now` what was spawned has begun, and what happened to
//! a socket is known. Tasks that give way in turn do so to the main future, too.
//!
//! A main future that *waits* does so for what a task does, or for a socket or a timer. Once the tasks that were queued
//! when it began to wait have been polled, it is not woken, and one of them gave way, the drivers are polled, once: such
//! tasks may go on and on, while what the main future waits for has happened already. If none gave way, they work for
//! each other, and the drivers have their turn as ever.
//!
//! It belongs to the thread that drives (`drive.rs`), and is a count of polls: it holds no tasks.

use std::cell::Cell;

use crate::runtime::DEFAULT_INTERVAL;

/// How many polls of tasks go before a main future that gave way, at most.
const MOST_AHEAD_OF_MAIN: usize = DEFAULT_INTERVAL as usize;

/// What the main future did at the end of its last poll.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Main {
    /// What it did has been dealt with.
    #[default]
    Absent,
    GaveWay,
    Waits,
}

/// The line that a main future stands in that has given way, or the drivers, for one that waits.
#[derive(Default)]
pub(super) struct Line {
    main: Cell<Main>,
    /// The polls of tasks before its turn, or that of the drivers.
    ahead: Cell<usize>,
    /// How many more tasks may join these.
    room: Cell<usize>,
    /// Whether a task has given way since the main future began to wait.
    has_yielder: Cell<bool>,
}

impl Line {
    /// The main future has given way: it goes behind this many tasks.
    pub(super) fn begin(&self, tasks: usize) {
        let ahead = tasks.min(MOST_AHEAD_OF_MAIN);
        self.main.set(Main::GaveWay);
        self.ahead.set(ahead);
        self.room.set(MOST_AHEAD_OF_MAIN - ahead);
    }

    /// The main future waits: the drivers go behind this many tasks, and no others.
    pub(super) fn begin_wait(&self, tasks: usize) {
        self.main.set(Main::Waits);
        self.has_yielder.set(false);
        self.ahead.set(tasks.min(MOST_AHEAD_OF_MAIN));
        self.room.set(0);
    }

    /// Whether anybody stands in it.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.main.get() == Main::Absent
    }

    /// Whether it is for a main future that waits.
    pub(super) fn is_of_wait(&self) -> bool {
        self.main.get() == Main::Waits
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

    /// A task was polled.
    #[inline]
    pub(super) fn note_poll(&self) {
        self.ahead.set(self.ahead.get().saturating_sub(1));
    }

    /// A task gave way.
    #[inline]
    pub(super) fn note_yield(&self) {
        self.has_yielder.set(true);
    }

    /// Whether one has since the main future began to wait.
    pub(super) fn has_yielder(&self) -> bool {
        self.has_yielder.get()
    }

    /// The main future, or the drivers, have their turn.
    pub(super) fn end(&self) {
        self.main.set(Main::Absent);
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
        line.note_poll();
        line.note_yield();
        line.note_poll();
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
            line.note_poll();
        });
        assert!(!line.is_anybody_ahead() && !line.is_of_wait());
    }
}
