//! [`AsyncRead`], and what of the standard library can be read without waiting.

use std::io;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::ReadBuf;

/// Reads bytes without blocking the thread.
///
/// This is the counterpart of [`std::io::Read`] for tasks. A program seldom calls it: the methods of
/// [`AsyncReadExt`](super::AsyncReadExt) are made of it.
pub trait AsyncRead {
    /// Reads into the unfilled part of `buf`, and advances it by what was read.
    ///
    /// `Ready(Ok(()))` without an advance is the end of the stream, unless `buf` had no room. `Pending` means that
    /// nothing was read, and that the task is woken when it is worth trying again. An error also means that nothing was
    /// read.
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
}

impl<T: AsyncRead + Unpin + ?Sized> AsyncRead for Box<T> {
    #[inline]
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_read(cx, buf)
    }
}

impl<T: AsyncRead + Unpin + ?Sized> AsyncRead for &mut T {
    #[inline]
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_read(cx, buf)
    }
}

impl<P> AsyncRead for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncRead,
{
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_read(cx, buf)
    }
}

/// Reads the slice from its front. Spends budget, so that a loop over it lets other tasks run.
impl AsyncRead for &[u8] {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
        let amount = self.len().min(buf.remaining());
        let (front, rest) = self.split_at(amount);
        buf.put_slice(front);
        *self = rest;
        Poll::Ready(Ok(()))
    }
}

/// Reads from the cursor's position. Spends budget, so that a loop over it lets other tasks run.
impl<T: AsRef<[u8]> + Unpin> AsyncRead for io::Cursor<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
        let position = self.position();
        let bytes = (*self).get_ref().as_ref();
        // A position that no `usize` can express is beyond every slice.
        let start = usize::try_from(position).unwrap_or(usize::MAX).min(bytes.len());
        let amount = (bytes.len() - start).min(buf.remaining());
        buf.put_slice(&bytes[start..start + amount]);
        self.set_position(position + amount as u64);
        Poll::Ready(Ok(()))
    }
}
