//! [`TaskTracker`]: to wait until many tasks have ended.
//!
//! Programs use this as a part of `rt::task`. It must never keep anything of a task: it counts.
//!
//! # The protocol
//!
//! One word has the count of what is tracked, and whether the tracker is closed. The end of a task and `close` change
//! it by an exchange. One that makes the word *closed and empty* is done under the lock of the `Notify`, and under the
//! same hold of the lock begins the next round of that: all futures that wait are notified, though they have not been
//! polled, and though the tracker is opened or given tasks again at once.
//!
//! A future that waits makes its `Notified` first, under that lock, and then looks at the word: it finds that closed
//! and empty, or is notified by what makes it so. Without the lock the future could be made between the exchange and
//! the round, when the tracker has been given its next tasks already. The notification for the tasks before would
//! complete it then, though the next ones run.
//!
//! Every end is a release. What sees the word closed and empty, or is notified, acquires all of them.

mod future;
#[cfg(all(test, loom))]
mod loom_tests;
mod spawn;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

pub use self::future::{TaskTrackerToken, TaskTrackerWaitFuture, TrackedFuture};
use crate::Notify;

/// The bit of the word that says that the tracker is closed.
const CLOSED: usize = 1;
/// What a task counts in the word.
const ONE: usize = 2;

/// Counts tasks, and waits until all have ended.
///
/// Unlike a [`JoinSet`](runtime_core::JoinSet) it keeps no outputs, so that a server may run for months on one; a task
/// is forgotten when it ends. It aborts nothing, also if it is dropped: to ask tasks to end, give them a
/// [`CancellationToken`](crate::task::CancellationToken).
///
/// [`wait`](Self::wait) is complete when the tracker is *closed* and empty. [`close`](Self::close) does not keep tasks
/// from being added: it says that a count of zero means the end, and not that nothing has begun.
///
/// A task counts until its future has been dropped, whether it has ended, has panicked, or was aborted. Clones are the
/// same tracker.
///
/// # Memory
///
/// An allocation of seven words for the tracker, and a word in each task.
///
/// # Example
///
/// ```
/// use rt::task::{CancellationToken, TaskTracker};
///
/// # #[rt::main]
/// # async fn main() {
/// let (tracker, token) = (TaskTracker::new(), CancellationToken::new());
/// for n in 0..10 {
///     let token = token.clone();
///     tracker.spawn(async move {
///         token.cancelled().await;
///         println!("{n} has ended");
///     });
/// }
/// // The end.
/// tracker.close();
/// token.cancel();
/// tracker.wait().await;
/// # assert!(tracker.is_empty());
/// # }
/// ```
#[derive(Clone)]
pub struct TaskTracker {
    inner: Arc<Inner>,
}

struct Inner {
    state: AtomicUsize,
    ended: Notify,
}

impl Inner {
    fn is_closed_and_empty(&self) -> bool {
        self.state.load(Acquire) == CLOSED
    }

    fn remove(&self) {
        self.change(|state| state - ONE);
    }

    /// Changes the word, and returns what it was before. If it becomes closed and empty, notifies: see the module.
    fn change(&self, next: impl Fn(usize) -> usize) -> usize {
        let mut state = self.state.load(Acquire);
        loop {
            let to = next(state);
            if to == state {
                return state;
            }
            let exchange = || self.state.compare_exchange(state, to, AcqRel, Acquire);
            let exchanged = if to == CLOSED {
                let mut exchanged = Err(state);
                self.ended.notify_all_and(|| {
                    exchanged = exchange();
                    exchanged.is_ok()
                });
                exchanged
            } else {
                exchange()
            };
            match exchanged {
                Ok(before) => return before,
                Err(now) => state = now,
            }
        }
    }
}

impl TaskTracker {
    /// Makes one that is open and empty.
    pub fn new() -> Self {
        Self { inner: Arc::new(Inner { state: AtomicUsize::new(0), ended: Notify::new() }) }
    }

    /// Waits until the tracker is closed and empty.
    ///
    /// It is enough that it was so for a moment since this future was made, polled or not. A moment before that does
    /// not count: a tracker may be used for one group of tasks after the other.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, nothing happens. A future that is made anew in each turn of a loop may
    /// miss a moment between two turns.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let tracker = rt::task::TaskTracker::new();
    /// let waits = tracker.wait();
    /// tracker.close(); // it is empty
    /// tracker.reopen();
    /// waits.await;
    /// # }
    /// ```
    pub fn wait(&self) -> TaskTrackerWaitFuture<'_> {
        TaskTrackerWaitFuture::new(&self.inner)
    }

    /// Closes the tracker: from now on [`wait`](Self::wait) ends when it is empty. Returns whether it was open.
    ///
    /// # Example
    ///
    /// ```
    /// let tracker = rt::task::TaskTracker::new();
    /// assert!(tracker.close() && !tracker.close());
    /// assert!(tracker.reopen() && !tracker.reopen());
    /// ```
    pub fn close(&self) -> bool {
        self.inner.change(|state| state | CLOSED) & CLOSED == 0
    }

    /// Opens the tracker again. Returns whether it was closed.
    pub fn reopen(&self) -> bool {
        self.inner.state.fetch_and(!CLOSED, AcqRel) & CLOSED != 0
    }

    /// Whether the tracker is closed.
    pub fn is_closed(&self) -> bool {
        self.inner.state.load(Acquire) & CLOSED != 0
    }

    /// How many tasks, futures and tokens are tracked.
    pub fn len(&self) -> usize {
        self.inner.state.load(Acquire) / ONE
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tracks a future that is run by other means: from now on, until it is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::{JoinSet, TaskTracker};
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let (tracker, mut set) = (TaskTracker::new(), JoinSet::new());
    /// set.spawn(tracker.track_future(async { 7 }));
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
    /// assert!(tracker.is_empty());
    /// # }
    /// ```
    pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
        TrackedFuture::new(future, self.token())
    }

    /// A token that counts as a task until it is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// let tracker = rt::task::TaskTracker::new();
    /// let token = tracker.token();
    /// assert_eq!(tracker.len(), 1);
    /// drop(token);
    /// assert!(tracker.is_empty());
    /// ```
    pub fn token(&self) -> TaskTrackerToken {
        // Relaxed: nothing is handed over by a beginning.
        self.inner.state.fetch_add(ONE, Relaxed);
        TaskTrackerToken::new(self.clone())
    }

    /// Whether these are clones of each other.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::TaskTracker;
    ///
    /// let tracker = TaskTracker::new();
    /// assert!(TaskTracker::ptr_eq(&tracker, &tracker.clone()));
    /// assert!(!TaskTracker::ptr_eq(&tracker, &TaskTracker::new()));
    /// ```
    pub fn ptr_eq(left: &TaskTracker, right: &TaskTracker) -> bool {
        Arc::ptr_eq(&left.inner, &right.inner)
    }
}

impl Default for TaskTracker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_closed = self.is_closed();
        f.debug_struct("TaskTracker").field("len", &self.len()).field("is_closed", &is_closed).finish()
    }
}
