//! [`Queue`]: tasks that are to be polled by one thread, first in, first out. For the current-thread scheduler, and for
//! a `LocalSet`.
//!
//! Both poll in *rounds*. A task that has given way in a round stands apart until the next one begins, and then goes
//! behind what is queued. So what was there goes first, and what that spawns and wakes, too, as far as it goes in one
//! round.
//!
//! It does not know how long a round is: its owner says when one begins.

use std::collections::VecDeque;

use super::Notified;

/// See the module.
#[derive(Default)]
pub(crate) struct Queue {
    ready: VecDeque<Notified>,
    given_way: VecDeque<Notified>,
}

/// What is left in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    /// Only tasks that have given way in this round.
    GivenWay,
    /// Some that have their turn in this round.
    Ready,
}

impl Queue {
    /// All of them.
    pub(crate) fn len(&self) -> usize {
        self.ready.len() + self.given_way.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.given_way.is_empty()
    }

    /// How many have their turn in this round, if it is long enough.
    pub(crate) fn number_ready(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn left(&self) -> Left {
        match (self.ready.is_empty(), self.given_way.is_empty()) {
            (true, true) => Left::Nothing,
            (true, false) => Left::GivenWay,
            (false, _) => Left::Ready,
        }
    }

    pub(crate) fn push(&mut self, task: Notified) {
        self.ready.push_back(task);
    }

    /// Queues a task that has given way.
    pub(crate) fn push_given_way(&mut self, task: Notified) {
        self.given_way.push_back(task);
    }

    /// The next one of this round.
    pub(crate) fn pop(&mut self) -> Option<Notified> {
        self.ready.pop_front()
    }

    /// Queues tasks behind those of this round.
    pub(crate) fn extend(&mut self, tasks: impl Iterator<Item = Notified>) {
        self.ready.extend(tasks);
    }

    /// Queues tasks before all others, and says how many they were.
    pub(crate) fn extend_front(&mut self, tasks: impl Iterator<Item = Notified>) -> usize {
        let before = self.ready.len();
        self.ready.extend(tasks);
        let added = self.ready.len() - before;
        self.ready.rotate_right(added);
        added
    }

    /// A round begins: those that have given way stand in line like all others.
    #[inline]
    pub(crate) fn begin_round(&mut self) {
        if self.ready.is_empty() {
            std::mem::swap(&mut self.ready, &mut self.given_way);
        } else {
            self.ready.append(&mut self.given_way);
        }
    }
}
