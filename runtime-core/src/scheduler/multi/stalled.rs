//! Tasks on the queues of a *stalled* worker: one that has been neither woken nor at its maintenance for a while. It is
//! in a long poll, or the operating system lets its thread wait for a processor.
//!
//! Its tasks would wait as long. A worker without work finds them in its search (`steal.rs`), but one that the drivers
//! feed is never without. So at its maintenance a worker looks for a peer that is stalled, and takes half of a queue.
//!
//! All workers together look at all peers once in [`LOOK_INTERVAL`], whatever the number of either ([`PeerLooks`]).
//! It is as often if only two of 64 workers have a processor, and the others are stalled; and if all of them have one,
//! each is read by one other in that time. A look that has found something does not count: while there is something to
//! take, each worker looks at each maintenance.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::{Slot, Worker};
use crate::clock::Moment;
use crate::scheduler::poll_interval::DRIVER_POLL_TARGET;

/// The time from one look at all workers to the next. While polls are short a worker is at its maintenance that often.
const LOOK_INTERVAL: Duration = DRIVER_POLL_TARGET;

/// A worker is stalled if it has neither woken up nor had its maintenance for that long.
const STALLED_AFTER: Duration = Duration::from_micros(2 * DRIVER_POLL_TARGET.as_micros() as u64);

/// Whether a worker is stalled that was not seen for `since_maintenance`. A worker whose own interval was that long
/// cannot judge others: two with long polls would take the same tasks from each other all the time, and some of these
/// would never get to the front of a line.
pub(super) fn is_stalled(since_maintenance: Duration, own_interval: Duration) -> bool {
    since_maintenance >= STALLED_AFTER && since_maintenance >= 2 * own_interval
}

/// Whose turn it is to look at the others: that of the worker which comes first when the time is over.
///
/// Everything is relaxed: it orders nothing, and a look too many or too few does no harm.
#[derive(Debug, Default)]
pub(super) struct PeerLooks {
    /// The moment of the last look that found nothing. Zero: there is none.
    last: AtomicU64,
}

impl PeerLooks {
    /// Whether the caller is to look now. True for one of those that ask at the same time.
    fn take_turn(&self, now: Moment) -> bool {
        let last = self.last.load(Relaxed);
        let is_due = Moment::from_word(last).is_none_or(|last| now.since(last) >= LOOK_INTERVAL);
        is_due && self.last.compare_exchange(last, now.word(), Relaxed, Relaxed).is_ok()
    }

    /// The look has found something, and there may be more.
    fn look_again(&self) {
        self.last.store(0, Relaxed);
    }
}

impl Worker {
    /// Tells the other workers that this one is not stalled.
    pub(super) fn note_maintenance(&self, now: Moment) {
        // Relaxed: nothing else is read by a thread that sees it, and to see it late costs a steal too many.
        self.slot().last_maintenance.store(now.word(), Relaxed);
    }

    /// If it is this worker's turn to look: takes half of a queue of the first peer that is stalled and has tasks,
    /// beginning with a random one.
    pub(super) fn help_stalled_peer(&self, now: Moment, own_interval: Duration) {
        let looks = &self.shared().peer_looks;
        if !looks.take_turn(now) {
            return;
        }
        let is_in_need = |peer: &&Slot| is_stalled(peer.since_maintenance(now), own_interval) && peer.has_any_work();
        let Some(peer) = self.peers().find(is_in_need) else { return };
        let has_taken = self.take_over(|| {
            // Its lone task, too, even if others wait here: as long as there are any this worker does not search, and
            // there may be nobody else.
            if !self.core.run_queue.take_over(&peer.run_queue)
                && let Some(task) = peer.run_queue.steal_lone()
            {
                self.core.run_queue.push_taken_over(task);
            }
        });
        if has_taken {
            looks.look_again();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_stalled_only_in_comparison() {
        let is_stalled = |since, own| is_stalled(Duration::from_micros(since), Duration::from_micros(own));
        assert!(!is_stalled(399, 200));
        assert!(is_stalled(400, 200));
        assert!(!is_stalled(1999, 1000), "all have long polls");
        assert!(is_stalled(2000, 1000));
    }

    #[test]
    fn one_worker_looks_in_each_interval_unless_there_is_something_to_take() {
        let interval = LOOK_INTERVAL.as_nanos() as u64;
        let (looks, start) = (PeerLooks::default(), Moment::now());
        assert!(looks.take_turn(start));
        assert!(!looks.take_turn(start.plus_nanos(interval - 1)));
        assert!(looks.take_turn(start.plus_nanos(interval)));
        assert!(!looks.take_turn(start), "its clock was read before");
        looks.look_again();
        assert!(looks.take_turn(start));
    }
}
