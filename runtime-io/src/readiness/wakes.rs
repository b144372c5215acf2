//! Wakers taken under locks, to be called when none is held.
//!
//! The driver fills one batch from all the events of a poll and empties it in one go, so that the scheduler sees the
//! woken tasks together, oldest first.

use std::task::Waker;

use runtime_core::driver::contain;

/// Drops a waker that nobody waits with any more. Not to be called under a lock: it can drop a task. Nor is it any
/// business of the caller's, who may be somebody else by now, should it panic.
pub(super) fn discard(waker: Option<Waker>) {
    if waker.is_some() {
        contain(|| drop(waker));
    }
}

/// Wakers that are to be called, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct WakeBatch(Vec<Waker>);

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(super) fn extend(&mut self, waker: Option<Waker>) {
        self.0.extend(waker);
    }

    /// Calls every waker, in the order they came, and keeps the memory for the next batch.
    pub(crate) fn wake_all(&mut self) {
        self.0.drain(..).for_each(runtime_core::driver::wake);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
