//! The halves that send, and those that only could.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use runtime_core::coop::cooperative;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::Receiver;
use super::error::SendError;
use super::shared::Shared;

/// Sends values to all receivers of a [broadcast channel](super). Any number of clones may do so at once.
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Makes a channel without a receiver. [`subscribe`](Self::subscribe) makes one.
    ///
    /// # Panics
    ///
    /// As [`channel`](super::channel).
    ///
    /// # Example
    ///
    /// ```
    /// let tx = rt::sync::broadcast::Sender::new(16);
    /// assert!(tx.send(1).is_err(), "nobody receives");
    /// let mut rx = tx.subscribe();
    /// assert_eq!(tx.send(2).unwrap(), 1);
    /// assert_eq!(rx.try_recv(), Ok(2));
    /// ```
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self { shared: super::shared(capacity, 0) }
    }

    /// Sends a value to all receivers that there are. Returns how many there are. It does not wait.
    ///
    /// Success does not mean that the value is received: receivers may be dropped, or too slow.
    ///
    /// # Errors
    ///
    /// Gives the value back if there is no receiver. There may be one later.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, first) = rt::sync::broadcast::channel(16);
    /// let second = tx.subscribe();
    /// assert_eq!(tx.send(1).unwrap(), 2);
    /// drop((first, second));
    /// assert_eq!(tx.send(2).unwrap_err().0, 2);
    /// ```
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.shared.send(value).map_err(SendError)
    }

    /// Makes a receiver, of what is sent from here on.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut first) = rt::sync::broadcast::channel(16);
    /// tx.send(1).unwrap();
    /// let mut second = tx.subscribe();
    /// tx.send(2).unwrap();
    /// assert_eq!(first.try_recv(), Ok(1));
    /// assert_eq!(second.try_recv(), Ok(2));
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.shared.clone())
    }

    /// Makes a sender that does not keep the channel open.
    #[must_use = "the weak sender is all that this makes"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.shared.clone())
    }

    /// How many values are in the channel that some receiver has yet to receive.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut first) = rt::sync::broadcast::channel(16);
    /// let mut second = tx.subscribe();
    /// tx.send(1).unwrap();
    /// tx.send(2).unwrap();
    /// first.try_recv().unwrap();
    /// assert_eq!(tx.len(), 2);
    /// second.try_recv().unwrap();
    /// assert_eq!(tx.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether all receivers have received all values.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers()
    }

    /// Whether both send to the same receivers.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
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
    /// let (tx, rx) = rt::sync::broadcast::channel::<u32>(16);
    /// rt::spawn(async move { drop(rx) });
    /// tx.closed().await;
    /// # }
    /// ```
    pub async fn closed(&self) {
        cooperative(async {
            loop {
                let mut unwatched = pin!(self.shared.unwatched.notified());
                // After the future was made: if the last goes from here on, it is notified.
                if self.shared.receivers() == 0 {
                    return;
                }
                poll_fn(|cx| unwatched.as_mut().poll_freely(cx)).await;
            }
        })
        .await;
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.senders.load(Acquire)
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_senders.load(Acquire)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Relaxed);
        Self { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, AcqRel) == 1 {
            self.shared.close();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A sender of a [broadcast channel](super) that does not keep it open.
///
/// # Example
///
/// ```
/// let (tx, mut rx) = rt::sync::broadcast::channel(16);
/// let weak = tx.downgrade();
/// weak.upgrade().unwrap().send(1).unwrap();
/// drop(tx);
/// assert!(weak.upgrade().is_none());
/// assert_eq!(rx.try_recv(), Ok(1));
/// ```
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> WeakSender<T> {
    fn new(shared: Arc<Shared<T>>) -> Self {
        shared.weak_senders.fetch_add(1, Relaxed);
        Self { shared }
    }

    /// A sender, unless all are gone.
    #[must_use = "the sender is all that this makes"]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let one_more = |senders: usize| (senders > 0).then(|| senders + 1);
        self.shared.senders.fetch_update(AcqRel, Acquire, one_more).ok()?;
        Some(Sender { shared: self.shared.clone() })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.senders.load(Acquire)
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_senders.load(Acquire)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.weak_senders.fetch_sub(1, AcqRel);
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
