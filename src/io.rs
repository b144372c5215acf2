//! Reading and writing without blocking: the traits, their methods, buffers, and what goes with them.
//!
//! What can be read is [`AsyncRead`], and [`AsyncReadExt`] has the methods for it; likewise [`AsyncWrite`] and
//! [`AsyncWriteExt`], [`AsyncBufRead`] and [`AsyncBufReadExt`], [`AsyncSeek`] and [`AsyncSeekExt`]. The methods need
//! their trait in scope:
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
//!
//! A writer is ended by [`shutdown`](AsyncWriteExt::shutdown): the other side then finds the end of the stream. One
//! with a buffer ([`BufWriter`], [`BufStream`]) must be shut down, or flushed, before it is dropped.
//!
//! # What is cancel safe
//!
//! An operation is cancel safe if its future can be dropped before it is done (by a `select!`, a `timeout`) without
//! anything being lost: to call it again is to go on.
//!
//! | Operation | Cancelled before it is done |
//! |---|---|
//! | `read`, `read_buf`, `fill_buf` | nothing was read |
//! | `write`, `write_vectored`, `write_buf` | nothing was written |
//! | `read_u8`, `read_i8`, `write_u8`, `write_i8` | nothing was read or written |
//! | `read_to_end`, `read_until` | what was read is in the vector |
//! | `next_line`, `next_segment` | what was read is kept for the next call |
//! | `write_all_buf` | what was written has left the `Buf` |
//! | `flush`, `shutdown`, `seek` | can be called again |
//! | `read_exact`, longer numbers | **not safe:** it is not known how much was read |
//! | `write_all`, longer numbers | **not safe:** it is not known how much was written |
//! | `read_to_string`, `read_line` | **not safe:** what was read is lost |
//! | `copy` | **not safe:** what was read and not written is lost |
//!
//! `docs/cancel-safety.md` in the repository has tables, with the tests that show it.
//!
//! # Whose traits these are
//!
//! Names, signatures and meanings are Tokio's, and the types are rt's own. On Unix, [`unix::AsyncFd`] makes a source of
//! readiness of any other file descriptor.

// By name: the compiler then says which feature a missing one needs.
#[cfg(feature = "compat")]
#[doc(inline)]
pub use runtime_io::io::compat;
#[cfg(all(unix, feature = "net"))]
#[doc(inline)]
pub use runtime_io::io::unix;
#[doc(inline)]
pub use runtime_io::io::{
    AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, Error, ErrorKind, IoSlice, IoSliceMut, ReadBuf, Result, SeekFrom,
};
#[cfg(feature = "io-util")]
#[doc(inline)]
pub use runtime_io::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufStream, BufWriter, Chain, DuplexStream,
    Empty, Join, Lines, ReadHalf, Repeat, SimplexStream, Sink, Split, Take, WriteHalf, copy, copy_bidirectional,
    copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat, simplex, sink, split,
};
#[cfg(feature = "net")]
#[doc(inline)]
pub use runtime_io::io::{Interest, Ready};
#[cfg(feature = "io-std")]
#[doc(inline)]
pub use runtime_io::io::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
