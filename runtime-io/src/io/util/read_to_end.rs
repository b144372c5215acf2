//! The futures that read all there is.

use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::{AsyncRead, ReadBuf};

use super::buffer::{MIN_ROOM, Tail};
use super::is_interrupted;
use super::text::Text;

/// Reads to the end of the stream, and adds what is read to `count`.
///
/// `exact` is the capacity at the start, which may be just enough: then what little may be left, or the end, is read
/// through a small buffer before the memory is grown, which would double it for nothing.
fn poll_read_to_end<R: AsyncRead + ?Sized, V: AsMut<Vec<u8>>>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    tail: &mut Tail<V>,
    exact: usize,
    count: &mut usize,
) -> Poll<io::Result<()>> {
    loop {
        let outcome = if tail.room() >= MIN_ROOM {
            ready!(tail.poll_fill(|buf| reader.as_mut().poll_read(cx, buf)))
        } else if exact >= MIN_ROOM && tail.vec().capacity() == exact {
            let mut probe = [MaybeUninit::uninit(); MIN_ROOM];
            let mut buf = ReadBuf::uninit(&mut probe);
            let outcome = ready!(reader.as_mut().poll_read(cx, &mut buf));
            tail.vec().extend_from_slice(buf.filled());
            outcome.map(|()| buf.filled().len())
        } else {
            tail.grow();
            continue;
        };
        match outcome {
            Ok(0) => return Poll::Ready(Ok(())),
            Ok(added) => *count += added,
            Err(error) if is_interrupted(&error) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}

pin_project! {
    /// The future of [`read_to_end`](super::AsyncReadExt::read_to_end).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadToEnd<'a, R: ?Sized> {
        reader: &'a mut R,
        tail: Tail<&'a mut Vec<u8>>,
        exact: usize,
        count: usize,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> ReadToEnd<'a, R> {
    pub(super) fn new(reader: &'a mut R, buf: &'a mut Vec<u8>) -> Self {
        let exact = buf.capacity();
        Self { reader, tail: Tail::borrowed(buf), exact, count: 0, _pin: PhantomPinned }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadToEnd<'_, R> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        ready!(poll_read_to_end(Pin::new(&mut **this.reader), cx, this.tail, *this.exact, this.count))?;
        Poll::Ready(Ok(mem::take(this.count)))
    }
}

pin_project! {
    /// The future of [`read_to_string`](super::AsyncReadExt::read_to_string).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct ReadToString<'a, R: ?Sized> {
        reader: &'a mut R,
        text: Text<'a>,
        exact: usize,
        count: usize,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, R: ?Sized> ReadToString<'a, R> {
    pub(super) fn new(reader: &'a mut R, output: &'a mut String) -> Self {
        let mut text = Text::new(output);
        let exact = text.tail().vec().capacity();
        Self { reader, text, exact, count: 0, _pin: PhantomPinned }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadToString<'_, R> {
    type Output = io::Result<usize>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        let reader = Pin::new(&mut **this.reader);
        ready!(poll_read_to_end(reader, cx, this.text.tail(), *this.exact, this.count))?;
        this.text.finish()?;
        Poll::Ready(Ok(mem::take(this.count)))
    }
}
