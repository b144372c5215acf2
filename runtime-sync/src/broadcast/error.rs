//! What can go wrong with a broadcast channel.

use std::error::Error;
use std::fmt;

/// There is no receiver. Here is the value that was not sent.
#[derive(Debug)]
pub struct SendError<T>(pub T);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> Error for SendError<T> {}

/// Why [`recv`](super::Receiver::recv) has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecvError {
    /// All senders are gone, and every value has been received.
    Closed,
    /// The receiver was too slow, and has missed as many values as this says. The next that it receives is the oldest
    /// that the channel still has.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("channel closed"),
            Self::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for RecvError {}

/// Why [`try_recv`](super::Receiver::try_recv) has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no value at the moment.
    Empty,
    /// All senders are gone, and every value has been received.
    Closed,
    /// The receiver was too slow, and has missed as many values as this says. The next that it receives is the oldest
    /// that the channel still has.
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("channel empty"),
            Self::Closed => f.write_str("channel closed"),
            Self::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for TryRecvError {}
