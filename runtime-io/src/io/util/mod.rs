//! The extension traits, with a file for each family of futures they return, and readers and writers made of others.
//!
//! The futures are named structs, which borrow the stream. They are never `Unpin`, so that it would be no change to
//! users if one of them became an `async fn`. Every loop in here ends in a leaf that spends budget: a stream of the
//! system, or one in memory.

mod buf_read_ext;
mod buf_reader;
mod buf_stream;
mod buf_writer;
mod buffer;
mod chain;
mod copy;
mod copy_bidirectional;
mod copy_buf;
mod empty;
mod fill_buf;
mod join;
mod lines;
mod memory;
mod read;
mod read_ext;
mod read_line;
mod read_number;
mod read_to_end;
mod read_until;
mod repeat;
mod seek;
mod seek_ext;
mod segments;
mod sink;
mod split;
mod take;
mod text;
mod write;
mod write_all;
mod write_ext;
mod write_number;

pub use buf_read_ext::AsyncBufReadExt;
pub use buf_reader::BufReader;
pub use buf_stream::BufStream;
pub use buf_writer::BufWriter;
#[cfg(feature = "net")]
pub(crate) use buffer::poll_fill_mut;
pub use chain::Chain;
pub use copy::copy;
pub use copy_bidirectional::{copy_bidirectional, copy_bidirectional_with_sizes};
pub use copy_buf::copy_buf;
pub use empty::{Empty, empty};
pub use join::{Join, join};
pub use lines::Lines;
pub use memory::{DuplexStream, SimplexStream, duplex, simplex};
pub use read_ext::AsyncReadExt;
pub use repeat::{Repeat, repeat};
pub use seek_ext::AsyncSeekExt;
pub use segments::Split;
pub use sink::{Sink, sink};
pub use split::{ReadHalf, WriteHalf, split};
pub use take::Take;
pub use write_ext::AsyncWriteExt;

/// The size of a buffer if nobody says otherwise.
const DEFAULT_BUFFER_SIZE: usize = 8 * 1024;

/// The most slices of a `Buf` that are written at once.
const SLICES_AT_ONCE: usize = 64;

/// Takes no more bytes, although there are some to write.
fn write_zero() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::WriteZero, "the writer takes no more bytes")
}

/// The stream ended, and more bytes were needed.
fn early_end() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the stream ended early")
}

/// Whether to try again at once: a signal came between.
fn is_interrupted(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::Interrupted
}
