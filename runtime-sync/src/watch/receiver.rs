//! The half that looks at the value, and waits for another.

use std::fmt;
use std::sync::Arc;

use runtime_core::coop::cooperative;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Relaxed};

use super::Ref;
use super::changed::Changed;
use super::error::RecvError;
use super::shared::Shared;
use super::state::Version;

/// Looks at the value of a [watch channel](super), and waits for another. A clone has seen what the original has.
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The version that it has seen.
    pub(super) known: Version,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, known: Version) -> Self {
        shared.receivers.fetch_add(1, Relaxed);
        Self { shared, known }
    }

    /// Looks at the value, and does not count it as seen. See the [module](super) about how long.
    ///
    /// # Example
    ///
    /// ```
    /// let (_tx, rx) = rt::sync::watch::channel("hello");
    /// assert_eq!(*rx.borrow(), "hello");
    /// ```
    pub fn borrow(&self) -> Ref<'_, T> {
        let guard = self.shared.value.read();
        // While it is locked, it keeps its version.
        let has_changed = self.shared.state.load().version() != self.known;
        Ref { guard, has_changed }
    }

    /// Looks at the value, and counts it as seen: [`changed`](Self::changed) waits for another. See the [module](super)
    /// about how long.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::watch::channel(1);
    /// tx.send(2).unwrap();
    /// assert_eq!(*rx.borrow_and_update(), 2);
    /// assert!(!rx.has_changed().unwrap());
    /// ```
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let guard = self.shared.value.read();
        let version = self.shared.state.load().version();
        let has_changed = std::mem::replace(&mut self.known, version) != version;
        Ref { guard, has_changed }
    }

    /// Whether there is a value that has not been seen.
    ///
    /// # Errors
    ///
    /// Fails if all senders are gone, whether or not there is such a value.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::watch::channel(1);
    /// tx.send(2).unwrap();
    /// assert!(rx.has_changed().unwrap());
    /// drop(tx);
    /// assert!(rx.has_changed().is_err());
    /// ```
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let state = self.shared.state.load();
        if state.is_closed() { Err(RecvError(())) } else { Ok(state.version() != self.known) }
    }

    /// Whether all senders are gone.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::watch::channel(1);
    /// drop(tx);
    /// assert!(rx.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.shared.state.load().is_closed()
    }

    /// Counts the value as not seen: the next [`changed`](Self::changed) does not wait.
    ///
    /// # Example
    ///
    /// ```
    /// let (_tx, mut rx) = rt::sync::watch::channel(1);
    /// rx.mark_changed();
    /// assert!(rx.has_changed().unwrap());
    /// ```
    pub fn mark_changed(&mut self) {
        self.known = self.known.before();
    }

    /// Counts the value as seen.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::watch::channel(1);
    /// tx.send(2).unwrap();
    /// rx.mark_unchanged();
    /// assert!(!rx.has_changed().unwrap());
    /// ```
    pub fn mark_unchanged(&mut self) {
        self.known = self.shared.state.load().version();
    }

    /// Waits for a value that has not been seen, and counts it as seen. Returns at once if there is one.
    ///
    /// # Errors
    ///
    /// Fails if there is none and all senders are gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before it is ready, the value does not count as seen.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let (tx, mut rx) = rt::sync::watch::channel("hello");
    /// rt::spawn(async move { tx.send("goodbye") });
    /// assert!(rx.changed().await.is_ok());
    /// assert_eq!(*rx.borrow(), "goodbye");
    /// assert!(rx.changed().await.is_err());
    /// # }
    /// ```
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        cooperative(Changed::new(&self.shared, &mut self.known)).await
    }

    /// Waits for a value of which the closure returns true. It is asked about the present value first, seen or not, and
    /// then about each that it does not miss. What it has been asked about counts as seen.
    ///
    /// The closure runs with the value locked for reading, and so is the value that is returned. See the
    /// [module](super).
    ///
    /// # Errors
    ///
    /// Fails if all senders are gone, and it is false of the last value.
    ///
    /// # Panics
    ///
    /// Panics if the closure does.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, only values of which the closure returned false count as seen.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let (tx, mut rx) = rt::sync::watch::channel(0);
    /// rt::spawn(async move {
    ///     for progress in [10, 60, 100] {
    ///         tx.send_replace(progress);
    ///     }
    /// });
    /// assert!(*rx.wait_for(|progress| *progress > 50).await.unwrap() > 50);
    /// # }
    /// ```
    pub async fn wait_for(&mut self, f: impl FnMut(&T) -> bool) -> Result<Ref<'_, T>, RecvError> {
        cooperative(self.wait_for_freely(f)).await
    }

    async fn wait_for_freely(&mut self, mut f: impl FnMut(&T) -> bool) -> Result<Ref<'_, T>, RecvError> {
        let mut is_closed = false;
        loop {
            {
                let guard = self.shared.value.read();
                let version = self.shared.state.load().version();
                let has_changed = std::mem::replace(&mut self.known, version) != version;
                // When all senders are gone there may have been a last value in between.
                if (!is_closed || has_changed) && f(&guard) {
                    return Ok(Ref { guard, has_changed });
                }
            }
            if is_closed {
                return Err(RecvError(()));
            }
            is_closed = Changed::new(&self.shared, &mut self.known).await.is_err();
        }
    }

    /// Whether both look at the same value.
    ///
    /// # Example
    ///
    /// ```
    /// let (_tx, rx) = rt::sync::watch::channel(1);
    /// assert!(rx.same_channel(&rx.clone()));
    /// ```
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), self.known)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.shared.receivers.fetch_sub(1, AcqRel) == 1 {
            self.shared.unwatched.notify_waiters();
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("shared", &self.shared).field("known", &self.known).finish()
    }
}
