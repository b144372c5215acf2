//! What can go wrong with time.

use std::error::Error;
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

impl Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, elapsed)
    }
}
