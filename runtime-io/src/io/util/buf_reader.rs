//! A reader with a buffer.

use std::fmt;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::DEFAULT_BUFFER_SIZE;
use super::buffer::Buffer;

pin_project! {
    /// A reader that reads much at once, and gives it out in small pieces.
    ///
    /// Worth it for many small reads of something where each is expensive: a socket, a file. For lines it takes an
    /// [`AsyncBufRead`], as which this is. Writing goes through to the inner stream.
    ///
    /// What is in the buffer is lost when this is dropped or taken apart.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncBufReadExt, BufReader};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut lines = BufReader::new(&b"one\ntwo\n"[..]).lines();
    /// while let Some(line) = lines.next_line().await? {
    ///     assert_eq!(line.len(), 3);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub struct BufReader<R> {
        #[pin]
        inner: R,
        buffer: Buffer,
        seeking: Seeking,
    }
}

/// How far a seek is.
#[derive(Clone, Copy, Debug)]
enum Seeking {
    Not,
    /// Not started yet.
    Wanted(SeekFrom),
    /// The inner stream is at it. The distance is what is to follow, if it could not be told in one.
    Started(Option<i64>),
}

impl<R: AsyncRead> BufReader<R> {
    /// A reader with a buffer of 8 KiB.
    pub fn new(inner: R) -> Self {
        Self::with_capacity(DEFAULT_BUFFER_SIZE, inner)
    }

    /// A reader with a buffer of `capacity` bytes.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0: nothing could be read through it.
    #[track_caller]
    pub fn with_capacity(capacity: usize, inner: R) -> Self {
        assert!(capacity > 0, "a buffer's capacity must be greater than zero");
        Self { inner, buffer: Buffer::new(capacity), seeking: Seeking::Not }
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The inner reader. What is read from it is not what follows the buffer.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The inner reader, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().inner
    }

    /// The inner reader. What is in the buffer is lost.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// What is in the buffer. Nothing is read for it.
    pub fn buffer(&self) -> &[u8] {
        self.buffer.bytes()
    }
}

impl<R> BufReader<R> {
    /// The same buffer around another stream, and the one it was around.
    pub(super) fn replace<S>(self, other: S) -> (BufReader<S>, R) {
        (BufReader { inner: other, buffer: self.buffer, seeking: self.seeking }, self.inner)
    }
}

impl<R: AsyncRead> AsyncRead for BufReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.as_mut().project();
        if this.buffer.is_empty() && buf.remaining() >= this.buffer.capacity() {
            // As much at once as through the buffer, and without copying it.
            return this.inner.poll_read(cx, buf);
        }
        let available = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = available.len().min(buf.remaining());
        buf.put_slice(&available[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead> AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if this.buffer.is_empty() {
            ready!(this.buffer.poll_fill(|buf| this.inner.poll_read(cx, buf)))?;
        }
        Poll::Ready(Ok(this.buffer.bytes()))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.project().buffer.consume(amount);
    }
}

/// What is in the buffer is lost by a seek. The position counts from what has been consumed, not from where the inner
/// stream is, which is ahead of it.
impl<R: AsyncRead + AsyncSeek> AsyncSeek for BufReader<R> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seeking = Seeking::Wanted(position);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let mut this = self.project();
        loop {
            // After an error no seek is under way.
            match std::mem::replace(this.seeking, Seeking::Not) {
                Seeking::Not => return this.inner.poll_complete(cx),
                Seeking::Wanted(SeekFrom::Current(distance)) => {
                    // A buffer is no longer than `isize::MAX`.
                    let ahead = this.buffer.bytes().len() as i64;
                    // If the sum is beyond an `i64` it takes two steps: back to where the user is, and then on.
                    let (step, rest) = match distance.checked_sub(ahead) {
                        Some(step) => (step, None),
                        None => (-ahead, Some(distance)),
                    };
                    this.inner.as_mut().start_seek(SeekFrom::Current(step))?;
                    *this.seeking = Seeking::Started(rest);
                }
                Seeking::Wanted(position) => {
                    this.inner.as_mut().start_seek(position)?;
                    *this.seeking = Seeking::Started(None);
                }
                Seeking::Started(rest) => {
                    let Poll::Ready(outcome) = this.inner.as_mut().poll_complete(cx) else {
                        *this.seeking = Seeking::Started(rest);
                        return Poll::Pending;
                    };
                    let position = outcome?;
                    this.buffer.clear();
                    let Some(distance) = rest else { return Poll::Ready(Ok(position)) };
                    this.inner.as_mut().start_seek(SeekFrom::Current(distance))?;
                    *this.seeking = Seeking::Started(None);
                }
            }
        }
    }
}

impl<R: AsyncRead + AsyncWrite> AsyncWrite for BufReader<R> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_pin_mut().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_pin_mut().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_pin_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_pin_mut().poll_shutdown(cx)
    }
}

impl<R: fmt::Debug> fmt::Debug for BufReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufReader").field("reader", &self.inner).field("buffer", &self.buffer).finish()
    }
}
