//! Two streams within the process that are connected to each other.

use std::fmt;
use std::io::{self, IoSlice};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime_core::driver::contain;
use runtime_core::primitive::Mutex;

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::pipe::{End, Pipe, poll_pipe};

/// One side of a connection within the process, from [`duplex`].
///
/// It behaves as a socket does. When it is dropped the peer can read what was written, and then finds the end; what the
/// peer writes fails with [`BrokenPipe`](io::ErrorKind::BrokenPipe).
pub struct DuplexStream {
    incoming: Arc<Mutex<Pipe>>,
    outgoing: Arc<Mutex<Pipe>>,
}

/// Makes a connection within the process: what is written to one stream is read from the other.
///
/// In each direction up to `max_buf_size` bytes are kept that have not been read; then writing waits.
///
/// # Panics
///
/// If `max_buf_size` is 0.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt, duplex};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut client, mut server) = duplex(64);
/// client.write_all(b"ping").await?;
/// let mut message = [0; 4];
/// server.read_exact(&mut message).await?;
/// assert_eq!(&message, b"ping");
/// server.write_all(b"pong").await?;
/// client.read_exact(&mut message).await?;
/// assert_eq!(&message, b"pong");
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let there = Arc::new(Mutex::new(Pipe::new(max_buf_size)));
    let back = Arc::new(Mutex::new(Pipe::new(max_buf_size)));
    let peer = DuplexStream { incoming: there.clone(), outgoing: back.clone() };
    (DuplexStream { incoming: back, outgoing: there }, peer)
}

/// No foreign code runs under the locks, so no panic leaves a pipe half changed.
impl UnwindSafe for DuplexStream {}
impl RefUnwindSafe for DuplexStream {}

impl DuplexStream {
    /// Closes a pipe, and wakes who waits at its other end.
    fn close(pipe: &Mutex<Pipe>, other: End) {
        // The guard is gone at the end of the line, before the waker is called.
        let waiting = pipe.lock().close(other);
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

impl AsyncRead for DuplexStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        poll_pipe(cx, &*self.incoming, End::Reader, |pipe| pipe.read(buf))
    }
}

impl AsyncWrite for DuplexStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        poll_pipe(cx, &*self.outgoing, End::Writer, |pipe| pipe.write(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// What was written is where the peer reads it already.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Self::close(&self.outgoing, End::Reader);
        Poll::Ready(Ok(()))
    }
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        // A waker that panics does not keep the other direction open.
        contain(|| Self::close(&self.outgoing, End::Reader));
        contain(|| Self::close(&self.incoming, End::Writer));
    }
}

impl fmt::Debug for DuplexStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuplexStream").finish_non_exhaustive()
    }
}
