//! A stream taken apart into a reader and a writer that own it together, for two tasks.

use std::sync::Arc;

use crate::net::halves::{owned_halves, read_half_methods, write_half_methods};

use super::{SocketAddr, UnixStream};

/// The reading half of a stream, from [`UnixStream::into_split`].
///
/// # Example
///
/// ```
/// # use rt::net::UnixStream;
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let (stream, mut peer) = UnixStream::pair()?;
/// let (mut reader, mut writer) = stream.into_split();
/// writer.write_all(b"question").await?;
/// drop(writer); // the other side now finds the end
/// # let mut question = String::new();
/// # peer.read_to_string(&mut question).await?;
/// # assert_eq!(question, "question");
/// # peer.write_all(b"answer").await?;
/// # drop(peer);
/// let mut answer = String::new();
/// reader.read_to_string(&mut answer).await?;
/// # assert_eq!(answer, "answer");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OwnedReadHalf {
    stream: Arc<UnixStream>,
}

/// The writing half of a stream, from [`UnixStream::into_split`].
///
/// Dropping it ends what the other side can read, unless it is [forgotten](Self::forget).
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<UnixStream>,
    shut_down_on_drop: bool,
}

owned_halves!(UnixStream);

impl OwnedReadHalf {
    /// Puts the stream together again.
    ///
    /// # Errors
    ///
    /// If the halves are not of the same stream: both come back.
    ///
    /// # Example
    ///
    /// ```
    /// # use rt::net::UnixStream;
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let (stream, _other) = UnixStream::pair()?;
    /// let (reader, writer) = stream.into_split();
    /// let stream: UnixStream = reader.reunite(writer).expect("they belong together");
    /// # Ok(())
    /// # }
    /// ```
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<UnixStream, ReuniteError> {
        reunite(self, other)
    }

    read_half_methods!("UnixStream", SocketAddr, this => this.stream);
}

impl OwnedWriteHalf {
    write_half_methods!("UnixStream", SocketAddr, this => this.stream);
}
