//! The methods of streams with a position.

use std::io::SeekFrom;

use crate::io::AsyncSeek;

use super::seek::Seek;

/// The methods of every [`AsyncSeek`].
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncSeekExt, SeekFrom};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut stream = std::io::Cursor::new(b"hello");
/// assert_eq!(stream.seek(SeekFrom::End(-2)).await?, 3);
/// assert_eq!(stream.read_u8().await?, b'l');
/// assert_eq!(stream.stream_position().await?, 4);
/// stream.rewind().await?;
/// assert_eq!(stream.read_u8().await?, b'h');
/// # Ok(())
/// # }
/// ```
pub trait AsyncSeekExt: AsyncSeek {
    /// Moves to another position, and returns it, in bytes from the start.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](std::io::ErrorKind::InvalidInput) if that were before the start; or the stream's.
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, the position may be the old one or the new one. The stream can be used.
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn seek(&mut self, pos: SeekFrom) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        Seek::new(self, pos)
    }

    /// Moves to the start.
    ///
    /// # Errors
    ///
    /// As [`seek`](Self::seek).
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn rewind(&mut self) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Start(0))
    }

    /// The position, in bytes from the start.
    ///
    /// # Errors
    ///
    /// As [`seek`](Self::seek).
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn stream_position(&mut self) -> Seek<'_, Self>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}
