//! [`AsyncBufRead`], and what of the standard library has its bytes in memory already.

use std::io::{self, BufRead as _};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::AsyncRead;

/// Reads from a buffer, which is filled without blocking the thread.
///
/// This is the counterpart of [`std::io::BufRead`] for tasks. The methods of
/// [`AsyncBufReadExt`](super::AsyncBufReadExt) are made of it; [`BufReader`](super::BufReader) gives it to any reader.
pub trait AsyncBufRead: AsyncRead {
    /// Returns what is in the buffer, and fills the buffer first if it is empty. An empty slice is the end of the
    /// stream.
    ///
    /// What has been used is then to be reported to [`consume`](Self::consume). `Pending` means that the task is woken
    /// when it is worth trying again.
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>>;

    /// Takes `amount` bytes off the front of the buffer. `amount` must not exceed the length of the slice that
    /// [`poll_fill_buf`](Self::poll_fill_buf) returned; a reader may panic if it does.
    fn consume(self: Pin<&mut Self>, amount: usize);
}

/// The methods of a reader that lies behind a pointer.
macro_rules! deref_async_buf_read {
    () => {
        #[inline]
        fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
            Pin::new(&mut **self.get_mut()).poll_fill_buf(cx)
        }

        #[inline]
        fn consume(mut self: Pin<&mut Self>, amount: usize) {
            Pin::new(&mut **self).consume(amount);
        }
    };
}

impl<T: AsyncBufRead + Unpin + ?Sized> AsyncBufRead for Box<T> {
    deref_async_buf_read!();
}

impl<T: AsyncBufRead + Unpin + ?Sized> AsyncBufRead for &mut T {
    deref_async_buf_read!();
}

impl<P> AsyncBufRead for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncBufRead,
{
    #[inline]
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.as_deref_mut().poll_fill_buf(cx)
    }

    #[inline]
    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.as_deref_mut().consume(amount);
    }
}

/// The slice is its own buffer. Spends budget, so that a loop over it lets other tasks run.
impl AsyncBufRead for &[u8] {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
        Poll::Ready(Ok(*self))
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        *self = &self[amount..];
    }
}

/// What is under the cursor is its own buffer. Spends budget, so that a loop over it lets other tasks run.
impl<T: AsRef<[u8]> + Unpin> AsyncBufRead for io::Cursor<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
        Poll::Ready(io::BufRead::fill_buf(self.get_mut()))
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        (*self).consume(amount);
    }
}
