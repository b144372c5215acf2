//! The future that writes a number of fixed size.

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::io::AsyncWrite;

use super::write_all::poll_write_all;

pin_project! {
    /// The future of [`write_u16`](super::AsyncWriteExt::write_u16) and the like, for a number of bytes `B`.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct WriteNumber<'a, W: ?Sized, B> {
        writer: &'a mut W,
        bytes: B,
        // How many of the bytes have been written.
        count: usize,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, W: ?Sized, const N: usize> WriteNumber<'a, W, [u8; N]> {
    pub(super) fn new(writer: &'a mut W, bytes: [u8; N]) -> Self {
        Self { writer, bytes, count: 0, _pin: PhantomPinned }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized, const N: usize> Future for WriteNumber<'_, W, [u8; N]> {
    type Output = io::Result<()>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let mut rest = &this.bytes[*this.count..];
        let outcome = poll_write_all(Pin::new(&mut **this.writer), cx, &mut rest);
        *this.count = N - rest.len();
        outcome
    }
}
