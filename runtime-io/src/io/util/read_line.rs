//! The future that reads a line.

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::AsyncBufRead;

use super::read_until::poll_read_until;
use super::text::Text;

pin_project! {
    /// The future of [`read_line`](super::AsyncBufReadExt::read_line).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadLine<'a, R: ?Sized> {
        reader: &'a mut R,
        text: Text<'a>,
        count: usize,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> ReadLine<'a, R> {
    pub(super) fn new(reader: &'a mut R, output: &'a mut String) -> Self {
        Self { reader, text: Text::new(output), count: 0, _pin: PhantomPinned }
    }
}

impl<R: AsyncBufRead + Unpin + ?Sized> Future for ReadLine<'_, R> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        let reader = Pin::new(&mut **this.reader);
        let outcome = ready!(poll_read_until(reader, cx, b'\n', this.text.tail().vec(), this.count));
        // What was read before an error is there for the caller, as far as it is text. The reader's error comes first.
        let text = this.text.finish();
        outcome?;
        text?;
        Poll::Ready(Ok(mem::take(this.count)))
    }
}
