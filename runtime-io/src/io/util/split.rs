//! A stream taken apart into a reader and a writer that share it under a lock.
#![allow(unsafe_code, reason = "the stream is pinned where it is shared")]

use std::fmt;
use std::io::{self, IoSlice};
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime_core::primitive::Mutex;

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The reading half of a stream, from [`split`].
pub struct ReadHalf<T>(Half<T>);

/// The writing half of a stream, from [`split`].
///
/// Dropping it does nothing to the stream: shut it down ([`shutdown`](super::AsyncWriteExt::shutdown)) to end what the
/// other side can read.
pub struct WriteHalf<T>(Half<T>);

/// Takes a stream apart into a reader and a writer, which can be in two tasks.
///
/// They share the stream under a lock, which is held for the length of a poll. Sockets have a `split` and an
/// `into_split` of their own, which need none. [`ReadHalf::unsplit`] puts the two together again.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt, split};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut reader, mut writer) = split(std::io::Cursor::new(vec![1, 2]));
/// assert_eq!(reader.read_u8().await?, 1);
/// writer.write_u8(5).await?;
/// assert_eq!(reader.unsplit(writer).into_inner(), [1, 5]);
/// # Ok(())
/// # }
/// ```
pub fn split<T: AsyncRead + AsyncWrite>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let is_write_vectored = stream.is_write_vectored();
    let shared = Arc::new(Shared { stream: Mutex::new(stream), is_write_vectored });
    let half = |shared| Half { shared, stream: PhantomData };
    (ReadHalf(half(shared.clone())), WriteHalf(half(shared)))
}

struct Half<T> {
    shared: Arc<Shared<T>>,
    /// As far as threads are concerned a half is the stream itself, which is elsewhere.
    stream: PhantomData<Box<T>>,
}

struct Shared<T> {
    /// Never moved while the halves are there: the lock gives it out pinned, and [`ReadHalf::unsplit`] takes it out
    /// only if it is `Unpin`.
    stream: Mutex<T>,
    is_write_vectored: bool,
}

/// A panic in a poll of the stream lets go of the lock, and leaves the stream to the other half as it is. Whether it is
/// good for anything then is for the stream to say, as it is for one that is not shared.
impl<T> UnwindSafe for Half<T> {}
impl<T> RefUnwindSafe for Half<T> {}

impl<T> Half<T> {
    fn with_stream<R>(&self, operation: impl FnOnce(Pin<&mut T>) -> R) -> R {
        let mut stream = self.shared.stream.lock();
        // SAFETY: the stream stays where it is until it is dropped there, in the `Arc`: see `Shared::stream`.
        operation(unsafe { Pin::new_unchecked(&mut *stream) })
    }

    fn is_pair_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> ReadHalf<T> {
    /// Whether the two halves are of the same stream.
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        self.0.is_pair_of(&other.0)
    }

    /// Puts the stream together again.
    ///
    /// # Panics
    ///
    /// If the halves are not of the same stream.
    #[track_caller]
    pub fn unsplit(self, wr: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(self.is_pair_of(&wr), "the two halves are not of the same stream");
        drop(wr);
        let shared = Arc::into_inner(self.0.shared).expect("a stream has one reader and one writer");
        shared.stream.into_inner()
    }
}

impl<T> WriteHalf<T> {
    /// Whether the two halves are of the same stream.
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        self.0.is_pair_of(&other.0)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.with_stream(|stream| stream.poll_read(cx, buf))
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.with_stream(|stream| stream.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.with_stream(|stream| stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.0.shared.is_write_vectored
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.with_stream(|stream| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.with_stream(|stream| stream.poll_shutdown(cx))
    }
}

impl<T: fmt::Debug> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadHalf").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteHalf").finish_non_exhaustive()
    }
}
