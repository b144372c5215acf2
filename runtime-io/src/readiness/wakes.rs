//! Wakers taken under locks, to be called when none is held.
//!
//! The driver fills one batch from all the events of a poll and empties it in one go, so that the scheduler sees the
//! woken tasks together, oldest first.

use std::task::Waker;

/// See the file.
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
