//! What can go wrong with time.

use std::error;
use std::fmt;
use std::io;

/// The deadline came before the result: the error of [`timeout`](crate::timeout()) and
/// [`timeout_at`](crate::timeout_at).
///
/// # Example
///
/// ```
/// use rt::time::{Duration, timeout};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let never = std::future::pending::<()>();
///     let elapsed = timeout(Duration::from_millis(1), never).await.unwrap_err();
///     assert_eq!(elapsed.to_string(), "deadline has elapsed");
///     assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, elapsed)
    }
}

/// What can be wrong with a timer.
///
/// No function of this module returns it: a timer whose runtime has shut down panics when it is polled, there is no
/// limit to their number, and no duration is too long. It is here for code that makes it, or has it in a signature.
///
/// # Example
///
/// ```
/// use rt::time::error::Error;
/// assert!(Error::shutdown().is_shutdown());
/// assert!(!Error::at_capacity().is_invalid());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Error(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The timers have shut down, with their runtime.
    pub fn shutdown() -> Self {
        Self(Kind::Shutdown)
    }

    /// Whether the timers have shut down.
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// There is no room for a further timer.
    pub fn at_capacity() -> Self {
        Self(Kind::AtCapacity)
    }

    /// Whether there was no room for a further timer.
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// The duration is longer than a timer can wait.
    pub fn invalid() -> Self {
        Self(Kind::Invalid)
    }

    /// Whether the duration was longer than a timer can wait.
    pub fn is_invalid(&self) -> bool {
        self.0 == Kind::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Shutdown => "the runtime's timers were shut down",
            Kind::AtCapacity => "there is no room for another timer",
            Kind::Invalid => "the duration is longer than a timer can wait",
        })
    }
}

impl error::Error for Error {}
