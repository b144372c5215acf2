//! The futures that call a method of a writer once.

use std::future::Future;
use std::io::{self, IoSlice};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use pin_project_lite::pin_project;

use crate::io::AsyncWrite;

use super::SLICES_AT_ONCE;

pin_project! {
    /// The future of [`write`](super::AsyncWriteExt::write).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Write<'a, W: ?Sized> {
        writer: &'a mut W,
        bytes: &'a [u8],
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized> Write<'a, W> {
    pub(super) fn new(writer: &'a mut W, bytes: &'a [u8]) -> Self {
        Self { writer, bytes, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for Write<'_, W> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        Pin::new(&mut **this.writer).poll_write(cx, this.bytes)
    }
}

pin_project! {
    /// The future of [`write_vectored`](super::AsyncWriteExt::write_vectored).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct WriteVectored<'a, 'b, W: ?Sized> {
        writer: &'a mut W,
        bufs: &'a [IoSlice<'b>],
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, 'b, W: ?Sized> WriteVectored<'a, 'b, W> {
    pub(super) fn new(writer: &'a mut W, bufs: &'a [IoSlice<'b>]) -> Self {
        Self { writer, bufs, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for WriteVectored<'_, '_, W> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        Pin::new(&mut **this.writer).poll_write_vectored(cx, this.bufs)
    }
}

pin_project! {
    /// The future of [`write_buf`](super::AsyncWriteExt::write_buf).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct WriteFrom<'a, W: ?Sized, B: ?Sized> {
        writer: &'a mut W,
        buf: &'a mut B,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized, B: ?Sized> WriteFrom<'a, W, B> {
    pub(super) fn new(writer: &'a mut W, buf: &'a mut B) -> Self {
        Self { writer, buf, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized, B: Buf + ?Sized> Future for WriteFrom<'_, W, B> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        if !this.buf.has_remaining() {
            return Poll::Ready(Ok(0));
        }
        poll_write_from(Pin::new(&mut **this.writer), cx, &mut **this.buf)
    }
}

/// Writes some of what remains in `buf`, from several of its slices if the writer takes them, and advances it.
pub(super) fn poll_write_from<W: AsyncWrite + ?Sized, B: Buf + ?Sized>(
    writer: Pin<&mut W>,
    cx: &mut Context<'_>,
    buf: &mut B,
) -> Poll<io::Result<usize>> {
    let count = if writer.is_write_vectored() {
        let mut slices = [IoSlice::new(&[]); SLICES_AT_ONCE];
        let used = buf.chunks_vectored(&mut slices);
        ready!(writer.poll_write_vectored(cx, &slices[..used]))?
    } else {
        ready!(writer.poll_write(cx, buf.chunk()))?
    };
    buf.advance(count);
    Poll::Ready(Ok(count))
}

pin_project! {
    /// The future of [`flush`](super::AsyncWriteExt::flush).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Flush<'a, W: ?Sized> {
        writer: &'a mut W,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized> Flush<'a, W> {
    pub(super) fn new(writer: &'a mut W) -> Self {
        Self { writer, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for Flush<'_, W> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.project().writer).poll_flush(cx)
    }
}

pin_project! {
    /// The future of [`shutdown`](super::AsyncWriteExt::shutdown).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Shutdown<'a, W: ?Sized> {
        writer: &'a mut W,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized> Shutdown<'a, W> {
    pub(super) fn new(writer: &'a mut W) -> Self {
        Self { writer, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for Shutdown<'_, W> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.project().writer).poll_shutdown(cx)
    }
}
