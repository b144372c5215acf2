//! A writer that forgets what it is given.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop::poll_proceed;

use crate::io::AsyncWrite;

use super::empty::forget_what_is_written;

/// A writer that forgets what it is given, from [`sink`].
#[derive(Clone, Copy, Default)]
pub struct Sink(());

/// A writer that takes everything and forgets it.
///
/// # Example
///
/// ```
/// use rt::io::{copy, sink};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let length = copy(&mut &b"hello"[..], &mut sink()).await?;
/// assert_eq!(length, 5);
/// # Ok(())
/// # }
/// ```
pub fn sink() -> Sink {
    Sink(())
}

impl AsyncWrite for Sink {
    forget_what_is_written!();
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}
