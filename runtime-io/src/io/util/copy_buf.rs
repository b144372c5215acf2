//! All that a buffered reader has into a writer, without another buffer between.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop;

use crate::io::{AsyncBufRead, AsyncWrite};

use super::{is_interrupted, write_zero};

/// Copies all that `reader` has into `writer`, flushes the writer, and returns how many bytes that is.
///
/// As [`copy`](super::copy()), but for the buffer: the reader's own is used. So nothing is lost if it fails or is
/// dropped: what has not been written is still in the reader.
///
/// # Errors
///
/// The reader's or the writer's; [`WriteZero`](io::ErrorKind::WriteZero) if the writer takes no more.
///
/// # Cancel safety
///
/// If it is dropped before it is done, no bytes are lost: to copy again is to go on. The count is of the last call
/// only.
///
/// # Example
///
/// ```
/// use rt::io::{BufReader, copy_buf};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut reader = BufReader::with_capacity(64 * 1024, &b"hello"[..]);
/// let mut writer = Vec::new();
/// assert_eq!(copy_buf(&mut reader, &mut writer).await?, 5);
/// assert_eq!(writer, b"hello");
/// # Ok(())
/// # }
/// ```
pub async fn copy_buf<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut count = 0;
    let mut needs_flush = false;
    poll_fn(|cx| {
        ready!(poll_copy(cx, Pin::new(&mut *reader), Pin::new(&mut *writer), &mut count, &mut needs_flush))?;
        Poll::Ready(Ok(count))
    })
    .await
}

/// Copies until the reader ends. Spends a unit of budget for each turn, as readers and writers of other makers may
/// spend none.
fn poll_copy<R: AsyncBufRead + ?Sized, W: AsyncWrite + ?Sized>(
    cx: &mut Context<'_>,
    mut reader: Pin<&mut R>,
    mut writer: Pin<&mut W>,
    count: &mut u64,
    needs_flush: &mut bool,
) -> Poll<io::Result<()>> {
    loop {
        // Nothing is held meanwhile: the reader and the writer may want the last unit themselves.
        drop(ready!(coop::poll_proceed(cx)));
        let bytes = match reader.as_mut().poll_fill_buf(cx) {
            Poll::Ready(Ok(bytes)) => bytes,
            Poll::Ready(Err(error)) if is_interrupted(&error) => continue,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => {
                if *needs_flush {
                    ready!(writer.poll_flush(cx))?;
                    *needs_flush = false;
                }
                return Poll::Pending;
            }
        };
        if bytes.is_empty() {
            return writer.poll_flush(cx);
        }
        match ready!(writer.as_mut().poll_write(cx, bytes)) {
            Ok(0) => return Poll::Ready(Err(write_zero())),
            Ok(written) => {
                *count += written as u64;
                *needs_flush = true;
                reader.as_mut().consume(written);
                coop::charge();
            }
            Err(error) if is_interrupted(&error) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}
