//! The parent's ends of a child's standard streams: pipes, in non-blocking mode.
#![allow(unsafe_code, reason = "reads into memory that is not initialised")]

use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use mio::unix::pipe::{Receiver, Sender};
use runtime_core::os::descriptor::set_nonblocking;

use crate::driver::Handle;
use crate::interest::Interest;
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use crate::net::receive::read;
use crate::readiness::Direction;
use crate::ready::Ready;
use crate::registration::{Evented, current_driver};

/// The writing end of a child's standard input.
///
/// The child sees the end of its input when this is dropped, and not before; [`shutdown`] does nothing.
/// [`Child::wait`](super::Child::wait) drops it if it is still in the `Child`. Writing fails with
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe) once nobody reads the other end any more.
///
/// [`shutdown`]: AsyncWrite::poll_shutdown
#[derive(Debug)]
pub struct ChildStdin {
    pipe: Evented<Sender>,
}

/// The reading end of a child's standard output.
///
/// It is at its end when all who could write have closed the other end: not only the child, but also the processes
/// that it has started in turn and that have inherited it.
#[derive(Debug)]
pub struct ChildStdout {
    pipe: Evented<Receiver>,
}

/// The reading end of a child's standard error. As [`ChildStdout`].
#[derive(Debug)]
pub struct ChildStderr {
    pipe: Evented<Receiver>,
}

/// Registers a pipe, in non-blocking mode.
fn register<S: Source + AsFd + AsRawFd>(driver: &Handle, pipe: S, interest: Interest) -> io::Result<Evented<S>> {
    set_nonblocking(&pipe, true)?;
    Evented::new(driver, pipe, interest, Ready::EMPTY).map_err(|(_, error)| error)
}

/// Takes a pipe out of the driver, and into blocking mode: what it is given to next expects no other.
fn release<S: Source + Into<OwnedFd>>(pipe: Evented<S>) -> io::Result<OwnedFd> {
    let (pipe, outcome) = pipe.into_inner();
    outcome?;
    let pipe = pipe.into();
    set_nonblocking(&pipe, false)?;
    Ok(pipe)
}

macro_rules! stdio {
    ($($name:ident: $pipe:ident, $interest:expr, $std:literal;)*) => {$(
        impl $name {
            pub(super) fn register(driver: &Arc<Handle>, std: std::process::$name) -> io::Result<Self> {
                register(driver, $pipe::from(OwnedFd::from(std)), $interest).map(|pipe| Self { pipe })
            }

            #[doc = concat!("Registers the [standard library's](std::process::", $std, ") with the current runtime.")]
            ///
            /// # Errors
            ///
            /// If it cannot be put into non-blocking mode or registered, which pipes can.
            ///
            /// # Panics
            ///
            /// Outside of a runtime with I/O enabled.
            #[track_caller]
            pub fn from_std(inner: std::process::$name) -> io::Result<Self> {
                Self::register(&current_driver(), inner)
            }

            /// Takes the descriptor out of the runtime. It is in blocking mode again.
            ///
            /// # Errors
            ///
            /// The operating system's; the descriptor is closed then.
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                release(self.pipe)
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.pipe.source().as_raw_fd()
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.pipe.source().as_fd()
            }
        }

        /// For another child, which gets the descriptor in blocking mode.
        impl TryFrom<$name> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $name) -> io::Result<Stdio> {
                pipe.into_owned_fd().map(Stdio::from)
            }
        }
    )*};
}

stdio! {
    ChildStdin: Sender, Interest::WRITABLE, "ChildStdin";
    ChildStdout: Receiver, Interest::READABLE, "ChildStdout";
    ChildStderr: Receiver, Interest::READABLE, "ChildStderr";
}

impl AsyncWrite for ChildStdin {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut pipe = self.pipe.source();
        self.pipe.registration().poll_io(cx, Direction::Write, || pipe.write(buf))
    }

    /// Nothing to do: what is written is in the pipe.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Does nothing: a pipe has no end but its closing. Drop it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut pipe = self.pipe.source();
        self.pipe.registration().poll_io(cx, Direction::Write, || pipe.write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

/// Reads behind what is filled.
fn poll_read(pipe: &Evented<Receiver>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    pipe.registration().poll_io(cx, Direction::Read, || read(pipe.source(), buf)).map_ok(drop)
}

impl AsyncRead for ChildStdout {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        poll_read(&self.pipe, cx, buf)
    }
}

impl AsyncRead for ChildStderr {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        poll_read(&self.pipe, cx, buf)
    }
}

/// Reads a stream to its end, into memory. One that is not there is at its end.
pub(super) struct Collect<R> {
    reader: Option<R>,
    pub(super) bytes: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Collect<R> {
    /// How much memory there is to begin with: a page.
    const FIRST: usize = 4096;

    pub(super) fn new(reader: Option<R>) -> Self {
        Self { reader, bytes: Vec::new() }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(reader) = &mut self.reader {
            if self.bytes.len() == self.bytes.capacity() {
                self.bytes.reserve(self.bytes.len().max(Self::FIRST));
            }
            let mut buf = ReadBuf::uninit(self.bytes.spare_capacity_mut());
            ready!(Pin::new(reader).poll_read(cx, &mut buf))?;
            let count = buf.filled().len();
            if count == 0 {
                self.reader = None;
            }
            let length = self.bytes.len() + count;
            // SAFETY: The bytes behind the length that are filled now are initialised, and within the capacity.
            unsafe { self.bytes.set_len(length) };
        }
        Poll::Ready(Ok(()))
    }
}
