//! [`Split`]: what is between the delimiters of a buffered reader.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::AsyncBufRead;

use super::read_until::poll_read_until;

pin_project! {
    /// The segments of a reader, from [`AsyncBufReadExt::split`](super::AsyncBufReadExt::split).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncBufReadExt, BufReader};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut segments = BufReader::new(&b"one,two"[..]).split(b',');
    /// assert_eq!(segments.next_segment().await?.as_deref(), Some(&b"one"[..]));
    /// assert_eq!(segments.next_segment().await?.as_deref(), Some(&b"two"[..]));
    /// assert_eq!(segments.next_segment().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "segments are read when they are asked for"]
    pub struct Split<R> {
        #[pin]
        reader: R,
        delimiter: u8,
        // What of the next segment has been read already.
        segment: Vec<u8>,
    }
}

impl<R> Split<R> {
    pub(super) fn new(reader: R, delimiter: u8) -> Self {
        Self { reader, delimiter, segment: Vec::new() }
    }
}

impl<R: AsyncBufRead + Unpin> Split<R> {
    /// The next segment, without the delimiter behind it; `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// Those of the reader.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what of the segment has been read already is kept here, and the next call goes on with it.
    ///
    /// # Example
    ///
    /// See [the type](Self).
    pub async fn next_segment(&mut self) -> io::Result<Option<Vec<u8>>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_segment(cx)).await
    }
}

impl<R: AsyncBufRead> Split<R> {
    /// As [`next_segment`](Self::next_segment), for hand-written futures.
    ///
    /// # Errors
    ///
    /// See [`next_segment`](Self::next_segment).
    pub fn poll_next_segment(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<Option<Vec<u8>>>> {
        let this = self.project();
        ready!(poll_read_until(this.reader, cx, *this.delimiter, this.segment, &mut 0))?;
        let mut segment = mem::take(this.segment);
        if segment.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if segment.last() == Some(this.delimiter) {
            segment.pop();
        }
        Poll::Ready(Ok(Some(segment)))
    }
}
