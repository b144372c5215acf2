//! Reading and writing without blocking: the traits, their extension methods, and what goes with them.
//!
//! The facade publishes this as `rt::io`, with documentation of its own for users. The traits are those of
//! `futures-io`, which every runtime-neutral library speaks; the extension methods and adaptors are `futures-lite`'s.
//! Nothing is implemented here, and nothing should be: what these crates lack belongs in them.
//!
//! # Example
//!
//! ```
//! use rt::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
//!
//! # #[rt::main]
//! # async fn main() -> rt::io::Result<()> {
//! let mut lines = BufReader::new(&b"one\ntwo"[..]);
//! let mut first = String::new();
//! lines.read_line(&mut first).await?;
//! assert_eq!(first, "one\n");
//! let mut rest = String::new();
//! lines.read_to_string(&mut rest).await?;
//! assert_eq!(rest, "two");
//! # Ok(())
//! # }
//! ```

pub use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result, SeekFrom};

pub use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
pub use futures_lite::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter, Cursor, Empty, Lines, ReadHalf,
    Repeat, Sink, Split, Take, WriteHalf, copy, empty, repeat, sink, split,
};

pub use crate::interest::Interest;
pub use crate::ready::Ready;
#[cfg(unix)]
pub use crate::unix;
