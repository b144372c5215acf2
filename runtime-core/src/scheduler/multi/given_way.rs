//! [`GivenWay`]: a worker's tasks that have given way, by `yield_now` or for want of budget, and when they go on.
//!
//! They have said that others should go first. So they stand apart, on a queue of their own, until all other queues of
//! the worker are empty; but for one *round* of [`ROUND`] ticks at most, so that a flood of others does not starve
//! them. When a round is over, those that are here are *released*: they and the FIFO queue take turns. Those that give
//! way after that wait for the end of the next round. It is the same on a current-thread runtime (`task/queue.rs`), and
//! in Tokio, but that what is released stands in the common line there.
//!
//! A task that just wakes itself does not give way: a future that is done in parts does so, and is in the middle of its
//! work.
//!
//! Released are the oldest ones, as many as were here when the round was over. Others may steal of them meanwhile, so
//! it may be more than there are.

use std::cell::Cell;

use crossbeam_deque::{Stealer, Worker as Deque};

use crate::runtime::DEFAULT_INTERVAL;
use crate::task::Notified;

/// How many ticks they wait, at most, before they take turns with others.
pub(super) const ROUND: u32 = DEFAULT_INTERVAL;

/// See the module.
pub(super) struct GivenWay {
    queue: Deque<Notified>,
    /// How many are released.
    released: Cell<usize>,
    /// Ticks until the round is over.
    left: Cell<u32>,
    /// Whether the last turn was theirs, of those for which others waited as well.
    had_last: Cell<bool>,
}

impl GivenWay {
    pub(super) fn new() -> Self {
        let (released, left, had_last) = (Cell::new(0), Cell::new(ROUND), Cell::new(false));
        Self { queue: Deque::new_fifo(), released, left, had_last }
    }

    pub(super) fn stealer(&self) -> Stealer<Notified> {
        self.queue.stealer()
    }

    /// Where stolen ones go.
    pub(super) fn queue(&self) -> &Deque<Notified> {
        &self.queue
    }

    #[inline]
    pub(super) fn push(&self, task: Notified) {
        self.queue.push(task);
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Counts a tick. Releases those that are here if the round is over.
    #[inline]
    pub(super) fn tick(&self) {
        let left = self.left.get() - 1;
        self.left.set(left);
        if left == 0 {
            self.left.set(ROUND);
            self.released.set(self.queue.len());
        }
    }

    /// How many are released.
    pub(super) fn released(&self) -> usize {
        self.released.get()
    }

    /// Whether this turn is theirs, and not that of the others who wait for one. They take turns.
    pub(super) fn take_turn(&self) -> bool {
        self.released.get() > 0 && !self.had_last.replace(!self.had_last.get())
    }

    /// Takes the oldest that is released.
    pub(super) fn pop_released(&self) -> Option<Notified> {
        if self.released.get() == 0 {
            return None;
        }
        let task = self.pop();
        if task.is_none() {
            self.released.set(0);
        }
        task
    }

    /// Takes the oldest, released or not.
    #[inline]
    pub(super) fn pop(&self) -> Option<Notified> {
        if self.queue.is_empty() {
            return None;
        }
        self.released.set(self.released.get().saturating_sub(1));
        self.queue.pop()
    }
}
