//! Channels from many senders to one receiver, first in, first out.
//!
//! There are two kinds. A [bounded](channel) channel has room for a certain number of values; senders wait for room, in
//! turn. An [unbounded](unbounded_channel) one has room for any number; senders never wait.
//!
//! # The end of a channel
//!
//! When all senders are gone, the receiver gets what is left, and then `None`. When the receiver is dropped, or closed,
//! senders get an error, and their value back. A value that was sent just before the receiver was dropped may be
//! dropped unseen.
//!
//! A receiver that wants to end without losing values calls `close`, and receives until `None`.
//!
//! # Fairness
//!
//! Values are received in the order in which their sends were completed, for each pair of sends of which one was
//! completed before the other began. Senders that wait for room are served first come, first served.
//!
//! # Memory
//!
//! A channel has a block with room for 32 values from the start. Further blocks are made as values are sent faster than
//! they are received, and freed when they have been received. A sender that waits for room is part of the future that
//! waits; nothing is allocated.
//!
//! # Between threads
//!
//! Both halves can be used in tasks of any runtime, and on plain threads by the methods that begin with `blocking_`.

mod block;
mod bounded;
mod channel;
pub mod error;
mod handles;
mod list;
#[cfg(all(test, loom))]
mod loom_tests;
mod permit;
mod places;
#[cfg(all(test, not(loom)))]
mod tests;
mod unbounded;

pub use self::bounded::{Receiver, Sender, WeakSender, channel};
pub use self::permit::{OwnedPermit, Permit, PermitIterator};
pub use self::unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
