//! The methods of buffered readers.

use std::pin::Pin;

use crate::io::AsyncBufRead;

use super::fill_buf::FillBuf;
use super::read_line::ReadLine;
use super::read_until::ReadUntil;
use super::{Lines, Split};

/// The methods of every [`AsyncBufRead`].
///
/// # Example
///
/// ```
/// use rt::io::{AsyncBufReadExt, BufReader};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut reader = BufReader::new(&b"name: value\nrest"[..]);
/// let mut name = Vec::new();
/// reader.read_until(b':', &mut name).await?;
/// assert_eq!(name, b"name:");
/// let mut line = String::new();
/// reader.read_line(&mut line).await?;
/// assert_eq!(line, " value\n");
/// # Ok(())
/// # }
/// ```
pub trait AsyncBufReadExt: AsyncBufRead {
    /// Reads up to the next `byte`, or up to the end of the stream if there is none, appends it to `buf`, and returns
    /// how many bytes that is. The delimiter is included; 0 is the end of the stream.
    ///
    /// # Errors
    ///
    /// The reader's. What was read before is in `buf`.
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, what has been read is in `buf`, and nothing is lost: to call it again with
    /// the same `buf` is to go on. The count is of the last call only.
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn read_until<'a>(&'a mut self, byte: u8, buf: &'a mut Vec<u8>) -> ReadUntil<'a, Self>
    where
        Self: Unpin,
    {
        ReadUntil::new(self, byte, buf)
    }

    /// Reads up to the end of the line, or of the stream, appends it to `buf`, and returns how many bytes that is. The
    /// `\n` is included; 0 is the end of the stream.
    ///
    /// # Errors
    ///
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) if the line is not UTF-8: it is lost, and `buf` is as before.
    /// The reader's; what was read before is in `buf`, if it is UTF-8.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if it is dropped before it is done, what of the line has been read is lost, and `buf` is as
    /// before. [`read_until`](Self::read_until) and [`lines`](Self::lines) lose nothing.
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn read_line<'a>(&'a mut self, buf: &'a mut String) -> ReadLine<'a, Self>
    where
        Self: Unpin,
    {
        ReadLine::new(self, buf)
    }

    /// What is between the delimiters, one segment after another.
    ///
    /// # Example
    ///
    /// See [`Split`].
    fn split(self, byte: u8) -> Split<Self>
    where
        Self: Sized + Unpin,
    {
        Split::new(self, byte)
    }

    /// What is in the buffer, which is filled first if it is empty. An empty slice is the end of the stream. Tell by
    /// [`consume`](Self::consume) how much of it has been used.
    ///
    /// # Errors
    ///
    /// The reader's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what is in the buffer stays there.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncBufReadExt, BufReader};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut reader = BufReader::new(&b"  word"[..]);
    /// let spaces = reader.fill_buf().await?.iter().take_while(|&&byte| byte == b' ').count();
    /// reader.consume(spaces);
    /// assert_eq!(reader.fill_buf().await?, b"word");
    /// # Ok(())
    /// # }
    /// ```
    fn fill_buf(&mut self) -> FillBuf<'_, Self>
    where
        Self: Unpin,
    {
        FillBuf::new(self)
    }

    /// Takes the first `amt` bytes out of the buffer: at most as many as [`fill_buf`](Self::fill_buf) returned.
    fn consume(&mut self, amt: usize)
    where
        Self: Unpin,
    {
        Pin::new(self).consume(amt);
    }

    /// The lines of the stream, one after another.
    ///
    /// # Example
    ///
    /// See [`Lines`].
    fn lines(self) -> Lines<Self>
    where
        Self: Sized,
    {
        Lines::new(self)
    }
}

impl<R: AsyncBufRead + ?Sized> AsyncBufReadExt for R {}
