//! Wakers taken under locks, to be given to the scheduler when none is held.
//!
//! The driver fills one batch from all the events of a turn and then gives all its wakers to the scheduler, oldest
//! first.

use std::task::Waker;

use runtime_core::driver::{WakeSink, contain};

/// Drops a waker that is not needed any more, and contains its panic. Not to be called under a lock: it can drop a
/// task.
pub(super) fn discard(waker: Option<Waker>) {
    if waker.is_some() {
        contain(|| drop(waker));
    }
}

/// Wakers in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct WakeBatch(Vec<Waker>);

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(super) fn extend(&mut self, waker: Option<Waker>) {
        self.0.extend(waker);
    }

    /// Gives every waker away in order, and keeps the memory for the next batch.
    pub(crate) fn give_to(&mut self, woken: &mut dyn WakeSink) {
        self.0.drain(..).for_each(|waker| woken.event(waker));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
