//! Nothing to read, and nowhere to write to.

use std::fmt;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop::poll_proceed;

use crate::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// A stream that is at its end, from [`empty`]. What is written to it is forgotten.
#[derive(Clone, Copy, Default)]
pub struct Empty(());

/// A stream that is at its end: reading returns 0 bytes. What is written to it is forgotten.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, empty};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// assert_eq!(empty().read(&mut [0; 8]).await?, 0);
/// # Ok(())
/// # }
/// ```
pub fn empty() -> Empty {
    Empty(())
}

impl AsyncRead for Empty {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(Ok(&[]))
    }

    fn consume(self: Pin<&mut Self>, _: usize) {}
}

/// The methods of a writer that forgets.
macro_rules! forget_what_is_written {
    () => {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            ready!(poll_proceed(cx)).made_progress();
            Poll::Ready(Ok(buf.len()))
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            ready!(poll_proceed(cx)).made_progress();
            Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            ready!(poll_proceed(cx)).made_progress();
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_flush(cx)
        }
    };
}
pub(super) use forget_what_is_written;

impl AsyncWrite for Empty {
    forget_what_is_written!();
}

impl AsyncSeek for Empty {
    fn start_seek(self: Pin<&mut Self>, _: SeekFrom) -> io::Result<()> {
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(Ok(0))
    }
}

impl fmt::Debug for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Empty").finish_non_exhaustive()
    }
}
