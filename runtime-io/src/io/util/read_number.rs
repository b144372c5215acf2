//! The future that reads a number of fixed size.

use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::{AsyncRead, ReadBuf};

use super::read::poll_read_exact;

pin_project! {
    /// The future of [`read_u16`](super::AsyncReadExt::read_u16) and the like, for a number `T` of bytes `B`.
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadNumber<'a, R: ?Sized, T, B> {
        reader: &'a mut R,
        bytes: B,
        // How many of the bytes have been read.
        count: usize,
        convert: fn(B) -> T,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized, T, const N: usize> ReadNumber<'a, R, T, [u8; N]> {
    pub(super) fn new(reader: &'a mut R, convert: fn([u8; N]) -> T) -> Self {
        Self { reader, bytes: [0; N], count: 0, convert, _pin: PhantomPinned }
    }
}

impl<R: AsyncRead + Unpin + ?Sized, T, const N: usize> Future for ReadNumber<'_, R, T, [u8; N]> {
    type Output = io::Result<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let this = self.project();
        let mut buf = ReadBuf::new(this.bytes);
        buf.set_filled(*this.count);
        let outcome = poll_read_exact(Pin::new(&mut **this.reader), cx, &mut buf);
        *this.count = buf.filled().len();
        ready!(outcome)?;
        Poll::Ready(Ok((this.convert)(*this.bytes)))
    }
}

impl<R: ?Sized, T, const N: usize> fmt::Debug for ReadNumber<'_, R, T, [u8; N]> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadNumber").field("read", &&self.bytes[..self.count]).finish_non_exhaustive()
    }
}
