//! The reading end of a pipe.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use runtime_core::os::descriptor::StatusFlags;

use crate::driver::Handle;
use crate::interest::Interest;
use crate::io::{AsyncRead, ReadBuf};
use crate::net::endpoint::Endpoint;
use crate::net::methods::{readable_methods, ready_method};
use crate::net::receive::read;
use crate::ready::Ready;
use crate::registration::current_driver;

use super::super::byte_io::{self, try_read_methods};
use super::{blocking, prepare};

impl byte_io::Receiver for mio::unix::pipe::Receiver {
    #[inline]
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        read(self, buf)
    }
}

/// The reading end of a pipe.
///
/// It is read through [`AsyncRead`]. One task at a time should do so, for only the last task to be refused is woken by
/// it; [`readable`](Self::readable) has no such limit. Reads find the end once the last writing end is closed, and, of
/// a pipe with a name, go on when another one is opened.
///
/// # Example
///
/// See [`pipe`](super::pipe()).
#[derive(Debug)]
pub struct Receiver {
    pub(in crate::net) io: Endpoint<mio::unix::pipe::Receiver>,
}

impl Receiver {
    pub(super) fn register(driver: &Handle, end: mio::unix::pipe::Receiver) -> io::Result<Self> {
        Ok(Self { io: Endpoint::register(driver, end, Interest::READABLE, Ready::EMPTY)? })
    }

    /// Takes over the reading end of a pipe, in the form of a file. It is put into non-blocking mode.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no pipe, or not open for reading; and if it cannot be
    /// registered with the driver.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn from_file(file: File) -> io::Result<Receiver> {
        Self::from_owned_fd(file.into())
    }

    /// As [`from_file`](Self::from_file), in the form of a descriptor.
    ///
    /// # Errors
    ///
    /// See [`from_file`](Self::from_file).
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<Receiver> {
        let driver = current_driver();
        let descriptor = prepare(owned_fd, StatusFlags::can_read, "the pipe is not open for reading")?;
        Self::register(&driver, descriptor.into())
    }

    /// As [`from_file`](Self::from_file), without a check. It must be in non-blocking mode, and be open for reading;
    /// otherwise operations block the thread, or fail.
    ///
    /// # Errors
    ///
    /// If it cannot be registered with the driver: a file of the usual kind cannot, for example.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn from_file_unchecked(file: File) -> io::Result<Receiver> {
        Self::from_owned_fd_unchecked(file.into())
    }

    /// As [`from_file_unchecked`](Self::from_file_unchecked), in the form of a descriptor.
    ///
    /// # Errors
    ///
    /// See [`from_file_unchecked`](Self::from_file_unchecked).
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<Receiver> {
        Self::register(&current_driver(), owned_fd.into())
    }

    ready_method!();
    readable_methods!(poll_read_ready);
    try_read_methods!();

    /// Runs an operation of your own on the pipe, if it is ready for reading as far as is known.
    ///
    /// # Errors
    ///
    /// What the operation returns. If that is `WouldBlock`, the readiness is taken back; so the operation must return
    /// it only when the pipe really would block. `WouldBlock` as well if it was not ready to begin with.
    pub fn try_io<R>(&self, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::READABLE, operation)
    }

    /// Gives the descriptor back, out of the driver, and in blocking mode: for a child process, say.
    ///
    /// # Errors
    ///
    /// The operating system's; it is closed then.
    pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
        self.into_nonblocking_fd().and_then(blocking)
    }

    /// Gives the descriptor back, out of the driver. It is still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// If the driver cannot let go of it; it is closed then.
    pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
        self.io.into_source().map(OwnedFd::from)
    }
}

impl AsyncRead for Receiver {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io.poll_read(cx, buf)
    }
}
