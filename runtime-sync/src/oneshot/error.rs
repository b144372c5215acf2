//! What can go wrong with a oneshot channel.

use std::error::Error;
use std::fmt;

/// There is no value and there will be none: the sender was dropped without sending, or the receiver was closed first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecvError(pub(super) ());

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl Error for RecvError {}

/// Why [`try_recv`](super::Receiver::try_recv) has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no value yet.
    Empty,
    /// There is no value and there will be none, or it has been received.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "channel empty",
            Self::Closed => "channel closed",
        })
    }
}

impl Error for TryRecvError {}
