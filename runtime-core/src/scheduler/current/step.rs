//! Driving the single-threaded scheduler by hand: `try_tick` and `run_until_stalled`, for programs with a loop of their
//! own and for tests that go step by step.
//!
//! Each call takes the core, goes through turns of the same loop that `block_on` runs (`Worker::turn`), and puts the
//! core down again. It never waits: neither in the drivers nor for another thread that has the core.
//!
//! Between two calls nobody has the core. What is woken then goes to the injector, by `Shared::inject`, and lies there
//! for the next turn; the notification that comes with it is used up by the next sleep of a `block_on`, which therefore
//! looks once more.

use std::sync::Arc;

use super::Worker;
use super::drive::drive_here;
use crate::runtime::Inner;

/// Polls one task, if one is ready. False if there was none, or if another thread drives the runtime.
pub(crate) fn try_tick(runtime: &Arc<Inner>) -> bool {
    drive_here(runtime, Worker::step) == Some(true)
}

/// Polls tasks until none is ready. Returns the number of polls: zero, too, if another thread drives the runtime.
pub(crate) fn run_until_stalled(runtime: &Arc<Inner>) -> usize {
    let run = |worker: &Worker| {
        let mut polls = 0;
        while !worker.is_closing() && worker.step() {
            polls += 1;
        }
        polls
    };
    drive_here(runtime, run).unwrap_or(0)
}

impl Worker {
    /// A turn; and if it finds no task, a look at the drivers, and a turn for what they have woken.
    fn step(&self) -> bool {
        if self.turn() {
            return true;
        }
        self.exchange_frees();
        self.poll_drivers_between_polls();
        self.turn()
    }
}
