//! Streams of the crate `futures-io` as streams of rt, and the other way round, by a wrapper: [`Compat`].
//!
//! Libraries that are written for any runtime often speak the traits of `futures-io`. A stream of rt's implements rt's
//! traits only, since the methods have the same names and a call would be ambiguous. So one wraps it:
//!
//! - [`AsyncReadCompat::compat`] and [`AsyncWriteCompat::compat_write`] make a futures-io stream of one of rt's.
//! - [`FuturesReadCompat::compat`] and [`FuturesWriteCompat::compat_write`] make a stream of rt's of a futures-io one.
//!
//! Nothing is copied on the way. Readers of futures-io take initialised memory only: a buffer that is not is filled
//! with zeros once, and stays initialised for the reads that follow into it.
//!
//! # Example
//!
//! ```
//! use futures_lite::io::{AsyncReadExt, AsyncWriteExt};
//! use rt::io::compat::AsyncReadCompat;
//!
//! # #[rt::main]
//! # async fn main() -> rt::io::Result<()> {
//! let (one, other) = rt::io::duplex(64);
//! let (mut one, mut other) = (one.compat(), other.compat());
//! one.write_all(b"hello").await?; // of futures-lite
//! one.close().await?;
//! let mut text = String::new();
//! other.read_to_string(&mut text).await?;
//! assert_eq!(text, "hello");
//! let _stream: rt::io::DuplexStream = one.into_inner();
//! # Ok(())
//! # }
//! ```

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

pin_project! {
    /// A stream of one kind of traits, as one of the other. See [the module](self).
    #[derive(Clone, Copy, Debug)]
    pub struct Compat<T> {
        #[pin]
        inner: T,
        // Where a seek that has been started goes.
        seeking: Option<SeekFrom>,
    }
}

/// What makes a futures-io stream of a reader of rt's.
pub trait AsyncReadCompat: AsyncRead {
    /// Wraps it: the result implements the traits of futures-io for all that this implements of rt's.
    ///
    /// # Example
    ///
    /// See [the module](self).
    fn compat(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

/// What makes a futures-io stream of a writer of rt's.
pub trait AsyncWriteCompat: AsyncWrite {
    /// As [`AsyncReadCompat::compat`], for what can only be written to.
    fn compat_write(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

/// What makes a stream of rt's of a reader of futures-io.
pub trait FuturesReadCompat: futures_io::AsyncRead {
    /// Wraps it: the result implements rt's traits for all that this implements of those of futures-io.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncReadExt;
    /// use rt::io::compat::FuturesReadCompat;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut reader = futures_lite::io::Cursor::new(b"hello").compat();
    /// let mut text = String::new();
    /// reader.read_to_string(&mut text).await?; // of rt
    /// assert_eq!(text, "hello");
    /// # Ok(())
    /// # }
    /// ```
    fn compat(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

/// What makes a stream of rt's of a writer of futures-io.
pub trait FuturesWriteCompat: futures_io::AsyncWrite {
    /// As [`FuturesReadCompat::compat`], for what can only be written to.
    fn compat_write(self) -> Compat<Self>
    where
        Self: Sized,
    {
        Compat::new(self)
    }
}

impl<T: AsyncRead> AsyncReadCompat for T {}
impl<T: AsyncWrite> AsyncWriteCompat for T {}
impl<T: futures_io::AsyncRead> FuturesReadCompat for T {}
impl<T: futures_io::AsyncWrite> FuturesWriteCompat for T {}

impl<T> Compat<T> {
    fn new(inner: T) -> Self {
        Self { inner, seeking: None }
    }

    /// The stream in it.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The stream in it.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The stream in it, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut T> {
        self.project().inner
    }

    /// The stream back again. Nothing is lost: there is no buffer in between.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: AsyncRead> futures_io::AsyncRead for Compat<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buf = ReadBuf::new(buf);
        ready!(self.project().inner.poll_read(cx, &mut buf))?;
        Poll::Ready(Ok(buf.filled().len()))
    }
}

impl<T: AsyncBufRead> futures_io::AsyncBufRead for Compat<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.project().inner.consume(amount);
    }
}

impl<T: AsyncWrite> futures_io::AsyncWrite for Compat<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }
}

/// A seek whose future was dropped is completed before another one starts, wherever it went.
impl<T: AsyncSeek> futures_io::AsyncSeek for Compat<T> {
    fn poll_seek(self: Pin<&mut Self>, cx: &mut Context<'_>, position: SeekFrom) -> Poll<io::Result<u64>> {
        let mut this = self.project();
        if *this.seeking != Some(position) {
            let before = ready!(this.inner.as_mut().poll_complete(cx));
            *this.seeking = None;
            before?;
            this.inner.as_mut().start_seek(position)?;
            *this.seeking = Some(position);
        }
        let outcome = ready!(this.inner.poll_complete(cx));
        *this.seeking = None;
        Poll::Ready(outcome)
    }
}

impl<T: futures_io::AsyncRead> AsyncRead for Compat<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let count = ready!(self.project().inner.poll_read(cx, buf.initialize_unfilled()))?;
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<T: futures_io::AsyncBufRead> AsyncBufRead for Compat<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.project().inner.consume(amount);
    }
}

/// Whether a writer of futures-io takes several slices at once is not known, so callers are told that it does not. If
/// they try nevertheless, the slices are handed on.
impl<T: futures_io::AsyncWrite> AsyncWrite for Compat<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_close(cx)
    }
}

impl<T: futures_io::AsyncSeek> AsyncSeek for Compat<T> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let this = self.project();
        if this.seeking.is_some() {
            return Err(io::Error::other("another seek is under way: call `poll_complete` first"));
        }
        *this.seeking = Some(position);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = self.project();
        // Without a seek that was started there is nothing to complete. To ask for the position may be expensive.
        let Some(position) = *this.seeking else { return Poll::Ready(Ok(0)) };
        let outcome = ready!(this.inner.poll_seek(cx, position));
        *this.seeking = None;
        Poll::Ready(outcome)
    }
}
