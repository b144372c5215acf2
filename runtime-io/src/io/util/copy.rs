//! All that a reader has into a writer, through a buffer of its own.

use std::future::poll_fn;
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop;

use crate::io::{AsyncRead, AsyncWrite};

use super::buffer::Buffer;
use super::{DEFAULT_BUFFER_SIZE, is_interrupted, write_zero};

/// Copies all that `reader` has into `writer`, flushes the writer, and returns how many bytes that is.
///
/// The bytes go through a buffer of 8 KiB. The writer is also flushed whenever all that was read has been written and
/// the reader has nothing more for now, so that nothing waits in the writer's buffers for what is yet to come. The
/// writer is not shut down at the end.
///
/// # Errors
///
/// The reader's, once what was read before it has been written; or the writer's, or
/// [`WriteZero`](io::ErrorKind::WriteZero) if it takes no more: what has been read and not written is lost then.
///
/// # Cancel safety
///
/// Not cancel safe: if it is dropped before it is done, what has been read and not written is lost.
///
/// # Example
///
/// ```
/// use rt::io::copy;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut writer = Vec::new();
/// assert_eq!(copy(&mut &b"hello"[..], &mut writer).await?, 5);
/// assert_eq!(writer, b"hello");
/// # Ok(())
/// # }
/// ```
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut transfer = Transfer::new(DEFAULT_BUFFER_SIZE);
    poll_fn(|cx| transfer.poll(cx, Pin::new(&mut *reader), Pin::new(&mut *writer))).await
}

/// One direction of a copy: the buffer, and how far it is.
#[derive(Debug)]
pub(super) struct Transfer {
    buffer: Buffer,
    /// Whether there is nothing more to read: it was the end, or failed.
    has_reader_ended: bool,
    /// What the reader failed with. It waits until what was read before it has been written. A panic finds it whole, so
    /// the future of `copy` says of itself what Tokio's does.
    read_error: Option<AssertUnwindSafe<io::Error>>,
    /// Whether something has been written since the last flush.
    needs_flush: bool,
    count: u64,
}

impl Transfer {
    pub(super) fn new(capacity: usize) -> Self {
        Self { buffer: Buffer::new(capacity), has_reader_ended: false, read_error: None, needs_flush: false, count: 0 }
    }

    /// Whether there is more to read, and room for it.
    fn wants_more(&self) -> bool {
        !self.has_reader_ended && self.buffer.has_room()
    }

    /// Reads once into the room there is. An error is kept.
    fn poll_read<R: AsyncRead + ?Sized>(&mut self, cx: &mut Context<'_>, mut reader: Pin<&mut R>) -> Poll<()> {
        loop {
            match ready!(self.buffer.poll_fill(|buf| reader.as_mut().poll_read(cx, buf))) {
                Ok(count) => self.has_reader_ended = count == 0,
                Err(error) if is_interrupted(&error) => continue,
                Err(error) => {
                    self.has_reader_ended = true;
                    self.read_error = Some(AssertUnwindSafe(error));
                }
            }
            return Poll::Ready(());
        }
    }

    /// Writes all that is in the buffer.
    fn poll_write<W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<()>> {
        while !self.buffer.is_empty() {
            match ready!(writer.as_mut().poll_write(cx, self.buffer.bytes())) {
                Ok(0) => return Poll::Ready(Err(write_zero())),
                Ok(count) => {
                    self.buffer.consume(count);
                    self.count += count as u64;
                    self.needs_flush = true;
                }
                Err(error) if is_interrupted(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_flush<W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        writer: Pin<&mut W>,
    ) -> Poll<io::Result<()>> {
        ready!(writer.poll_flush(cx))?;
        self.needs_flush = false;
        Poll::Ready(Ok(()))
    }

    /// Copies until the reader ends; then flushes, and returns how many bytes were written in all.
    ///
    /// Spends a unit of budget for each turn, as readers and writers of other makers may spend none.
    pub(super) fn poll<R: AsyncRead + ?Sized, W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>> {
        loop {
            // Nothing is held meanwhile: the reader and the writer may want the last unit themselves.
            drop(ready!(coop::poll_proceed(cx)));
            if self.wants_more() && self.poll_read(cx, reader.as_mut()).is_pending() && self.buffer.is_empty() {
                if self.needs_flush {
                    ready!(self.poll_flush(cx, writer))?;
                }
                return Poll::Pending;
            }
            if self.poll_write(cx, writer.as_mut())?.is_pending() {
                // The writer may be waiting for somebody who waits for the reader to be emptied.
                while self.wants_more() {
                    ready!(self.poll_read(cx, reader.as_mut()));
                }
                return Poll::Pending;
            }
            coop::charge();
            if let Some(AssertUnwindSafe(error)) = self.read_error.take() {
                return Poll::Ready(Err(error));
            }
            if self.has_reader_ended {
                ready!(self.poll_flush(cx, writer))?;
                return Poll::Ready(Ok(self.count));
            }
        }
    }
}
