//! [`Line`]: how many tasks go before a main future that has given way.
//!
//! A main future that *gives way* (by `yield_now`, or for want of budget) wants others to run: the tasks that are
//! queued, and what these spawn and wake, go before it, up to [`MOST_AHEAD_OF_MAIN`] polls, and then the drivers are
//! polled once. Tests of programs count on that: after one `yield_now` what was spawned has begun, and what happened to
//! a socket is known. Tasks that give way in turn do so to the main future, too.
//!
//! It belongs to the thread that drives (`drive.rs`), and is a count of polls: it holds no tasks.

use std::cell::Cell;

use crate::runtime::DEFAULT_INTERVAL;

/// How many polls of tasks go before a main future that gave way, at most.
const MOST_AHEAD_OF_MAIN: usize = DEFAULT_INTERVAL as usize;

/// The line that a main future stands in that has given way.
#[derive(Default)]
pub(super) struct Line {
    /// Whether it does.
    has_main: Cell<bool>,
    /// The polls of tasks before its turn.
    ahead: Cell<usize>,
    /// How many more tasks may join these.
    room: Cell<usize>,
}

impl Line {
    /// The main future goes behind this many tasks.
    pub(super) fn begin(&self, tasks: usize) {
        let ahead = tasks.min(MOST_AHEAD_OF_MAIN);
        self.has_main.set(true);
        self.ahead.set(ahead);
        self.room.set(MOST_AHEAD_OF_MAIN - ahead);
    }

    /// Whether the main future stands in it.
    #[inline]
    pub(super) fn has_main(&self) -> bool {
        self.has_main.get()
    }

    /// Whether tasks go before the main future.
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

    /// The main future has its turn.
    pub(super) fn end(&self) {
        self.has_main.set(false);
        self.ahead.set(0);
        self.room.set(0);
    }
}
