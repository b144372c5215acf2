//! The futures that write until nothing is left.

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use pin_project_lite::pin_project;

use crate::io::AsyncWrite;

use super::write::poll_write_from;
use super::{is_interrupted, write_zero};

pin_project! {
    /// The future of [`write_all`](super::AsyncWriteExt::write_all).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct WriteAll<'a, W: ?Sized> {
        writer: &'a mut W,
        bytes: &'a [u8],
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized> WriteAll<'a, W> {
    pub(super) fn new(writer: &'a mut W, bytes: &'a [u8]) -> Self {
        Self { writer, bytes, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for WriteAll<'_, W> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        poll_write_all(Pin::new(&mut **this.writer), cx, this.bytes)
    }
}

/// Writes all of `bytes`, and takes off the front what has been written.
pub(super) fn poll_write_all<W: AsyncWrite + ?Sized>(
    mut writer: Pin<&mut W>,
    cx: &mut Context<'_>,
    bytes: &mut &[u8],
) -> Poll<io::Result<()>> {
    while !bytes.is_empty() {
        match ready!(writer.as_mut().poll_write(cx, bytes)) {
            Ok(0) => return Poll::Ready(Err(write_zero())),
            Ok(count) => *bytes = &bytes[count..],
            Err(error) if is_interrupted(&error) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
    Poll::Ready(Ok(()))
}

pin_project! {
    /// The future of [`write_all_buf`](super::AsyncWriteExt::write_all_buf).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct WriteAllFrom<'a, W: ?Sized, B: ?Sized> {
        writer: &'a mut W,
        buf: &'a mut B,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized, B: ?Sized> WriteAllFrom<'a, W, B> {
    pub(super) fn new(writer: &'a mut W, buf: &'a mut B) -> Self {
        Self { writer, buf, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized, B: Buf + ?Sized> Future for WriteAllFrom<'_, W, B> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        while this.buf.has_remaining() {
            match ready!(poll_write_from(Pin::new(&mut **this.writer), cx, &mut **this.buf)) {
                Ok(0) => return Poll::Ready(Err(write_zero())),
                Ok(_) => {}
                Err(error) if is_interrupted(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}
