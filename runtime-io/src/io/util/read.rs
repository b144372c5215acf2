//! The futures that read once, or until a buffer is full.

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use pin_project_lite::pin_project;

use crate::io::{AsyncRead, ReadBuf};

use super::buffer::poll_fill_mut;
use super::{early_end, is_interrupted};

pin_project! {
    /// The future of [`read`](super::AsyncReadExt::read).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Read<'a, R: ?Sized> {
        reader: &'a mut R,
        buf: &'a mut [u8],
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> Read<'a, R> {
    pub(super) fn new(reader: &'a mut R, buf: &'a mut [u8]) -> Self {
        Self { reader, buf, _pin: PhantomPinned }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for Read<'_, R> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        let mut buf = ReadBuf::new(this.buf);
        ready!(Pin::new(&mut **this.reader).poll_read(cx, &mut buf))?;
        Poll::Ready(Ok(buf.filled().len()))
    }
}

pin_project! {
    /// The future of [`read_buf`](super::AsyncReadExt::read_buf).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadInto<'a, R: ?Sized, B: ?Sized> {
        reader: &'a mut R,
        buf: &'a mut B,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized, B: ?Sized> ReadInto<'a, R, B> {
    pub(super) fn new(reader: &'a mut R, buf: &'a mut B) -> Self {
        Self { reader, buf, _pin: PhantomPinned }
    }
}

impl<R: AsyncRead + Unpin + ?Sized, B: BufMut + ?Sized> Future for ReadInto<'_, R, B> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        if !this.buf.has_remaining_mut() {
            return Poll::Ready(Ok(0));
        }
        poll_fill_mut(&mut **this.buf, |buf| Pin::new(&mut **this.reader).poll_read(cx, buf))
    }
}

pin_project! {
    /// The future of [`read_exact`](super::AsyncReadExt::read_exact).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadExact<'a, R: ?Sized> {
        reader: &'a mut R,
        buf: ReadBuf<'a>,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> ReadExact<'a, R> {
    pub(super) fn new(reader: &'a mut R, buf: &'a mut [u8]) -> Self {
        Self { reader, buf: ReadBuf::new(buf), _pin: PhantomPinned }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadExact<'_, R> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        ready!(poll_read_exact(Pin::new(&mut **this.reader), cx, this.buf))?;
        Poll::Ready(Ok(this.buf.capacity()))
    }
}

/// Reads until the buffer is full.
pub(super) fn poll_read_exact<R: AsyncRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    while buf.remaining() > 0 {
        let before = buf.remaining();
        match ready!(reader.as_mut().poll_read(cx, buf)) {
            Err(error) if is_interrupted(&error) => {}
            Err(error) => return Poll::Ready(Err(error)),
            Ok(()) if buf.remaining() == before => return Poll::Ready(Err(early_end())),
            Ok(()) => {}
        }
    }
    Poll::Ready(Ok(()))
}
