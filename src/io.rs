//! Reading and writing without blocking: the traits, their methods, buffers, and what goes with them.
//!
//! What can be read is [`AsyncRead`], and [`AsyncReadExt`] has the methods for it; likewise [`AsyncWrite`] and
//! [`AsyncWriteExt`], [`AsyncBufRead`] and [`AsyncBufReadExt`], [`AsyncSeek`] and [`AsyncSeekExt`]. The methods need their
//! trait in scope:
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
//! # Whose traits these are
//!
//! The four traits are those of the crate `futures-io`, which libraries speak that are for any runtime, and not Tokio's.
//! Such libraries take rt's sockets as they are. For libraries that want Tokio's traits there is a wrapper: see
//! [what to use](crate#what-is-not-here-yet-and-what-to-use).
//!
//! The methods, buffers and functions are those of the crate `futures-lite`, which a program need not depend on: where the
//! examples of that crate say `futures_lite::io`, write `rt::io`. (For those with `futures_lite::stream::StreamExt`, which
//! is for [`Lines`], [`Split`] and `bytes`, it takes that crate, or `futures`.)
//!
//! On Unix, [`unix::AsyncFd`] makes a source of readiness of any other file descriptor.

#[doc(inline)]
pub use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result, SeekFrom};

#[doc(inline)]
pub use runtime_io::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, Interest, Ready};

/// What is documented with examples of the other crate: under a summary, which the list of the module shows, says so.
macro_rules! from_futures_lite {
    ($($(#[$summary:meta])+ $item:ident)+) => {
        $(
            $(#[$summary])+
            ///
            /// This is of the crate `futures-lite`: where an example says `futures_lite::io`, write `rt::io`.
            ///
            #[doc(inline)]
            pub use runtime_io::io::$item;
        )+
    };
}

from_futures_lite! {
    /// Methods for buffered reading: by lines, and up to a certain byte.
    AsyncBufReadExt
    /// Methods for reading.
    AsyncReadExt
    /// Methods for seeking.
    AsyncSeekExt
    /// Methods for writing.
    AsyncWriteExt
    /// A reader with a buffer.
    BufReader
    /// A writer with a buffer.
    BufWriter
    /// A reader and writer of memory.
    Cursor
    /// A reader that ends after so many bytes of another.
    Take
    /// Copies all that a reader has into a writer.
    copy
    /// A reader that is at its end.
    empty
    /// A reader that gives one byte again and again.
    repeat
    /// A writer that forgets what it is given.
    sink
    /// Splits a stream into a reader and a writer, which share a lock.
    split
}

#[doc(inline)]
pub use runtime_io::io::{Empty, Lines, ReadHalf, Repeat, Sink, Split, WriteHalf};

#[cfg(unix)]
#[doc(inline)]
pub use runtime_io::io::unix;
