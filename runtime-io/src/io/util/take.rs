//! The first bytes of a reader.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::{AsyncBufRead, AsyncRead, ReadBuf};

pin_project! {
    /// A limited number of bytes of a reader, from [`AsyncReadExt::take`](super::AsyncReadExt::take).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncReadExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut reader = &b"hello, world"[..];
    /// let mut word = String::new();
    /// (&mut reader).take(5).read_to_string(&mut word).await?;
    /// assert_eq!((&*word, reader), ("hello", &b", world"[..]));
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "readers do nothing unless they are read"]
    pub struct Take<R> {
        #[pin]
        inner: R,
        left: u64,
    }
}

impl<R: AsyncRead> Take<R> {
    pub(super) fn new(inner: R, limit: u64) -> Self {
        Self { inner, left: limit }
    }

    /// How many bytes can be read yet, if the inner reader does not end before.
    pub fn limit(&self) -> u64 {
        self.left
    }

    /// Sets how many bytes can be read from now on, however many have been.
    pub fn set_limit(&mut self, limit: u64) {
        self.left = limit;
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The inner reader. What is read from it does not count.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The inner reader, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().inner
    }

    /// The inner reader back again.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

/// At the limit there is no leaf below that would be asked, so this spends budget itself.
fn poll_at_limit(cx: &mut Context<'_>) -> Poll<()> {
    ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
    Poll::Ready(())
}

impl<R: AsyncRead> AsyncRead for Take<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        if *this.left == 0 {
            return poll_at_limit(cx).map(Ok);
        }
        let limit = usize::try_from(*this.left).unwrap_or(usize::MAX);
        let (outcome, count) = buf.with_limit(limit, |buf| this.inner.poll_read(cx, buf));
        *this.left -= count as u64;
        outcome
    }
}

impl<R: AsyncBufRead> AsyncBufRead for Take<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if *this.left == 0 {
            return poll_at_limit(cx).map(|()| Ok(&[][..]));
        }
        let bytes = ready!(this.inner.poll_fill_buf(cx))?;
        let limit = usize::try_from(*this.left).unwrap_or(usize::MAX);
        Poll::Ready(Ok(&bytes[..bytes.len().min(limit)]))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        let amount = amount.min(usize::try_from(*this.left).unwrap_or(usize::MAX));
        *this.left -= amount as u64;
        this.inner.consume(amount);
    }
}
