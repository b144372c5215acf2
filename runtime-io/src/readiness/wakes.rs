//! Wakers taken under locks, to be called when none is held.
//!
//! The driver fills one batch from all the events of a poll and empties it in one go, so that the scheduler sees the
//! woken tasks together, oldest first.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    ///
    /// A waker can be foreign code. One that panics has had its report printed; it must not take the rest of the batch,
    /// or the worker that happens to hold the driver, with it.
    pub(crate) fn wake_all(&mut self) {
        let mut left = self.0.drain(..);
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| left.by_ref().for_each(Waker::wake))) {
            // What was thrown may panic in turn when it is dropped; there must be an end to it somewhere.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                mem::forget(again);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
