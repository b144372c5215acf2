//! [`AsyncSeek`], and what of the standard library has a position in memory.

use std::io::{self, Seek as _, SeekFrom};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Moves the position at which a stream is read and written, without blocking the thread.
///
/// This is the counterpart of [`std::io::Seek`] for tasks. It takes two calls, because a seek may have to wait twice:
/// for what the stream is doing, and for the seek itself. The methods of [`AsyncSeekExt`](super::AsyncSeekExt) are made
/// of it.
pub trait AsyncSeek {
    /// Begins to seek. [`poll_complete`](Self::poll_complete) then tells when the stream has arrived.
    ///
    /// # Errors
    ///
    /// If a seek is under way: call [`poll_complete`](Self::poll_complete) first. Or whatever the stream reports at
    /// once.
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()>;

    /// Waits for the seek, and returns the new position, counted from the start of the stream.
    ///
    /// If no seek was started the result is the position where the stream is, or was last, or 0: this is for the
    /// completion of a seek, and of what was under way before it.
    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>>;
}

/// The methods of a stream that lies behind a pointer.
macro_rules! deref_async_seek {
    () => {
        fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
            Pin::new(&mut **self).start_seek(position)
        }

        fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
            Pin::new(&mut **self).poll_complete(cx)
        }
    };
}

impl<T: AsyncSeek + Unpin + ?Sized> AsyncSeek for Box<T> {
    deref_async_seek!();
}

impl<T: AsyncSeek + Unpin + ?Sized> AsyncSeek for &mut T {
    deref_async_seek!();
}

impl<P> AsyncSeek for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncSeek,
{
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.as_deref_mut().start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.as_deref_mut().poll_complete(cx)
    }
}

/// A seek in memory is done at once.
impl<T: AsRef<[u8]> + Unpin> AsyncSeek for io::Cursor<T> {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.seek(position).map(drop)
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.position()))
    }
}
