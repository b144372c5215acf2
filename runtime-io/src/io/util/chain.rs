//! One reader after another.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::{AsyncBufRead, AsyncRead, ReadBuf};

pin_project! {
    /// One reader, and when it has ended another, from [`AsyncReadExt::chain`](super::AsyncReadExt::chain).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncReadExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut both = (&b"hello, "[..]).chain(&b"world"[..]);
    /// let mut text = String::new();
    /// both.read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello, world");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "readers do nothing unless they are read"]
    pub struct Chain<T, U> {
        #[pin]
        first: T,
        #[pin]
        second: U,
        has_first_ended: bool,
    }
}

impl<T: AsyncRead, U: AsyncRead> Chain<T, U> {
    pub(super) fn new(first: T, second: U) -> Self {
        Self { first, second, has_first_ended: false }
    }

    /// The two readers.
    pub fn get_ref(&self) -> (&T, &U) {
        (&self.first, &self.second)
    }

    /// The two readers. What is read from them is not read from here.
    pub fn get_mut(&mut self) -> (&mut T, &mut U) {
        (&mut self.first, &mut self.second)
    }

    /// The two readers, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> (Pin<&mut T>, Pin<&mut U>) {
        let this = self.project();
        (this.first, this.second)
    }

    /// The two readers back again.
    pub fn into_inner(self) -> (T, U) {
        (self.first, self.second)
    }
}

impl<T: AsyncRead, U: AsyncRead> AsyncRead for Chain<T, U> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        if !*this.has_first_ended {
            let before = buf.remaining();
            ready!(this.first.poll_read(cx, buf))?;
            // If there was no room in the first place, then nothing is known about the end.
            if buf.remaining() < before || before == 0 {
                return Poll::Ready(Ok(()));
            }
            *this.has_first_ended = true;
        }
        this.second.poll_read(cx, buf)
    }
}

impl<T: AsyncBufRead, U: AsyncBufRead> AsyncBufRead for Chain<T, U> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if !*this.has_first_ended {
            let bytes = ready!(this.first.poll_fill_buf(cx))?;
            if !bytes.is_empty() {
                return Poll::Ready(Ok(bytes));
            }
            *this.has_first_ended = true;
        }
        this.second.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        if *this.has_first_ended { this.second.consume(amount) } else { this.first.consume(amount) }
    }
}
