//! Wakers on their way from a shard's wheel to their tasks.
//!
//! The firing thread takes a batch of them out under the lock and calls them after releasing it. A waker is foreign
//! code: it may take long, set timers, or panic. None of that may reach the shard, the driver, or the wakers behind it.

use std::task::Waker;

/// How many timers fire under one hold of the lock: enough to make the lock cheap, few enough that a worker which sets
/// a timer meanwhile waits for a microsecond at most.
const CAPACITY: usize = 32;

/// See the module. Kept by the driver from one turn to the next, as its memory is all there is to it.
#[derive(Debug)]
pub(crate) struct WakeBatch {
    wakers: Vec<Waker>,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self { wakers: Vec::with_capacity(CAPACITY) }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.wakers.len() == CAPACITY
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        debug_assert!(!self.is_full());
        self.wakers.push(waker);
    }

    /// Wakes all, oldest first. Not to be called under a lock.
    pub(crate) fn wake_all(&mut self) {
        self.wakers.drain(..).for_each(runtime_core::driver::wake);
    }
}
