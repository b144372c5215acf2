//! Wakers taken under locks, to be called when none is held.
//!
//! The driver fills one batch from all the events of a turn and then calls all its wakers, so that the scheduler gets
//! the woken tasks together, oldest first.

use std::task::Waker;

use runtime_core::driver::contain;

/// Drops a waker that is not needed any more, and contains its panic. Not to be called under a lock: it can drop a
/// task.
pub(super) fn discard(waker: Option<Waker>) {
    if waker.is_some() {
        contain(|| drop(waker));
    }
}

/// Wakers to be called, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct WakeBatch(Vec<Waker>);

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(super) fn extend(&mut self, waker: Option<Waker>) {
        self.0.extend(waker);
    }

    /// Calls every waker in order, and keeps the memory for the next batch.
    pub(crate) fn wake_all(&mut self) {
        self.0.drain(..).for_each(runtime_core::driver::wake);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
