//! One byte again and again.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BufMut;

use crate::io::{AsyncRead, ReadBuf};

/// A reader of one byte again and again, from [`repeat`].
#[derive(Clone, Copy, Debug)]
pub struct Repeat {
    byte: u8,
}

/// A reader of one byte again and again, without end.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, repeat};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut line = [0; 72];
/// repeat(b'-').read_exact(&mut line).await?;
/// assert_eq!(line, [b'-'; 72]);
/// # Ok(())
/// # }
/// ```
pub fn repeat(byte: u8) -> Repeat {
    Repeat { byte }
}

impl AsyncRead for Repeat {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(runtime_core::coop::poll_proceed(cx)).made_progress();
        buf.put_bytes(self.byte, buf.remaining());
        Poll::Ready(Ok(()))
    }
}
