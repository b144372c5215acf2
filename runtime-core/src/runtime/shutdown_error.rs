//! The error of operations whose runtime has shut down, and how to recognise it.

use std::error::Error;
use std::fmt;
use std::io;

/// The runtime that an operation needs has shut down. Inside of an [`io::Error`]; for the drivers, which make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutDown(&'static str);

impl ShutDown {
    /// The error of an operation on a driver that was shut down. The text is a whole sentence.
    pub fn new(text: &'static str) -> Self {
        Self(text)
    }
}

impl fmt::Display for ShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for ShutDown {}

impl From<ShutDown> for io::Error {
    fn from(error: ShutDown) -> Self {
        Self::other(error)
    }
}

/// Whether an operation failed because its runtime has shut down.
///
/// A socket outlives its runtime if it was moved out of it. What is then asked of it fails with such an error, and so
/// does what needs the blocking pool (files, standard streams) once that is closed.
///
/// # Example
///
/// ```
/// use rt::net::TcpListener;
/// use rt::runtime::{Runtime, is_rt_shutdown_err};
///
/// let first = Runtime::new().unwrap();
/// let listener = first.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
/// drop(first);
///
/// let second = Runtime::new().unwrap();
/// let error = second.block_on(listener.accept()).unwrap_err();
/// assert!(is_rt_shutdown_err(&error));
/// ```
pub fn is_rt_shutdown_err(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<ShutDown>() || inner.source().is_some_and(|why| why.is::<ShutDown>()))
}
