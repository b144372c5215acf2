//! Reading from and writing to a stream: the traits, and the attempts that never wait.

use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::interest::Interest;
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use crate::net::forward::{forward_read, forward_write};
#[cfg(feature = "io-util")]
use crate::net::receive::fill;
use crate::readiness::Direction;

use super::TcpStream;

/// The least number of buffers that a vectored call passes on to the system, by POSIX. Systems take more, but what a
/// call has moved is compared with the room in this many: were it compared with the room in more buffers than the
/// call passed on, a call that reached its limit would look like one that left the socket empty, or full. To expect
/// less is safe.
const BUFFERS_AT_ONCE: usize = 16;

fn room(bufs: &[IoSliceMut<'_>]) -> usize {
    bufs.iter().take(BUFFERS_AT_ONCE).map(|buf| buf.len()).sum()
}

fn amount(bufs: &[IoSlice<'_>]) -> usize {
    bufs.iter().take(BUFFERS_AT_ONCE).map(|buf| buf.len()).sum()
}

impl TcpStream {
    /// Reads what is there, without waiting. 0 is the end of what the other side sends (or an empty buffer).
    ///
    /// # Errors
    ///
    /// The operating system's; `WouldBlock` if nothing is there, or none is known to be until
    /// [`readable`](Self::readable) has returned.
    ///
    /// # Example
    ///
    /// See [`readable`](Self::readable).
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let wanted = buf.len();
        self.io.registration().try_read(wanted, || self.io.receive(&mut ReadBuf::new(buf)))
    }

    /// As [`try_read`](Self::try_read), into several buffers in turn.
    ///
    /// # Errors
    ///
    /// See [`try_read`](Self::try_read).
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let wanted = room(bufs);
        self.io.registration().try_read(wanted, || self.io.read_vectored(bufs))
    }

    /// As [`try_read`](Self::try_read), into what `buf` has to offer, which need not be initialised.
    ///
    /// # Errors
    ///
    /// See [`try_read`](Self::try_read).
    #[cfg(feature = "io-util")]
    pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        let wanted = buf.chunk_mut().len();
        let read = || fill(buf, |part| self.io.receive(part)).map(|(count, _)| count);
        self.io.registration().try_read(wanted, read)
    }

    /// Writes what there is room for, without waiting.
    ///
    /// # Errors
    ///
    /// The operating system's; `WouldBlock` if there is no room, or none is known of until
    /// [`writable`](Self::writable) has returned.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        // Whoever fills a stream by hand is told that it is full by a refusal, not by a short write: until then it
        // stays ready, as programs expect that ask.
        self.io.registration().try_io(Interest::WRITABLE, || self.io.write(buf))
    }

    /// As [`try_write`](Self::try_write), from several buffers in turn.
    ///
    /// # Errors
    ///
    /// See [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.io.registration().try_io(Interest::WRITABLE, || self.io.write_vectored(bufs))
    }
}

/// Of several tasks that read the same stream at a time, only the last to wait is woken.
impl AsyncRead for &TcpStream {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wanted = buf.remaining();
        self.io.registration().poll_transfer(cx, Direction::Read, wanted, || self.io.receive(buf)).map_ok(drop)
    }
}

/// Of several tasks that write to the same stream at a time, only the last to wait is woken.
impl AsyncWrite for &TcpStream {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.registration().poll_transfer(cx, Direction::Write, buf.len(), || self.io.write(buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.registration().poll_transfer(cx, Direction::Write, amount(bufs), || self.io.write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Nothing is held back here, so there is nothing to do.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends what the other side can read. Reading goes on.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shut_down_writing())
    }
}

forward_read!(TcpStream, this => &*this);
forward_write!(TcpStream, this => &*this);
