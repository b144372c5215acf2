//! A channel for any number of senders and receivers, in which each receiver receives each value.
//!
//! [`channel`] makes a sender, which can be cloned, and a receiver; [`Sender::subscribe`] makes more. A receiver gets a
//! clone of each value that is sent after it was made.
//!
//! # Lagging
//!
//! A send never waits. The channel keeps as many values as its capacity says; the next takes the place of the oldest,
//! whether or not all have received that. A receiver that was too slow is told how many it has missed
//! ([`RecvError::Lagged`](error::RecvError::Lagged)), and goes on with the oldest that is left.
//!
//! The capacity is rounded up to a power of two.
//!
//! # Closing
//!
//! When the last sender is dropped, receivers receive what is left, and then [`Closed`](error::RecvError::Closed).
//! [`WeakSender`]s do not count. When there is no receiver a send fails; one may come later.
//!
//! # Memory
//!
//! Two allocations for a channel: one of 16 words, and one of an `Option` of a value and three words for each value of
//! the capacity. A value is dropped when the last of the receivers that it was sent to has received it, or has gone; or
//! when another takes its place. A receiver is two words, a waiter part of the future that waits.
//!
//! # Fairness
//!
//! All receivers that wait are woken by a send, in the order in which they began.
//!
//! # How it works
//!
//! Values are numbered. A value lies in the ring at its number modulo the capacity, in a slot with a lock of its own,
//! beside its number and the count of receivers that have yet to receive it. A receiver knows which number it wants
//! next, and mostly looks into that slot only. If another number is there, it looks at the *tail*: a lock around the
//! next number to be sent, the count of receivers, and the list of those that wait. That tells whether the value has
//! been sent, is still to come, or was lost. Senders lock the tail first, and then a slot.
//!
//! Who waits for a number goes into the list under the lock of the tail while that number is the next to be sent. So
//! the list is in order, and a sender wakes all that wait for another number than the next, in batches, without
//! the lock.
//!
//! Values are dropped outside of the locks. All receivers of a value but the last clone it under the lock of its slot:
//! a `clone` must not use the channel.

pub mod error;
#[cfg(all(test, loom))]
mod loom_tests;
mod receiver;
mod sender;
mod shared;
#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::Arc;

pub use self::receiver::Receiver;
pub use self::sender::{Sender, WeakSender};
use self::shared::Shared;

/// Makes a channel that keeps at least `capacity` values, with one receiver.
///
/// # Panics
///
/// Panics if the capacity is zero, or more than `usize::MAX / 2`.
///
/// # Example
///
/// ```
/// use rt::sync::broadcast;
///
/// # #[rt::main]
/// # async fn main() {
/// let (tx, mut first) = broadcast::channel(16);
/// let mut second = tx.subscribe();
/// tx.send("hello").unwrap();
/// assert_eq!(first.recv().await, Ok("hello"));
/// assert_eq!(second.recv().await, Ok("hello"));
/// # }
/// ```
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = shared(capacity, 1);
    (Sender { shared: shared.clone() }, Receiver { shared, next: 0 })
}

#[track_caller]
fn shared<T>(capacity: usize, receivers: usize) -> Arc<Shared<T>> {
    assert!(capacity > 0, "a broadcast channel needs room for one value at least");
    assert!(capacity <= usize::MAX / 2, "the capacity of a broadcast channel is at most `usize::MAX / 2`");
    Arc::new(Shared::new(capacity, receivers))
}
