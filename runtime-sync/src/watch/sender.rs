//! The half that changes the value.

use std::fmt;
use std::mem;
use std::pin::pin;
use std::sync::Arc;

use runtime_core::coop::cooperative;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use runtime_core::task::ChannelKind;
use runtime_core::task::waits::{self, Leaf};

use super::error::SendError;
use super::shared::Shared;
use super::{Receiver, Ref};

/// Changes the value of a [watch channel](super). Any number of clones may do so at once.
///
/// When the last is dropped, receivers are told that there will be no other value; they can still look at the last.
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Makes a channel without a receiver. [`subscribe`](Self::subscribe) makes one.
    ///
    /// # Example
    ///
    /// ```
    /// let tx = rt::sync::watch::Sender::new(1);
    /// assert!(tx.send(2).is_err(), "nobody watches");
    /// tx.send_replace(3);
    /// assert_eq!(*tx.subscribe().borrow(), 3);
    /// ```
    pub fn new(init: T) -> Self {
        Self { shared: Arc::new(Shared::new(init, 0)) }
    }

    /// Puts a value in the place of the former, which is dropped, and wakes the receivers that wait.
    ///
    /// It blocks the thread while the value is borrowed. See the [module](super).
    ///
    /// # Errors
    ///
    /// Gives the value back, and leaves the former, if there is no receiver. To change the value nevertheless, use
    /// [`send_replace`](Self::send_replace).
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::watch::channel(1);
    /// tx.send(2).unwrap();
    /// assert_eq!(*rx.borrow(), 2);
    /// drop(rx);
    /// assert_eq!(tx.send(3).unwrap_err().0, 3);
    /// ```
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.is_closed() {
            return Err(SendError(value));
        }
        drop(self.send_replace(value));
        Ok(())
    }

    /// Changes the value in place, and wakes the receivers that wait; also if there are none.
    ///
    /// The closure runs with the value locked. It must not use the channel.
    ///
    /// # Panics
    ///
    /// Panics if the closure does. Then the value stays as the closure has left it, and receivers are not told.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::watch::channel(vec![1]);
    /// tx.send_modify(|list| list.push(2));
    /// assert_eq!(*rx.borrow(), [1, 2]);
    /// ```
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// As [`send_modify`](Self::send_modify), but receivers are told only if the closure returns true. Returns what it
    /// did.
    ///
    /// # Panics
    ///
    /// As [`send_modify`](Self::send_modify).
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::watch::channel(10);
    /// let raise = |to: u32| tx.send_if_modified(|value| to > std::mem::replace(value, to.max(*value)));
    /// assert!(raise(20));
    /// assert!(!raise(15));
    /// assert_eq!(*rx.borrow(), 20);
    /// ```
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        let mut value = self.shared.value.write();
        if !modify(&mut value) {
            return false;
        }
        // Under the lock, so that a reader of the value knows which version it is.
        let before = self.shared.state.advance();
        drop(value);
        if before.is_waited_for() {
            self.shared.wake_receivers();
        }
        true
    }

    /// Puts a value in the place of the former, which it returns, and wakes the receivers that wait; also if there are
    /// none.
    ///
    /// # Example
    ///
    /// ```
    /// let tx = rt::sync::watch::Sender::new(1);
    /// assert_eq!(tx.send_replace(2), 1);
    /// ```
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| mem::swap(old, &mut value));
        value
    }

    /// Looks at the value. See the [module](super) about how long.
    ///
    /// # Example
    ///
    /// ```
    /// let tx = rt::sync::watch::Sender::new(1);
    /// assert_eq!(*tx.borrow(), 1);
    /// ```
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { guard: self.shared.value.read(), has_changed: false }
    }

    /// Whether there is no receiver at the moment.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver. One may come later, by [`subscribe`](Self::subscribe).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, nothing happens.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let (tx, rx) = rt::sync::watch::channel(());
    /// rt::spawn(async move { drop(rx) });
    /// tx.closed().await;
    /// # }
    /// ```
    pub async fn closed(&self) {
        cooperative(async {
            while !self.is_closed() {
                let mut unwatched = pin!(self.shared.unwatched.notified());
                // After the future was made: if the last goes from here on, it is notified.
                if self.is_closed() {
                    return;
                }
                let kind = Leaf::Channel(ChannelKind::WatchSender);
                std::future::poll_fn(|cx| waits::named(unwatched.as_mut().poll_freely(cx), kind)).await;
            }
        })
        .await;
    }

    /// Makes a receiver, which counts the present value as seen.
    ///
    /// # Example
    ///
    /// ```
    /// let tx = rt::sync::watch::Sender::new(1);
    /// let rx = tx.subscribe();
    /// assert!(!rx.has_changed().unwrap());
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        let known = self.shared.state.load().version();
        Receiver::new(self.shared.clone(), known)
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers.load(Acquire)
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        self.shared.senders.load(Relaxed)
    }

    /// Whether both change the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Relaxed);
        Self { shared: self.shared.clone() }
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // Acquire: what the others have sent comes before the end.
        if self.shared.senders.fetch_sub(1, AcqRel) == 1 && self.shared.state.close().is_waited_for() {
            self.shared.wake_receivers();
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("shared", &self.shared).finish()
    }
}
