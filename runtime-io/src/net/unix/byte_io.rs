//! Bytes to and from Unix streams and pipes: what [`Endpoint`] has for these alone. (TCP has a backend of its own.)

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::task::{Context, Poll};

use crate::interest::Interest;
use crate::io::ReadBuf;
use crate::net::endpoint::{Carrier, Endpoint};
use crate::readiness::Direction;

/// One that bytes are read from without a sender's address.
pub(in crate::net) trait Receiver: Carrier {
    /// Reads once into what is not filled.
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize>;
}

/// Bytes to be read.
impl<S: Receiver> Endpoint<S> {
    #[inline]
    pub(super) fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_io(cx, Direction::Read, || self.source().receive(buf)).map_ok(drop)
    }

    pub(super) fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        self.try_io(Interest::READABLE, || self.source().receive(&mut buf))
    }

    #[cfg(feature = "io-util")]
    pub(super) fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        let receive = |part: &mut ReadBuf<'_>| self.source().receive(part);
        self.try_io(Interest::READABLE, || crate::net::receive::fill(buf, receive).map(|(count, _)| count))
    }

    pub(super) fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize>
    where
        for<'a> &'a S: Read,
    {
        self.registration().try_io(Interest::READABLE, || self.source().read_vectored(bufs))
    }
}

/// Bytes to be written.
impl<S: Carrier> Endpoint<S>
where
    for<'a> &'a S: Write,
{
    #[inline]
    pub(super) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.registration().poll_io(cx, Direction::Write, || self.source().write(buf))
    }

    pub(super) fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.registration().poll_io(cx, Direction::Write, || self.source().write_vectored(bufs))
    }

    pub(super) fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.registration().try_io(Interest::WRITABLE, || self.source().write(buf))
    }

    pub(super) fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.registration().try_io(Interest::WRITABLE, || self.source().write_vectored(bufs))
    }
}

/// `try_read`, `try_read_vectored` and `try_read_buf`.
macro_rules! try_read_methods {
    () => {
        /// Reads what is there, without waiting. 0 is the end of what the other side sends (or an empty buffer).
        ///
        /// # Errors
        ///
        /// The operating system's; `WouldBlock` if nothing is there, or none is known to be until
        /// [`readable`](Self::readable) has returned.
        pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.io.try_read(buf)
        }

        /// As [`try_read`](Self::try_read), into several buffers in turn.
        ///
        /// # Errors
        ///
        /// See [`try_read`](Self::try_read).
        pub fn try_read_vectored(&self, bufs: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
            self.io.try_read_vectored(bufs)
        }

        /// As [`try_read`](Self::try_read), into what `buf` has to offer, which need not be initialised.
        ///
        /// # Errors
        ///
        /// See [`try_read`](Self::try_read).
        #[cfg(feature = "io-util")]
        pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
            self.io.try_read_buf(buf)
        }
    };
}

/// `try_write` and `try_write_vectored`.
macro_rules! try_write_methods {
    () => {
        /// Writes what there is room for, without waiting.
        ///
        /// # Errors
        ///
        /// The operating system's; `WouldBlock` if there is no room, or none is known of until
        /// [`writable`](Self::writable) has returned.
        pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
            self.io.try_write(buf)
        }

        /// As [`try_write`](Self::try_write), from several buffers in turn.
        ///
        /// # Errors
        ///
        /// See [`try_write`](Self::try_write).
        pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
            self.io.try_write_vectored(bufs)
        }
    };
}

pub(super) use {try_read_methods, try_write_methods};
