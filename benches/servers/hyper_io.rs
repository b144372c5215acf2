//! The streams, as hyper wants them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use rt_hyper::RtIo;
use tokio::io::{AsyncRead as _, AsyncWrite as _};

/// A stream that hyper can use by a plain adapter.
pub trait IntoHyper: crate::Stream {
    /// The adapter.
    type Io: Read + Write + Unpin + Send + 'static;

    /// Wraps the stream.
    fn into_hyper(self) -> Self::Io;
}

/// A stream of Tokio's.
#[derive(Debug)]
pub struct TokioIo(tokio::net::TcpStream);

impl IntoHyper for rt::net::TcpStream {
    type Io = RtIo<Self>;

    fn into_hyper(self) -> RtIo<Self> {
        RtIo::new(self)
    }
}

impl IntoHyper for tokio::net::TcpStream {
    type Io = TokioIo;

    fn into_hyper(self) -> TokioIo {
        TokioIo(self)
    }
}

impl Read for TokioIo {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let read = {
            // SAFETY: Tokio's stream only ever writes to the buffer.
            let mut unfilled = tokio::io::ReadBuf::uninit(unsafe { buf.as_mut() });
            ready!(Pin::new(&mut self.0).poll_read(cx, &mut unfilled))?;
            unfilled.filled().len()
        };
        // SAFETY: `read` bytes have been written.
        unsafe { buf.advance(read) };
        Poll::Ready(Ok(()))
    }
}

impl Write for TokioIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }
}
