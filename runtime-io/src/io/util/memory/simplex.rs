//! A stream within the process that is written at one end and read at the other.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::split::{ReadHalf, WriteHalf, split};
use super::pipe::{End, Pipe, poll_pipe};

/// A queue of bytes: what is written to it is read from it again, in order.
///
/// From [`simplex`], which gives it out in two halves, or [`new_unsplit`](Self::new_unsplit). To let the reader find
/// the end, shut it down ([`shutdown`](crate::io::AsyncWriteExt::shutdown)): the halves do not when they are dropped.
pub struct SimplexStream(Pipe);

/// Makes a one-way stream within the process: what is written to one half is read from the other.
///
/// Up to `max_buf_size` bytes are kept that have not been read; then writing waits.
///
/// # Panics
///
/// If `max_buf_size` is 0.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt, simplex};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut reader, mut writer) = simplex(64);
/// writer.write_all(b"hello").await?;
/// writer.shutdown().await?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn simplex(max_buf_size: usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) {
    split(SimplexStream::new_unsplit(max_buf_size))
}

impl SimplexStream {
    /// Makes one that is not taken apart, for a single task or behind a lock of the caller's.
    ///
    /// # Panics
    ///
    /// If `max_buf_size` is 0.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncReadExt, AsyncWriteExt, SimplexStream};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut queue = SimplexStream::new_unsplit(64);
    /// queue.write_u8(7).await?;
    /// assert_eq!(queue.read_u8().await?, 7);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn new_unsplit(max_buf_size: usize) -> SimplexStream {
        Self(Pipe::new(max_buf_size))
    }
}

impl AsyncRead for SimplexStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        poll_pipe(cx, &mut self.0, End::Reader, |pipe| pipe.read(buf))
    }
}

impl AsyncWrite for SimplexStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        poll_pipe(cx, &mut self.0, End::Writer, |pipe| pipe.write(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// What was written is where it is read already.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Lets nobody write any more: the reader finds the end behind what is in there.
    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(waker) = self.0.close(End::Reader) {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for SimplexStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimplexStream").finish_non_exhaustive()
    }
}
