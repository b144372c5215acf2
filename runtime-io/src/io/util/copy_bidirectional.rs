//! Between two streams, both ways at once.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::io::{AsyncRead, AsyncWrite};

use super::DEFAULT_BUFFER_SIZE;
use super::copy::Transfer;

/// Copies what `a` has into `b` and what `b` has into `a`, until both have ended, and returns how many bytes that is
/// each way.
///
/// When one of them ends, the other one is flushed and shut down for writing, while what it has is still copied. So the
/// end of either direction is passed on as it is in a connection without anybody between. In each direction the bytes
/// are copied and flushed as by [`copy`](super::copy()).
///
/// # Errors
///
/// The first one of either direction, as of [`copy`](super::copy()). The other direction ends with it, and what
/// that has read and not written is lost.
///
/// # Cancel safety
///
/// Not cancel safe: if it is dropped before it is done, what has been read and not written is lost.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional, duplex};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut client, mut inbound) = duplex(64);
/// let (mut outbound, mut server) = duplex(64);
/// let proxy = rt::spawn(async move { copy_bidirectional(&mut inbound, &mut outbound).await });
///
/// client.write_all(b"question").await?;
/// client.shutdown().await?;
/// let mut question = String::new();
/// server.read_to_string(&mut question).await?;
/// server.write_all(b"answer").await?;
/// drop(server);
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
/// assert_eq!((&*question, &*answer), ("question", "answer"));
/// assert_eq!(proxy.await.unwrap()?, (8, 6));
/// # Ok(())
/// # }
/// ```
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    copy_bidirectional_with_sizes(a, b, DEFAULT_BUFFER_SIZE, DEFAULT_BUFFER_SIZE).await
}

/// As [`copy_bidirectional`], with buffers of other sizes than 8 KiB, in bytes.
///
/// # Errors
///
/// See [`copy_bidirectional`].
///
/// # Panics
///
/// If one of the sizes is 0.
pub async fn copy_bidirectional_with_sizes<A, B>(
    a: &mut A,
    b: &mut B,
    a_to_b_buf_size: usize,
    b_to_a_buf_size: usize,
) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    assert!(a_to_b_buf_size > 0, "`a_to_b_buf_size` must be greater than 0");
    assert!(b_to_a_buf_size > 0, "`b_to_a_buf_size` must be greater than 0");
    let mut a_to_b = OneWay::Copying(Transfer::new(a_to_b_buf_size));
    let mut b_to_a = OneWay::Copying(Transfer::new(b_to_a_buf_size));
    let mut is_a_first = false;
    poll_fn(|cx| {
        // In turns: one that always has more would use up the budget of each poll before the other comes to it.
        is_a_first = !is_a_first;
        let (there, back) = if is_a_first {
            let there = a_to_b.poll(cx, a, b)?;
            (there, b_to_a.poll(cx, b, a)?)
        } else {
            let back = b_to_a.poll(cx, b, a)?;
            (a_to_b.poll(cx, a, b)?, back)
        };
        Poll::Ready(Ok((ready!(there), ready!(back))))
    })
    .await
}

/// How far one direction is.
enum OneWay {
    Copying(Transfer),
    /// The reader has ended, and what it had has been written: this number of bytes.
    ShuttingDown(u64),
    Done(u64),
}

impl OneWay {
    fn poll<R, W>(&mut self, cx: &mut Context<'_>, reader: &mut R, writer: &mut W) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + Unpin + ?Sized,
        W: AsyncWrite + Unpin + ?Sized,
    {
        loop {
            match self {
                Self::Copying(transfer) => {
                    let count = ready!(transfer.poll(cx, Pin::new(&mut *reader), Pin::new(&mut *writer)))?;
                    *self = Self::ShuttingDown(count);
                }
                Self::ShuttingDown(count) => {
                    ready!(Pin::new(&mut *writer).poll_shutdown(cx))?;
                    *self = Self::Done(*count);
                }
                Self::Done(count) => return Poll::Ready(Ok(*count)),
            }
        }
    }
}
