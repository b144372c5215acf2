//! The methods of readers.

use bytes::BufMut;

use crate::io::AsyncRead;

use super::read::{Read, ReadExact, ReadInto};
use super::read_number::ReadNumber;
use super::read_to_end::{ReadToEnd, ReadToString};
use super::{Chain, Take};

/// The methods that read numbers.
macro_rules! read_numbers {
    ($($name:ident $number:ident $convert:ident $what:literal;)*) => {$(
        #[doc = concat!("Reads ", $what, ".")]
        ///
        /// # Errors
        ///
        /// As [`read_exact`](Self::read_exact), and it is as cancel safe: a number of one byte is, others are not.
        fn $name(&mut self) -> ReadNumber<'_, Self, $number, [u8; size_of::<$number>()]>
        where
            Self: Unpin,
        {
            ReadNumber::new(self, $number::$convert)
        }
    )*};
}

/// The methods of every [`AsyncRead`].
///
/// The futures borrow the reader and what is read into. Numbers are big-endian (network byte order) unless the name
/// ends in `_le`.
///
/// # Example
///
/// ```
/// use rt::io::AsyncReadExt;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut reader = &b"\x00\x05hello, world"[..];
/// let length = reader.read_u16().await?;
/// let mut word = vec![0; length.into()];
/// reader.read_exact(&mut word).await?;
/// assert_eq!(word, b"hello");
/// let mut rest = String::new();
/// reader.read_to_string(&mut rest).await?;
/// assert_eq!(rest, ", world");
/// # Ok(())
/// # }
/// ```
pub trait AsyncReadExt: AsyncRead {
    /// A reader of this one's bytes, and when it has ended those of `next`.
    ///
    /// # Example
    ///
    /// See [`Chain`].
    fn chain<R: AsyncRead>(self, next: R) -> Chain<Self, R>
    where
        Self: Sized,
    {
        Chain::new(self, next)
    }

    /// Reads some bytes into `buf`, and returns how many. 0 is the end of the stream, or an empty `buf`.
    ///
    /// # Errors
    ///
    /// The reader's. Nothing was read then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was read.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncReadExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut reader = &b"hello"[..];
    /// let mut buf = [0; 4];
    /// assert_eq!(reader.read(&mut buf).await?, 4);
    /// assert_eq!(reader.read(&mut buf).await?, 1);
    /// assert_eq!(reader.read(&mut buf).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    fn read<'a>(&'a mut self, buf: &'a mut [u8]) -> Read<'a, Self>
    where
        Self: Unpin,
    {
        Read::new(self, buf)
    }

    /// Reads some bytes, appends them to `buf`, and returns how many. 0 is the end of the stream, or no room in `buf`.
    ///
    /// The memory need not be initialised. How much is read at once is up to `buf`: a `BytesMut` or a `Vec` offers its
    /// spare capacity, and grows when it has none.
    ///
    /// # Errors
    ///
    /// The reader's. Nothing was read then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was read.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncReadExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut reader = &b"hello"[..];
    /// let mut buf = Vec::with_capacity(100);
    /// while reader.read_buf(&mut buf).await? > 0 {}
    /// assert_eq!(buf, b"hello");
    /// # Ok(())
    /// # }
    /// ```
    fn read_buf<'a, B: BufMut + ?Sized>(&'a mut self, buf: &'a mut B) -> ReadInto<'a, Self, B>
    where
        Self: Unpin,
    {
        ReadInto::new(self, buf)
    }

    /// Reads until `buf` is full, and returns its length.
    ///
    /// # Errors
    ///
    /// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the stream ends before; or the reader's. What has been
    /// read until then is at the front of `buf`, and it is not known how much that is.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if it is dropped before it is done, some bytes may have been read, and it is not known how
    /// many. Call [`read_buf`](Self::read_buf) in a loop if that matters.
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn read_exact<'a>(&'a mut self, buf: &'a mut [u8]) -> ReadExact<'a, Self>
    where
        Self: Unpin,
    {
        ReadExact::new(self, buf)
    }

    read_numbers! {
        read_u8 u8 from_be_bytes "a byte";
        read_i8 i8 from_be_bytes "a signed byte";
        read_u16 u16 from_be_bytes "a big-endian `u16`";
        read_i16 i16 from_be_bytes "a big-endian `i16`";
        read_u32 u32 from_be_bytes "a big-endian `u32`";
        read_i32 i32 from_be_bytes "a big-endian `i32`";
        read_u64 u64 from_be_bytes "a big-endian `u64`";
        read_i64 i64 from_be_bytes "a big-endian `i64`";
        read_u128 u128 from_be_bytes "a big-endian `u128`";
        read_i128 i128 from_be_bytes "a big-endian `i128`";
        read_f32 f32 from_be_bytes "a big-endian `f32`";
        read_f64 f64 from_be_bytes "a big-endian `f64`";
        read_u16_le u16 from_le_bytes "a little-endian `u16`";
        read_i16_le i16 from_le_bytes "a little-endian `i16`";
        read_u32_le u32 from_le_bytes "a little-endian `u32`";
        read_i32_le i32 from_le_bytes "a little-endian `i32`";
        read_u64_le u64 from_le_bytes "a little-endian `u64`";
        read_i64_le i64 from_le_bytes "a little-endian `i64`";
        read_u128_le u128 from_le_bytes "a little-endian `u128`";
        read_i128_le i128 from_le_bytes "a little-endian `i128`";
        read_f32_le f32 from_le_bytes "a little-endian `f32`";
        read_f64_le f64 from_le_bytes "a little-endian `f64`";
    }

    /// Reads until the stream ends, appends everything to `buf`, and returns how many bytes that is.
    ///
    /// # Errors
    ///
    /// The reader's. What was read before is in `buf`.
    ///
    /// # Cancel safety
    ///
    /// If it is dropped before it is done, what has been read is in `buf`, and nothing is lost.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::AsyncReadExt;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let mut everything = b"hello, ".to_vec();
    /// (&b"world"[..]).read_to_end(&mut everything).await?;
    /// assert_eq!(everything, b"hello, world");
    /// # Ok(())
    /// # }
    /// ```
    fn read_to_end<'a>(&'a mut self, buf: &'a mut Vec<u8>) -> ReadToEnd<'a, Self>
    where
        Self: Unpin,
    {
        ReadToEnd::new(self, buf)
    }

    /// Reads until the stream ends, appends everything to `dst`, and returns how many bytes that is.
    ///
    /// # Errors
    ///
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) if it is not UTF-8; or the reader's. What has been read is lost
    /// then, and `dst` is as before.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if it is dropped before it is done, what has been read is lost, and `dst` is as before.
    ///
    /// # Example
    ///
    /// See [the trait](Self).
    fn read_to_string<'a>(&'a mut self, dst: &'a mut String) -> ReadToString<'a, Self>
    where
        Self: Unpin,
    {
        ReadToString::new(self, dst)
    }

    /// A reader of at most `limit` bytes of this one, which ends then.
    ///
    /// # Example
    ///
    /// See [`Take`].
    fn take(self, limit: u64) -> Take<Self>
    where
        Self: Sized,
    {
        Take::new(self, limit)
    }
}

impl<R: AsyncRead + ?Sized> AsyncReadExt for R {}
