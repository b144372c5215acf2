//! What counts for a [`TaskTracker`], and the future that waits for it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop;
use runtime_core::task::waits::{self, Leaf};

use super::{Inner, TaskTracker};
use crate::futures::Notified;

/// Counts as a task of a [`TaskTracker`] until it is dropped. A clone counts by itself.
#[derive(Debug)]
#[must_use = "it counts until it is dropped"]
pub struct TaskTrackerToken {
    tracker: TaskTracker,
}

impl TaskTrackerToken {
    /// It has been counted.
    pub(super) fn new(tracker: TaskTracker) -> Self {
        Self { tracker }
    }

    /// What it counts for.
    pub fn task_tracker(&self) -> &TaskTracker {
        &self.tracker
    }
}

impl Clone for TaskTrackerToken {
    fn clone(&self) -> Self {
        self.tracker.token()
    }
}

impl Drop for TaskTrackerToken {
    fn drop(&mut self) {
        self.tracker.inner.remove();
    }
}

/// A future that counts as a task of a [`TaskTracker`] until it is dropped. Made by [`TaskTracker::track_future`].
#[must_use = "futures do nothing unless polled"]
pub struct TrackedFuture<F> {
    // The order is that of their drops.
    future: F,
    token: TaskTrackerToken,
}

impl<F> TrackedFuture<F> {
    pub(super) fn new(future: F, token: TaskTrackerToken) -> Self {
        Self { future, token }
    }
}

impl<F: Future> Future for TrackedFuture<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the field is pinned when this is: nothing moves it out, there is no `Drop`, and this is `Unpin` only
        // if the field is.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(cx)
    }
}

impl<F: fmt::Debug> fmt::Debug for TrackedFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrackedFuture").field("future", &self.future).field("tracker", &self.token.tracker).finish()
    }
}

/// The future of [`TaskTracker::wait`].
#[must_use = "futures do nothing unless polled"]
pub struct TaskTrackerWaitFuture<'a> {
    notified: Notified<'a>,
    /// Empty when it has been seen that the tracker is, or was, closed and empty.
    inner: Option<&'a Inner>,
}

impl<'a> TaskTrackerWaitFuture<'a> {
    pub(super) fn new(inner: &'a Inner) -> Self {
        // Before the word is looked at: see the module.
        let notified = inner.ended.notified_next();
        Self { notified, inner: (!inner.is_closed_and_empty()).then_some(inner) }
    }
}

impl Future for TaskTrackerWaitFuture<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the first field is pinned when this is: nothing moves it out, and there is no `Drop`.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let notified = unsafe { Pin::new_unchecked(&mut this.notified) };
        if this.inner.is_some_and(|inner| !inner.is_closed_and_empty()) {
            ready!(waits::named(notified.poll_freely(cx), Leaf::TaskGroup));
        }
        this.inner = None;
        // First the place among those that wait, then the budget.
        ready!(coop::poll_proceed(cx)).made_progress();
        Poll::Ready(())
    }
}

impl fmt::Debug for TaskTrackerWaitFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTrackerWaitFuture").finish_non_exhaustive()
    }
}
