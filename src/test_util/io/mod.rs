//! A stream that follows a script: what it gives to a reader, and what it expects of a writer.
//!
//! [`Builder`] takes the script and makes a [`Mock`], which is [`AsyncRead`] and [`AsyncWrite`]; a [`Handle`] adds to
//! the script while the mock is in use. The end of the script is the end of the stream, unless there is a handle.
//!
//! # What is checked
//!
//! - What is written must be what the script expects, in any pieces. Reads of the script need not have happened before
//!   a write that stands behind them; waits and errors must.
//! - Nothing may be written that the script does not expect, nor anything after `shutdown`.
//! - All that is to be read and written must have been when the mock is dropped. What a handle adds counts from when
//!   the mock has come to it; waits and errors at the end of the script do not count.
//!
//! Else it panics, and tells the mock's [name](Builder::name) and where it was built.
//!
//! # Example
//!
//! ```
//! use rt::io::{AsyncReadExt, AsyncWriteExt};
//! use rt::test_util::io::Builder;
//!
//! # #[rt::main]
//! # async fn main() -> std::io::Result<()> {
//! let mut mock = Builder::new().write(b"ping").read(b"pong").build();
//! mock.write_all(b"ping").await?;
//! let mut answer = String::new();
//! mock.read_to_string(&mut answer).await?;
//! assert_eq!(answer, "pong");
//! # Ok(())
//! # }
//! ```
//!
//! [`AsyncRead`]: crate::io::AsyncRead
//! [`AsyncWrite`]: crate::io::AsyncWrite

mod builder;
mod mock;
mod script;

pub use builder::{Builder, Handle};
pub use mock::Mock;
