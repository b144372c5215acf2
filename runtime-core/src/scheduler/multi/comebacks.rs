//! Which tasks a worker has taken as its newest of late, so that it sees one that keeps coming back. `run_queue.rs`
//! asks for each task that it takes from the top of the LIFO queue, but the one in the slot, below which there is none.
//!
//! Such a task is one that many others wake: a connection that all requests share, a log that answers together what it
//! finds in its channel. Each caller on the LIFO queue makes it the newest. So it would run after each of them, with
//! one request at a time. When it has come back twice it runs; and then those below have their turn, so that it finds
//! what they all send. Callers that sockets have woken are on the FIFO queue, and not among them.
//!
//! A tree of tasks is to be walked into its depth all the same. A task that waits for two of its own comes back once;
//! and where one comes back for each of many, as in a `JoinSet`, the turn of those below ends with the first that was
//! not polled before. (If those that are below have been polled and spawn only then, more of them are begun at a time
//! than without this.)

use std::cell::Cell;

use super::run_queue::TURN_INTERVAL;
use crate::task::Id;

/// How many tasks are remembered: as many as two rounds of turns have ticks. In these the other end of the queue has
/// had two turns at the least; whoever has come back twice has had three. So a task is seen that comes back with up to
/// three others in between.
const LOOKS_BACK: usize = 2 * TURN_INTERVAL as usize;

/// No task has this identifier.
const NOBODY: Id = Id(u64::MAX);

/// The tasks that were taken last, the newest first. By their identifiers: a task that is spawned may get the memory of
/// one that has just ended.
pub(super) struct Comebacks(Cell<[Id; LOOKS_BACK]>);

impl Comebacks {
    pub(super) fn new() -> Self {
        Self(Cell::new([NOBODY; LOOKS_BACK]))
    }

    /// Notes a task that was taken. Whether it has come back twice; then all are forgotten.
    #[inline]
    pub(super) fn note(&self, task: Id) -> bool {
        let mut last = self.0.get();
        if last.iter().filter(|&&other| other == task).count() == 2 {
            self.0.set([NOBODY; LOOKS_BACK]);
            return true;
        }
        last.copy_within(..LOOKS_BACK - 1, 1);
        last[0] = task;
        self.0.set(last);
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// After how many others a task was seen to have come back twice.
    fn seen_after(tasks: impl IntoIterator<Item = u64>) -> Option<usize> {
        let comebacks = Comebacks::new();
        tasks.into_iter().position(|task| comebacks.note(Id(task)))
    }

    #[test]
    fn a_task_comes_back_between_its_callers() {
        assert_eq!(seen_after([1, 2, 1, 3, 1]), Some(4));
        // With three others in between.
        assert_eq!(seen_after([1, 2, 3, 4, 1, 5, 6, 7, 1]), Some(8));
        // With four: so far it does not look back.
        assert_eq!(seen_after([1, 2, 3, 4, 5, 1, 6, 7, 8, 9, 1]), None);
    }

    #[test]
    fn a_walk_through_a_tree_is_no_comeback() {
        // Each waits for two of its own, and is taken when the second has ended.
        assert_eq!(seen_after([1, 3, 2, 5, 4, 2, 1, 9, 8, 7, 6, 9]), None);
        assert_eq!(seen_after(1..100), None);
    }

    #[test]
    fn after_a_turn_of_those_below_it_begins_anew() {
        let comebacks = Comebacks::new();
        let turns = [1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1].map(|task| comebacks.note(Id(task)));
        assert_eq!(turns.iter().filter(|&&turn| turn).count(), 2);
        assert!(turns[4] && turns[10]);
    }
}
