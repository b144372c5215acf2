//! Channels with a bound.

use std::fmt;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use runtime_core::primitive::Arc;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::channel::Channel;
use super::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::handles::{receiver, sender};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::places::Places;
use crate::blocking::block_on;
use crate::semaphore::{Semaphore, TryAcquireError};

/// Makes a channel with room for `buffer` values.
///
/// # Panics
///
/// If `buffer` is zero, or greater than [`Semaphore::MAX_PERMITS`](crate::Semaphore::MAX_PERMITS).
///
/// # Example
///
/// ```
/// use rt::sync::mpsc;
///
/// # #[rt::main]
/// # async fn main() {
/// let (tx, mut rx) = mpsc::channel(10);
/// rt::spawn(async move {
///     for i in 0..100 {
///         // Waits when there are ten that were not received.
///         if tx.send(i).await.is_err() {
///             return; // the receiver was dropped
///         }
///     }
/// });
/// let mut expected = 0;
/// while let Some(i) = rx.recv().await {
///     assert_eq!(i, expected);
///     expected += 1;
/// }
/// assert_eq!(expected, 100);
/// # }
/// ```
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "a channel needs room for one value at least");
    assert!(
        buffer <= Semaphore::MAX_PERMITS,
        "a bounded channel has room for `Semaphore::MAX_PERMITS` values at most, not for {buffer}: for more, use \
         `unbounded_channel`"
    );
    let channel = Arc::new(Channel::new(Places::new(buffer)));
    (Sender { channel: channel.clone() }, Receiver { channel })
}

/// Sends values into a bounded channel. Made by [`channel`].
pub struct Sender<T> {
    pub(super) channel: Arc<Channel<T, Places>>,
}

/// A sender of a bounded channel that does not keep it open. Made by [`Sender::downgrade`].
pub struct WeakSender<T> {
    channel: Arc<Channel<T, Places>>,
}

/// Receives values from a bounded channel. Made by [`channel`].
pub struct Receiver<T> {
    channel: Arc<Channel<T, Places>>,
}

sender!(Sender, WeakSender, Places);
receiver!(Receiver, Places);

impl<T> Receiver<T> {
    /// For how many more values there is room now, that nobody else has been promised.
    pub fn capacity(&self) -> usize {
        self.channel.limit.free()
    }

    /// For how many values there is room when the channel is empty.
    pub fn max_capacity(&self) -> usize {
        self.channel.limit.bound()
    }
}

/// Has failed to get places, or was dropped while it waited, unless it is forgotten. What it had of its wish is free
/// again.
struct Reserving<'a, T>(&'a Channel<T, Places>);

impl<T> Drop for Reserving<'_, T> {
    fn drop(&mut self) {
        self.0.wake_if_over();
    }
}

impl<T> Sender<T> {
    /// Sends a value, waiting until there is room. Senders that wait are served in turn.
    ///
    /// # Errors
    ///
    /// If the receiver was closed or dropped. The value is in the error.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the value has not been sent, and is dropped; the place in the line
    /// is lost. Use [`reserve`](Self::reserve) to keep the value.
    pub async fn send(&self, value: T) -> Result<(), SendError<T>> {
        match self.reserve().await {
            Ok(permit) => {
                permit.send(value);
                Ok(())
            }
            Err(SendError(())) => Err(SendError(value)),
        }
    }

    /// Sends a value, if there is room and nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] if there is no room now, [`TrySendError::Closed`] if the receiver was closed or dropped.
    /// The value is in the error.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.try_take(1) {
            Ok(()) => {
                self.permit().send(message);
                Ok(())
            }
            Err(error) => Err(error.with(message)),
        }
    }

    /// As [`send`](Self::send), but waits for room no longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] if there was no room in time, [`SendTimeoutError::Closed`] if the receiver was
    /// closed or dropped. The value is in the error.
    ///
    /// # Panics
    ///
    /// Outside of a runtime that has a timer driver.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    pub async fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match crate::timeout::timeout(timeout, self.reserve()).await {
            None => Err(SendTimeoutError::Timeout(value)),
            Some(Err(SendError(()))) => Err(SendTimeoutError::Closed(value)),
            Some(Ok(permit)) => {
                permit.send(value);
                Ok(())
            }
        }
    }

    /// As [`send`](Self::send), for a plain thread, which waits.
    ///
    /// # Errors
    ///
    /// If the receiver was closed or dropped. The value is in the error.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Waits until there is room for a value, and keeps it for the permit, with which the value can be sent at any
    /// time.
    ///
    /// # Errors
    ///
    /// If the receiver was closed or dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let (tx, mut rx) = rt::sync::mpsc::channel(1);
    /// let permit = tx.reserve().await.unwrap();
    /// assert!(tx.try_send(1).is_err());
    /// permit.send(2);
    /// assert_eq!(rx.recv().await, Some(2));
    /// # }
    /// ```
    pub async fn reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        self.take(1).await?;
        Ok(self.permit())
    }

    /// Waits until there is room for `n` values. Otherwise as [`reserve`](Self::reserve).
    ///
    /// # Errors
    ///
    /// If the receiver was closed or dropped, or `n` is more than the [`max_capacity`](Self::max_capacity).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line, and the places that it has so far go to others.
    pub async fn reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        self.take(n).await?;
        Ok(PermitIterator::new(&self.channel, n))
    }

    /// As [`reserve`](Self::reserve), for a permit that has the sender in it. It comes back when the permit is used.
    ///
    /// # Errors
    ///
    /// If the receiver was closed or dropped.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the sender is dropped, and the place in the line is lost.
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>> {
        self.take(1).await?;
        Ok(OwnedPermit::new(self))
    }

    /// Keeps room for a value, if there is some and nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] if there is no room now, [`TrySendError::Closed`] if the receiver was closed or dropped.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.try_take(1)?;
        Ok(self.permit())
    }

    /// Keeps room for `n` values, if there is as much and nobody waits for it.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve); [`TrySendError::Full`] if `n` is more than the
    /// [`max_capacity`](Self::max_capacity).
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.try_take(n)?;
        Ok(PermitIterator::new(&self.channel, n))
    }

    /// As [`try_reserve`](Self::try_reserve), for a permit that has the sender in it. It comes back when the permit is
    /// used.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve). The sender is in the error.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.try_take(1) {
            Ok(()) => Ok(OwnedPermit::new(self)),
            Err(error) => Err(error.with(self)),
        }
    }

    /// For how many more values there is room now, that nobody else has been promised.
    pub fn capacity(&self) -> usize {
        self.channel.limit.free()
    }

    /// For how many values there is room when the channel is empty.
    pub fn max_capacity(&self) -> usize {
        self.channel.limit.bound()
    }

    fn permit(&self) -> Permit<'_, T> {
        Permit::new(&self.channel)
    }

    async fn take(&self, n: usize) -> Result<(), SendError<()>> {
        if n > self.max_capacity() {
            return Err(SendError(()));
        }
        if self.channel.limit.acquire_now(n) {
            return Ok(());
        }
        let unless_taken = Reserving(&*self.channel);
        self.channel.limit.acquire(n).await.map_err(|_| SendError(()))?;
        std::mem::forget(unless_taken);
        Ok(())
    }

    fn try_take(&self, n: usize) -> Result<(), TrySendError<()>> {
        if n > self.max_capacity() {
            return Err(TrySendError::Full(()));
        }
        self.channel.limit.try_acquire(n).map_err(|error| match error {
            TryAcquireError::Closed => TrySendError::Closed(()),
            TryAcquireError::NoPermits => TrySendError::Full(()),
        })
    }
}

impl TrySendError<()> {
    fn with<T>(self, value: T) -> TrySendError<T> {
        match self {
            Self::Full(()) => TrySendError::Full(value),
            Self::Closed(()) => TrySendError::Closed(value),
        }
    }
}
