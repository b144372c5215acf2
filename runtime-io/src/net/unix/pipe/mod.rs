//! Unix pipes, with a name in the file system (FIFOs) or without.
//!
//! [`pipe`] makes a pipe without a name. [`OpenOptions`] opens the ends of one that has a name, and what other code has
//! opened becomes an end by [`Sender::from_owned_fd`] and the like.

mod open_options;
mod receiver;
mod sender;

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use runtime_core::os::descriptor::{StatusFlags, set_nonblocking, status_flags};

use crate::net::endpoint::carriers;
use crate::ready::Ready;
use crate::registration::current_driver;

pub use open_options::OpenOptions;
pub use receiver::Receiver;
pub use sender::Sender;

carriers!(mio::unix::pipe::Sender, mio::unix::pipe::Receiver);

/// Makes a pipe without a name, and returns its two ends. What is written to the first can be read from the second.
///
/// # Errors
///
/// The operating system's: too many files are open, for example.
///
/// # Panics
///
/// Outside of a runtime with I/O enabled.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
/// use rt::net::unix::pipe;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut sender, mut receiver) = pipe::pipe()?;
/// sender.write_all(b"hello").await?;
/// drop(sender);
/// let mut text = String::new();
/// receiver.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let driver = current_driver();
    let (sender, receiver) = mio::unix::pipe::new()?;
    // There is room to write in a new pipe: no need to wait until the poller says so.
    let sender = Sender::register(&driver, sender, Ready::WRITABLE)?;
    Ok((sender, Receiver::register(&driver, receiver)?))
}

/// Checks what is to become an end, and puts it into non-blocking mode.
///
/// # Errors
///
/// `InvalidInput` if it is no pipe, or if `is_right` does not hold for its flags.
fn prepare(descriptor: OwnedFd, is_right: impl FnOnce(StatusFlags) -> bool, wrong: &str) -> io::Result<OwnedFd> {
    let descriptor = require_pipe(descriptor)?;
    if !is_right(status_flags(&descriptor)?) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
    }
    set_nonblocking(&descriptor, true)?;
    Ok(descriptor)
}

/// The same descriptor, if it is a pipe.
fn require_pipe<D: From<std::fs::File> + Into<OwnedFd>>(descriptor: D) -> io::Result<D> {
    use std::os::unix::fs::FileTypeExt;

    let file = std::fs::File::from(descriptor.into());
    if file.metadata()?.file_type().is_fifo() {
        return Ok(file.into());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a pipe"))
}

/// Takes a descriptor that is out of the driver back into blocking mode.
fn blocking(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    set_nonblocking(descriptor.as_fd(), false)?;
    Ok(descriptor)
}
