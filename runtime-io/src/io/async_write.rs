//! [`AsyncWrite`], and what of the standard library can be written to without waiting.

use std::io::{self, IoSlice, Write as _};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Writes bytes without blocking the thread.
///
/// This is the counterpart of [`std::io::Write`] for tasks. A program seldom calls it: the methods of
/// [`AsyncWriteExt`](super::AsyncWriteExt) are made of it.
///
/// For all methods `Pending` means that the task is woken when it is worth trying again.
pub trait AsyncWrite {
    /// Writes some bytes of `buf`, and returns how many.
    ///
    /// `Ready(Ok(0))` means that the writer takes no more bytes, or that `buf` is empty. `Pending` and an error mean
    /// that nothing was written.
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;

    /// Waits until what was written has reached its destination, as far as the writer holds it back.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Flushes, and ends what is written: the other side reads the end of the stream. It is an error, or nothing, to
    /// write afterwards.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// As [`poll_write`](Self::poll_write), from several buffers in turn.
    ///
    /// Unless it is implemented the first buffer that is not empty is written.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| &**buf);
        self.poll_write(cx, first)
    }

    /// Whether [`poll_write_vectored`](Self::poll_write_vectored) writes from more than one buffer. If it does not,
    /// callers join small buffers before they write.
    fn is_write_vectored(&self) -> bool {
        false
    }
}

/// The methods of a writer that lies behind a pointer.
macro_rules! deref_async_write {
    () => {
        #[inline]
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            Pin::new(&mut **self).poll_write(cx, buf)
        }

        #[inline]
        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut **self).poll_flush(cx)
        }

        #[inline]
        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut **self).poll_shutdown(cx)
        }

        #[inline]
        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut **self).poll_write_vectored(cx, bufs)
        }

        #[inline]
        fn is_write_vectored(&self) -> bool {
            (**self).is_write_vectored()
        }
    };
}

impl<T: AsyncWrite + Unpin + ?Sized> AsyncWrite for Box<T> {
    deref_async_write!();
}

impl<T: AsyncWrite + Unpin + ?Sized> AsyncWrite for &mut T {
    deref_async_write!();
}

impl<P> AsyncWrite for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncWrite,
{
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.as_deref_mut().poll_write(cx, buf)
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_flush(cx)
    }

    #[inline]
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_shutdown(cx)
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.as_deref_mut().poll_write_vectored(cx, bufs)
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        (**self).is_write_vectored()
    }
}

/// The methods of a writer in memory, which the standard library can write to at once. Writing spends budget, so that a
/// loop over it lets other tasks run.
macro_rules! write_in_memory {
    () => {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
            Poll::Ready(self.write(buf))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
            Poll::Ready(self.write_vectored(bufs))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_flush(cx)
        }
    };
}

/// Appends to the vector.
impl AsyncWrite for Vec<u8> {
    write_in_memory!();
}

/// Overwrites the slice from the cursor's position; writes 0 bytes at its end.
impl AsyncWrite for io::Cursor<&mut [u8]> {
    write_in_memory!();
}

/// Overwrites the slice from the cursor's position; writes 0 bytes at its end.
impl AsyncWrite for io::Cursor<Box<[u8]>> {
    write_in_memory!();
}

/// Overwrites the vector from the cursor's position, and extends it.
impl AsyncWrite for io::Cursor<&mut Vec<u8>> {
    write_in_memory!();
}

/// Overwrites the vector from the cursor's position, and extends it.
impl AsyncWrite for io::Cursor<Vec<u8>> {
    write_in_memory!();
}
