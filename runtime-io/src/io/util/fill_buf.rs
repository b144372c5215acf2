//! The future that waits until a buffered reader has something in its buffer.
#![allow(unsafe_code, reason = "a borrow that one arm returns and another gives up is beyond today's borrow checker")]

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::io::AsyncBufRead;

pin_project! {
    /// The future of [`fill_buf`](super::AsyncBufReadExt::fill_buf).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct FillBuf<'a, R: ?Sized> {
        // Taken when the future is done.
        reader: Option<&'a mut R>,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> FillBuf<'a, R> {
    pub(super) fn new(reader: &'a mut R) -> Self {
        Self { reader: Some(reader), _pin: PhantomPinned }
    }
}

impl<'a, R: AsyncBufRead + Unpin + ?Sized> Future for FillBuf<'a, R> {
    type Output = io::Result<&'a [u8]>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&'a [u8]>> {
        let slot = self.project().reader;
        let reader = slot.take().expect("the future is polled after it was done");
        match Pin::new(&mut *reader).poll_fill_buf(cx) {
            Poll::Ready(Ok(bytes)) => {
                let bytes: *const [u8] = bytes;
                // SAFETY: the reader is borrowed for `'a` by the slice alone: this future has let go of it.
                Poll::Ready(Ok(unsafe { &*bytes }))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                *slot = Some(reader);
                Poll::Pending
            }
        }
    }
}
