//! Why there are no permits.

use std::error::Error;
use std::fmt;

/// The semaphore is closed: it gives out no permits any more.
#[derive(Debug)]
pub struct AcquireError(pub(crate) ());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl Error for AcquireError {}

/// Why [`try_acquire`](super::Semaphore::try_acquire) and its siblings give no permit.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed: it gives out no permits any more.
    Closed,
    /// There are not as many free permits now.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "semaphore closed",
            Self::NoPermits => "no permits available",
        })
    }
}

impl Error for TryAcquireError {}
