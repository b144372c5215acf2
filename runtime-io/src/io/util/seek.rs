//! The future that seeks.

use std::future::Future;
use std::io::{self, SeekFrom};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::io::AsyncSeek;

pin_project! {
    /// The future of [`seek`](super::AsyncSeekExt::seek).
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Seek<'a, S: ?Sized> {
        stream: &'a mut S,
        // Where to, until the seek is started.
        position: Option<SeekFrom>,
        #[pin]
        _pin: PhantomPinned,
    }
}

impl<'a, S: ?Sized> Seek<'a, S> {
    pub(super) fn new(stream: &'a mut S, position: SeekFrom) -> Self {
        Self { stream, position: Some(position), _pin: PhantomPinned }
    }
}

impl<S: AsyncSeek + Unpin + ?Sized> Future for Seek<'_, S> {
    type Output = io::Result<u64>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = self.project();
        let mut stream = Pin::new(&mut **this.stream);
        if let Some(position) = *this.position {
            // A seek whose future was dropped may be under way yet.
            ready!(stream.as_mut().poll_complete(cx))?;
            stream.as_mut().start_seek(position)?;
            *this.position = None;
        }
        stream.poll_complete(cx)
    }
}
