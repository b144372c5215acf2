//! [`RtIo`]: a stream of one of the two in the clothes of the other.
//!
//! Both have buffers of which a part is filled, and neither demands that the rest is initialised. So a read of the one
//! is a read of the other into the same memory. What has been initialised but not filled is forgotten on the way, as no
//! buffer tells the other one.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use rt::io::{AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// A stream of rt for hyper, or a stream of hyper for rt.
    ///
    /// # Example
    ///
    /// See [the crate](crate).
    #[derive(Debug)]
    pub struct RtIo<T> {
        #[pin]
        stream: T,
    }
}

impl<T> RtIo<T> {
    /// Wraps a stream.
    pub fn new(stream: T) -> Self {
        Self { stream }
    }

    /// The stream.
    pub fn inner(&self) -> &T {
        &self.stream
    }

    /// The stream, to be changed.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.stream
    }

    /// Gives the stream back.
    pub fn into_inner(self) -> T {
        self.stream
    }
}

impl<T: AsyncRead> hyper::rt::Read for RtIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: A `ReadBuf` does not uninitialise what it is made of, nor lets others do so.
        let mut unfilled = ReadBuf::uninit(unsafe { buf.as_mut() });
        let memory = unfilled.initialized().as_ptr();
        ready!(self.project().stream.poll_read(cx, &mut unfilled))?;
        let count = filled(&unfilled, memory);
        assert!(count <= buf.remaining(), "the reader has filled more than there was room for");
        // SAFETY: As many bytes of this memory have been filled, and so they are initialised.
        unsafe { buf.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl<T: hyper::rt::Read> AsyncRead for RtIo<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // SAFETY: A `ReadBuf` of hyper does not uninitialise what it is made of, nor lets others do so.
        let mut unfilled = hyper::rt::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
        ready!(self.project().stream.poll_read(cx, unfilled.unfilled()))?;
        let count = unfilled.filled().len();
        // SAFETY: The reader had nothing but a cursor, which cannot be exchanged for one over other memory while its
        // buffer is borrowed: as many bytes of this memory have been filled.
        unsafe { buf.assume_init(count) };
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

/// How many bytes the reader has filled.
///
/// # Panics
///
/// If the buffer is another one now: a reader has the whole `ReadBuf`, and may put one over other memory in its place.
fn filled(buf: &ReadBuf<'_>, memory: *const u8) -> usize {
    assert_eq!(buf.initialized().as_ptr(), memory, "the reader has exchanged the buffer");
    buf.filled().len()
}

/// The methods of a writer, which both traits have.
macro_rules! write_to_stream {
    () => {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.project().stream.poll_write(cx, buf)
        }

        fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.project().stream.poll_flush(cx)
        }

        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.project().stream.poll_shutdown(cx)
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.project().stream.poll_write_vectored(cx, bufs)
        }

        fn is_write_vectored(&self) -> bool {
            self.stream.is_write_vectored()
        }
    };
}

impl<T: AsyncWrite> hyper::rt::Write for RtIo<T> {
    write_to_stream!();
}

impl<T: hyper::rt::Write> AsyncWrite for RtIo<T> {
    write_to_stream!();
}
