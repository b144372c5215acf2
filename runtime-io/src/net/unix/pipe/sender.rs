//! The writing end of a pipe.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use runtime_core::os::descriptor::StatusFlags;

use crate::driver::Handle;
use crate::interest::Interest;
use crate::io::AsyncWrite;
use crate::net::endpoint::Endpoint;
use crate::net::methods::{ready_method, writable_methods};
use crate::ready::Ready;
use crate::registration::current_driver;

use super::super::byte_io::try_write_methods;
use super::{blocking, prepare};

/// The writing end of a pipe.
///
/// It is written through [`AsyncWrite`]. One task at a time should do so, for only the last task to be refused is woken
/// by it; [`writable`](Self::writable) has no such limit. There is no shutting down but dropping it: when the last
/// writing end is dropped, readers find the end.
///
/// A write to a pipe that nobody reads fails with [`BrokenPipe`](io::ErrorKind::BrokenPipe). (Rust programs ignore the
/// signal that goes with it, unless told otherwise.)
///
/// # Example
///
/// See [`pipe`](super::pipe()).
#[derive(Debug)]
pub struct Sender {
    pub(in crate::net) io: Endpoint<mio::unix::pipe::Sender>,
}

impl Sender {
    pub(super) fn register(driver: &Handle, end: mio::unix::pipe::Sender, assumed: Ready) -> io::Result<Self> {
        Ok(Self { io: Endpoint::register(driver, end, Interest::WRITABLE, assumed)? })
    }

    /// Takes over the writing end of a pipe, in the form of a file. It is put into non-blocking mode.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no pipe, or not open for writing; and if it cannot be
    /// registered with the driver.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn from_file(file: File) -> io::Result<Sender> {
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
    pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<Sender> {
        let driver = current_driver();
        let descriptor = prepare(owned_fd, StatusFlags::can_write, "the pipe is not open for writing")?;
        Self::register(&driver, descriptor.into(), Ready::EMPTY)
    }

    /// As [`from_file`](Self::from_file), without a check. It must be in non-blocking mode, and be open for writing;
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
    pub fn from_file_unchecked(file: File) -> io::Result<Sender> {
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
    pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<Sender> {
        Self::register(&current_driver(), owned_fd.into(), Ready::EMPTY)
    }

    ready_method!();
    writable_methods!(poll_write_ready);
    try_write_methods!();

    /// Runs an operation of your own on the pipe, if it is ready for writing as far as is known.
    ///
    /// # Errors
    ///
    /// What the operation returns. If that is `WouldBlock`, the readiness is taken back; so the operation must return
    /// it only when the pipe really would block. `WouldBlock` as well if it was not ready to begin with.
    pub fn try_io<R>(&self, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::WRITABLE, operation)
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

impl AsyncWrite for Sender {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Nothing is held back here, so there is nothing to do.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Does nothing: drop it to end what can be read.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
