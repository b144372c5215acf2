//! A writer with a buffer.

use std::fmt;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::{DEFAULT_BUFFER_SIZE, is_interrupted, write_zero};

pin_project! {
    /// A writer that collects small pieces, and writes much at once.
    ///
    /// Worth it for many small writes to something where each is expensive: a socket, a file. Reading goes through to
    /// the inner stream.
    ///
    /// **Flush it, or shut it down, before it is dropped:** what is in the buffer is lost otherwise, as a drop cannot
    /// wait.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncWriteExt, BufWriter};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut writer = BufWriter::new(Vec::new());
    /// writer.write_all(b"small").await?;
    /// assert_eq!((writer.buffer(), writer.get_ref().len()), (&b"small"[..], 0));
    /// writer.flush().await?;
    /// assert_eq!(writer.into_inner(), b"small");
    /// # Ok(())
    /// # }
    /// ```
    pub struct BufWriter<W> {
        #[pin]
        inner: W,
        buffer: Vec<u8>,
        // How many bytes at the front of the buffer have been written already.
        written: usize,
        seeking: Seeking,
    }
}

/// How far a seek is.
#[derive(Clone, Copy, Debug)]
enum Seeking {
    Not,
    /// Not started yet: first the buffer has to be written, where it belongs.
    Wanted(SeekFrom),
    /// The inner stream is at it.
    Started,
}

impl<W: AsyncWrite> BufWriter<W> {
    /// A writer with a buffer of 8 KiB.
    pub fn new(inner: W) -> Self {
        Self::with_capacity(DEFAULT_BUFFER_SIZE, inner)
    }

    /// A writer with a buffer of `capacity` bytes. With 0 it is not buffered.
    pub fn with_capacity(capacity: usize, inner: W) -> Self {
        Self { inner, buffer: Vec::with_capacity(capacity), written: 0, seeking: Seeking::Not }
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The inner writer. What is written to it comes before what is in the buffer.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// The inner writer, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut W> {
        self.project().inner
    }

    /// The inner writer. What is in the buffer is lost: flush it first.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// What is in the buffer.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    fn room(&self) -> usize {
        self.buffer.capacity() - self.buffer.len()
    }

    /// Writes the buffer. After an error, what was not written is still in it.
    fn poll_empty(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        let mut outcome = Ok(());
        while *this.written < this.buffer.len() && outcome.is_ok() {
            match ready!(this.inner.as_mut().poll_write(cx, &this.buffer[*this.written..])) {
                Ok(0) => outcome = Err(write_zero()),
                Ok(count) => *this.written += count,
                Err(error) if is_interrupted(&error) => {}
                Err(error) => outcome = Err(error),
            }
        }
        this.buffer.drain(..std::mem::take(this.written));
        Poll::Ready(outcome)
    }
}

impl<W> BufWriter<W> {
    /// The same buffer around another stream, and the one it was around.
    pub(super) fn replace<S>(self, other: S) -> (BufWriter<S>, W) {
        let Self { inner, buffer, written, seeking } = self;
        (BufWriter { inner: other, buffer, written, seeking }, inner)
    }
}

impl<W: AsyncWrite> AsyncWrite for BufWriter<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.len() > self.room() {
            ready!(self.as_mut().poll_empty(cx))?;
        }
        let this = self.project();
        if buf.len() >= this.buffer.capacity() {
            return this.inner.poll_write(cx, buf);
        }
        this.buffer.extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // What has to fit: all, if the inner writer takes several slices at once; or else the first one, and behind it
        // as many as do.
        let is_vectored = self.inner.is_write_vectored();
        let first = bufs.iter().position(|buf| !buf.is_empty()).unwrap_or(bufs.len());
        let bufs = &bufs[first..];
        let wanted = if is_vectored {
            bufs.iter().fold(0, |sum: usize, buf| sum.saturating_add(buf.len()))
        } else {
            bufs.first().map_or(0, |buf| buf.len())
        };
        if wanted == 0 && !is_vectored {
            return Poll::Ready(Ok(0));
        }
        if wanted > self.room() {
            ready!(self.as_mut().poll_empty(cx))?;
        }
        let this = self.project();
        if wanted >= this.buffer.capacity() {
            return this.inner.poll_write_vectored(cx, bufs);
        }
        let before = this.buffer.len();
        for buf in bufs {
            if buf.len() > this.buffer.capacity() - this.buffer.len() {
                break;
            }
            this.buffer.extend_from_slice(buf);
        }
        Poll::Ready(Ok(this.buffer.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_empty(cx))?;
        self.get_pin_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_empty(cx))?;
        self.get_pin_mut().poll_shutdown(cx)
    }
}

/// Writes the buffer first, to where it belongs.
impl<W: AsyncWrite + AsyncSeek> AsyncSeek for BufWriter<W> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seeking = Seeking::Wanted(position);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let Seeking::Wanted(position) = self.seeking {
            ready!(self.as_mut().poll_empty(cx))?;
            let mut this = self.as_mut().project();
            // Another seek may be under way yet, from before the stream was in here.
            ready!(this.inner.as_mut().poll_complete(cx))?;
            *this.seeking = Seeking::Not;
            this.inner.start_seek(position)?;
            *this.seeking = Seeking::Started;
        }
        let this = self.project();
        let outcome = ready!(this.inner.poll_complete(cx));
        *this.seeking = Seeking::Not;
        Poll::Ready(outcome)
    }
}

impl<W: AsyncWrite + AsyncRead> AsyncRead for BufWriter<W> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.get_pin_mut().poll_read(cx, buf)
    }
}

impl<W: AsyncWrite + AsyncBufRead> AsyncBufRead for BufWriter<W> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.get_pin_mut().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_pin_mut().consume(amount);
    }
}

impl<W: fmt::Debug> fmt::Debug for BufWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufWriter")
            .field("writer", &self.inner)
            .field("buffer", &format_args!("{}/{}", self.buffer.len(), self.buffer.capacity()))
            .field("written", &self.written)
            .finish()
    }
}
