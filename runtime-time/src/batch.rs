//! Wakers on their way from a shard's wheel to their tasks.
//!
//! The firing thread takes a batch of them out under the lock and gives them to the scheduler after releasing it. What
//! that does with a waker may take long, and may set timers. None of that may reach the shard.

use std::task::Waker;

use runtime_core::driver::WakeSink;

/// How many timers fire under one hold of the lock: enough to make the lock cheap, few enough that a worker which sets
/// a timer meanwhile waits for a microsecond at most.
pub(crate) const WAKES_PER_LOCK: usize = 32;

/// Wakers of timers that have fired, at most [`WAKES_PER_LOCK`]. The driver keeps it from one turn to the next, for its
/// memory.
#[derive(Debug)]
pub(crate) struct WakeBatch {
    wakers: Vec<Waker>,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self { wakers: Vec::with_capacity(WAKES_PER_LOCK) }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.wakers.len() == WAKES_PER_LOCK
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        debug_assert!(!self.is_full());
        self.wakers.push(waker);
    }

    /// Gives all away, oldest first. Not to be called under a lock.
    pub(crate) fn give_to(&mut self, woken: &mut dyn WakeSink) {
        self.wakers.drain(..).for_each(|waker| woken.timer(waker));
    }
}
