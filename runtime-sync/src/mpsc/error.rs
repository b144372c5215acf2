//! What can go wrong with a channel.

use std::error::Error;
use std::fmt;

/// The channel is closed, so that the value cannot be sent. It is given back.
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

/// Why [`try_send`](super::Sender::try_send) and its siblings do not send. The value is given back.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room now.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The value.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Closed(error.0)
    }
}

/// Why [`send_timeout`](super::Sender::send_timeout) does not send. The value is given back.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// There was no room in time.
    Timeout(T),
    /// The channel is closed.
    Closed(T),
}

impl<T> SendTimeoutError<T> {
    /// The value.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(value) | Self::Closed(value) => value,
        }
    }
}

/// Why [`try_recv`](super::Receiver::try_recv) has no value.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// There is no value now.
    Empty,
    /// There is no value and there will be none: all senders are gone, or the receiver was closed.
    Disconnected,
}

/// The channel is closed.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct RecvError(());

macro_rules! texts {
    ($($name:ident $(<$value:ident>)? { $($variant:pat => $text:literal),+ })+) => {$(
        impl $(<$value>)? fmt::Display for $name $(<$value>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($variant => $text),+
                })
            }
        }

        impl $(<$value>)? Error for $name $(<$value>)? {}
    )+};
}

texts! {
    SendError<T> { _ => "channel closed" }
    TrySendError<T> { Self::Full(_) => "no available capacity", Self::Closed(_) => "channel closed" }
    SendTimeoutError<T> {
        Self::Timeout(_) => "timed out waiting on send operation",
        Self::Closed(_) => "channel closed"
    }
    TryRecvError {
        Self::Empty => "receiving on an empty channel",
        Self::Disconnected => "receiving on a closed channel"
    }
    RecvError { _ => "channel closed" }
}

/// Without the value, which need not be `Debug`, and in quotes, as Tokio has it.
macro_rules! debug {
    ($($name:ident { $($variant:ident),+ })+) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = match self {
                    $(Self::$variant(_) => concat!(stringify!($variant), "(..)")),+
                };
                fmt::Debug::fmt(text, f)
            }
        }
    )+};
}

debug! {
    TrySendError { Full, Closed }
    SendTimeoutError { Timeout, Closed }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Opaque;

    #[test]
    fn errors_print_without_the_value() {
        assert_eq!(format!("{:?}", SendError(Opaque)), "SendError { .. }");
        assert_eq!(format!("{:?}", TrySendError::Full(Opaque)), r#""Full(..)""#);
        assert_eq!(format!("{:?}", TrySendError::Closed(Opaque)), r#""Closed(..)""#);
        assert_eq!(format!("{:?}", SendTimeoutError::Timeout(Opaque)), r#""Timeout(..)""#);
        assert_eq!(format!("{:?}", SendTimeoutError::Closed(Opaque)), r#""Closed(..)""#);
    }
}
