//! Reading and writing without blocking: the traits, their extension methods, and what goes with them.
//!
//! The facade publishes this as `rt::io`, with documentation of its own for users. Names, signatures and meanings are
//! Tokio's, so that a library written for it can be given rt's types. No type implements the traits of `futures-io`
//! beside these: their methods have the same names, and a call would be ambiguous.

pub use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result, SeekFrom};

mod async_buf_read;
mod async_read;
mod async_seek;
mod async_write;
#[cfg(feature = "compat")]
pub mod compat;
mod read_buf;
#[cfg(feature = "io-std")]
mod stdio;
#[cfg(feature = "io-util")]
mod util;

pub use async_buf_read::AsyncBufRead;
pub use async_read::AsyncRead;
pub use async_seek::AsyncSeek;
pub use async_write::AsyncWrite;
pub use read_buf::ReadBuf;
#[cfg(feature = "io-std")]
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
#[cfg(feature = "net")]
pub(crate) use util::poll_fill_mut;
#[cfg(feature = "io-util")]
pub use util::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufStream, BufWriter, Chain, DuplexStream,
    Empty, Join, Lines, ReadHalf, Repeat, SimplexStream, Sink, Split, Take, WriteHalf, copy, copy_bidirectional,
    copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat, simplex, sink, split,
};

#[cfg(feature = "net")]
pub use crate::interest::Interest;
#[cfg(feature = "net")]
pub use crate::ready::Ready;
#[cfg(all(unix, feature = "net"))]
pub use crate::unix;
