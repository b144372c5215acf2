//! The methods of writers.

use std::io::IoSlice;

use bytes::Buf;

use crate::io::AsyncWrite;

use super::write::{Flush, Shutdown, Write, WriteFrom, WriteVectored};
use super::write_all::{WriteAll, WriteAllFrom};
use super::write_number::WriteNumber;

/// The methods that write numbers.
macro_rules! write_numbers {
    ($($name:ident $number:ident $convert:ident $what:literal;)*) => {$(
        #[doc = concat!("Writes ", $what, ".")]
        ///
        /// # Errors
        ///
        /// As [`write_all`](Self::write_all), and it is as cancel safe: a number of one byte is, others are not.
        fn $name(&mut self, n: $number) -> WriteNumber<'_, Self, [u8; size_of::<$number>()]>
        where
            Self: Unpin,
        {
            WriteNumber::new(self, n.$convert())
        }
    )*};
}

/// The methods of every [`AsyncWrite`].
///
/// The futures borrow the writer and what is written. Numbers are big-endian (network byte order) unless the name ends
/// in `_le`.
///
/// # Example
///
/// ```
/// use rt::io::AsyncWriteExt;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut writer = Vec::new();
/// writer.write_u16(5).await?;
/// writer.write_all(b"hello").await?;
/// writer.shutdown().await?;
/// assert_eq!(writer, b"\x00\x05hello");
/// # Ok(())
/// # }
/// ```
pub trait AsyncWriteExt: AsyncWrite {
    /// Writes some bytes of `src`, and returns how many. 0 means that the writer takes no more, or that `src` is empty.
    ///
    /// # Errors
    ///
    /// The writer's. Nothing was written then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was written.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncWriteExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut memory = [0; 3];
    /// let mut writer = std::io::Cursor::new(&mut memory[..]);
    /// assert_eq!(writer.write(b"hello").await?, 3);
    /// assert_eq!(&memory, b"hel");
    /// # Ok(())
    /// # }
    /// ```
    fn write<'a>(&'a mut self, src: &'a [u8]) -> Write<'a, Self>
    where
        Self: Unpin,
    {
        Write::new(self, src)
    }

    /// As [`write`](Self::write), from several buffers in turn, of which a writer that cannot do that takes the first.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write), and it is as cancel safe.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncWriteExt, IoSlice};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut writer = Vec::new();
    /// assert_eq!(writer.write_vectored(&[IoSlice::new(b"head"), IoSlice::new(b"body")]).await?, 8);
    /// # Ok(())
    /// # }
    /// ```
    fn write_vectored<'a, 'b>(&'a mut self, bufs: &'a [IoSlice<'b>]) -> WriteVectored<'a, 'b, Self>
    where
        Self: Unpin,
    {
        WriteVectored::new(self, bufs)
    }

    /// Writes some bytes of what remains in `src`, advances it, and returns how many. 0 means that the writer takes no
    /// more, or that nothing remains.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write), and it is as cancel safe.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncWriteExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut writer = Vec::new();
    /// let mut src = std::io::Cursor::new(b"hello");
    /// while src.position() < 5 {
    ///     writer.write_buf(&mut src).await?;
    /// }
    /// assert_eq!(writer, b"hello");
    /// # Ok(())
    /// # }
    /// ```
    fn write_buf<'a, B: Buf>(&'a mut self, src: &'a mut B) -> WriteFrom<'a, Self, B>
    where
        Self: Sized + Unpin,
    {
        WriteFrom::new(self, src)
    }

    /// Writes all that remains in `src`, and advances it.
    ///
    /// # Errors
    ///
    /// As [`write_all`](Self::write_all). What was written is no longer in `src`.
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, what has been written is no longer in `src`: to write the rest is to go on.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncWriteExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut writer = Vec::new();
    /// writer.write_all_buf(&mut &b"hello"[..]).await?;
    /// assert_eq!(writer, b"hello");
    /// # Ok(())
    /// # }
    /// ```
    fn write_all_buf<'a, B: Buf>(&'a mut self, src: &'a mut B) -> WriteAllFrom<'a, Self, B>
    where
        Self: Sized + Unpin,
    {
        WriteAllFrom::new(self, src)
    }

    /// Writes all of `src`.
    ///
    /// # Errors
    ///
    /// [`WriteZero`](std::io::ErrorKind::WriteZero) if the writer takes no more; or the writer's. It is not known then
    /// how much was written.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if it is dropped before it is done, some bytes may have been written, and it is not known how
    /// many. See [`write_all_buf`](Self::write_all_buf) if that matters.
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn write_all<'a>(&'a mut self, src: &'a [u8]) -> WriteAll<'a, Self>
    where
        Self: Unpin,
    {
        WriteAll::new(self, src)
    }

    write_numbers! {
        write_u8 u8 to_be_bytes "a byte";
        write_i8 i8 to_be_bytes "a signed byte";
        write_u16 u16 to_be_bytes "a big-endian `u16`";
        write_i16 i16 to_be_bytes "a big-endian `i16`";
        write_u32 u32 to_be_bytes "a big-endian `u32`";
        write_i32 i32 to_be_bytes "a big-endian `i32`";
        write_u64 u64 to_be_bytes "a big-endian `u64`";
        write_i64 i64 to_be_bytes "a big-endian `i64`";
        write_u128 u128 to_be_bytes "a big-endian `u128`";
        write_i128 i128 to_be_bytes "a big-endian `i128`";
        write_f32 f32 to_be_bytes "a big-endian `f32`";
        write_f64 f64 to_be_bytes "a big-endian `f64`";
        write_u16_le u16 to_le_bytes "a little-endian `u16`";
        write_i16_le i16 to_le_bytes "a little-endian `i16`";
        write_u32_le u32 to_le_bytes "a little-endian `u32`";
        write_i32_le i32 to_le_bytes "a little-endian `i32`";
        write_u64_le u64 to_le_bytes "a little-endian `u64`";
        write_i64_le i64 to_le_bytes "a little-endian `i64`";
        write_u128_le u128 to_le_bytes "a little-endian `u128`";
        write_i128_le i128 to_le_bytes "a little-endian `i128`";
        write_f32_le f32 to_le_bytes "a little-endian `f32`";
        write_f64_le f64 to_le_bytes "a little-endian `f64`";
    }

    /// Waits until what was written has left the writer's buffers.
    ///
    /// # Errors
    ///
    /// The writer's.
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, some bytes may have left and others not; to flush again is to go on.
    ///
    /// # Example
    ///
    /// See [`BufWriter`](super::BufWriter).
    fn flush(&mut self) -> Flush<'_, Self>
    where
        Self: Unpin,
    {
        Flush::new(self)
    }

    /// Flushes, and ends what is written: the other side finds the end of the stream. What comes from the other side
    /// can still be read.
    ///
    /// # Errors
    ///
    /// The writer's.
    ///
    /// # Cancel safety
    ///
    /// As [`flush`](Self::flush).
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn shutdown(&mut self) -> Shutdown<'_, Self>
    where
        Self: Unpin,
    {
        Shutdown::new(self)
    }
}

impl<W: AsyncWrite + ?Sized> AsyncWriteExt for W {}
