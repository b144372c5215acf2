//! [`Lines`] of a buffered reader.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::AsyncBufRead;

use super::read_until::poll_read_until;

pin_project! {
    /// The lines of a reader, from [`AsyncBufReadExt::lines`](super::AsyncBufReadExt::lines).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncBufReadExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut lines = (&b"one\r\ntwo"[..]).lines();
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("one"));
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("two"));
    /// assert_eq!(lines.next_line().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "lines are read when they are asked for"]
    pub struct Lines<R> {
        #[pin]
        reader: R,
        // What of the next line has been read already.
        line: Vec<u8>,
    }
}

impl<R> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// The reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The reader. To read from it takes bytes away from the lines.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Gives the reader back. What of the next line has been read already is lost, if [`next_line`](Self::next_line)
    /// was cancelled before.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// The next line, without its end (`\n` or `\r\n`); `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// Those of the reader. [`InvalidData`](io::ErrorKind::InvalidData) if the line is not UTF-8: its bytes are in the
    /// error, a [`FromUtf8Error`](std::string::FromUtf8Error), and the next call returns the line after it.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what of the line has been read already is kept here, and the next call goes on with it.
    ///
    /// # Example
    ///
    /// See [the type](Self).
    pub async fn next_line(&mut self) -> io::Result<Option<String>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_line(cx)).await
    }
}

impl<R: AsyncBufRead> Lines<R> {
    /// As [`next_line`](Self::next_line), for hand-written futures.
    ///
    /// # Errors
    ///
    /// See [`next_line`](Self::next_line).
    pub fn poll_next_line(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<Option<String>>> {
        let this = self.project();
        ready!(poll_read_until(this.reader, cx, b'\n', this.line, &mut 0))?;
        let mut line = mem::take(this.line);
        if line.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        // The bytes are in the error.
        let line = String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Poll::Ready(Ok(Some(line)))
    }
}
