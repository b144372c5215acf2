//! Channels without a bound.

use std::fmt;
use std::task::{Context, Poll, ready};

use runtime_core::primitive::Arc;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::channel::{Channel, Unbounded};
use super::error::{SendError, TryRecvError};
use super::handles::{receiver, sender};
use crate::blocking::block_on;

/// Makes a channel without a bound.
///
/// A receiver that is slower than the senders lets it grow until there is no memory left.
///
/// # Example
///
/// ```
/// # #[rt::main]
/// # async fn main() {
/// let (tx, mut rx) = rt::sync::mpsc::unbounded_channel();
/// tx.send(1).unwrap(); // does not wait
/// drop(tx);
/// assert_eq!(rx.recv().await, Some(1));
/// assert_eq!(rx.recv().await, None);
/// # }
/// ```
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let channel = Arc::new(Channel::new(Unbounded));
    (UnboundedSender { channel: channel.clone() }, UnboundedReceiver { channel })
}

/// Sends values into an unbounded channel. Made by [`unbounded_channel`].
pub struct UnboundedSender<T> {
    channel: Arc<Channel<T, Unbounded>>,
}

/// A sender of an unbounded channel that does not keep it open. Made by [`UnboundedSender::downgrade`].
pub struct WeakUnboundedSender<T> {
    channel: Arc<Channel<T, Unbounded>>,
}

/// Receives values from an unbounded channel. Made by [`unbounded_channel`].
pub struct UnboundedReceiver<T> {
    channel: Arc<Channel<T, Unbounded>>,
}

sender!(UnboundedSender, WeakUnboundedSender, Unbounded);
receiver!(UnboundedReceiver, Unbounded);

impl<T> UnboundedSender<T> {
    /// Sends a value. Never waits.
    ///
    /// # Errors
    ///
    /// If the receiver was closed or dropped. The value is in the error.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.channel.push(message).map_err(SendError)
    }
}
