//! [`Line`]: how many tasks go before a main future that has given way.
//!
//! A main future that *gives way* (by `yield_now`, or for want of budget) wants others to run: the tasks that are
//! queued, and what these spawn and wake, go before it, up to [`MOST_AHEAD_OF_MAIN`] polls, and then the drivers are
//! polled once. Tests of programs count on that: after one `yield_now` what was spawned has begun, and what happened to
//! a socket is known. Tasks that give way in turn do so to the main future, too.
//!
//! A main future that *waits* does so for what a task does, or for a socket or a timer. Once the tasks that were queued
//! when it began to wait have been polled, and it is not woken, the drivers are polled, once, also if these tasks go on
//! and on: they only give way, and what the main future waits for may have happened already.
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

    /// The main future, or the drivers, have their turn.
    pub(super) fn end(&self) {
        self.main.set(Main::Absent);
        self.ahead.set(0);
        self.room.set(0);
    }
}
