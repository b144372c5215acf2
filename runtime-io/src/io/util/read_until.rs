//! The future that reads up to a delimiter.

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::AsyncBufRead;

use super::is_interrupted;

/// Appends to `buf` up to the delimiter, which is included, or up to the end of the stream. Adds how many bytes that is
/// to `count`: all that has left the reader is in `buf`, also if it is pending or fails.
pub(super) fn poll_read_until<R: AsyncBufRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    delimiter: u8,
    buf: &mut Vec<u8>,
    count: &mut usize,
) -> Poll<io::Result<()>> {
    loop {
        let available = match ready!(reader.as_mut().poll_fill_buf(cx)) {
            Ok(available) => available,
            Err(error) if is_interrupted(&error) => continue,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let found = memchr::memchr(delimiter, available);
        let used = found.map_or(available.len(), |at| at + 1);
        buf.extend_from_slice(&available[..used]);
        reader.as_mut().consume(used);
        *count += used;
        if found.is_some() || used == 0 {
            return Poll::Ready(Ok(()));
        }
    }
}

pin_project! {
    /// The future of [`read_until`](super::AsyncBufReadExt::read_until).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadUntil<'a, R: ?Sized> {
        reader: &'a mut R,
        delimiter: u8,
        buf: &'a mut Vec<u8>,
        count: usize,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> ReadUntil<'a, R> {
    pub(super) fn new(reader: &'a mut R, delimiter: u8, buf: &'a mut Vec<u8>) -> Self {
        Self { reader, delimiter, buf, count: 0, _pin: PhantomPinned }
    }
}

impl<R: AsyncBufRead + Unpin + ?Sized> Future for ReadUntil<'_, R> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        let reader = Pin::new(&mut **this.reader);
        ready!(poll_read_until(reader, cx, *this.delimiter, this.buf, this.count))?;
        Poll::Ready(Ok(mem::take(this.count)))
    }
}
