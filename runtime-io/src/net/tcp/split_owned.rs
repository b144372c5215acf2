//! A stream taken apart into a reader and a writer that own it together, for two tasks.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::io::ReadBuf;
use crate::net::halves::{owned_halves, read_half_methods, write_half_methods};

use super::TcpStream;

/// The reading half of a stream, from [`TcpStream::into_split`].
///
/// # Example
///
/// ```
/// # use rt::net::{TcpListener, TcpStream};
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let listener = TcpListener::bind("127.0.0.1:0").await?;
/// # let stream = TcpStream::connect(listener.local_addr()?).await?;
/// # let (mut peer, _) = listener.accept().await?;
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
    stream: Arc<TcpStream>,
}

/// The writing half of a stream, from [`TcpStream::into_split`].
///
/// Dropping it ends what the other side can read, unless it is [forgotten](Self::forget).
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    shut_down_on_drop: bool,
}

owned_halves!(TcpStream);

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
    /// # use rt::net::{TcpListener, TcpStream};
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let (reader, writer) = stream.into_split();
    /// let stream: TcpStream = reader.reunite(writer).expect("they belong together");
    /// # Ok(())
    /// # }
    /// ```
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        reunite(self, other)
    }

    read_half_methods!("TcpStream", SocketAddr, this => this.stream);

    /// Reads without taking away. See [`TcpStream::peek`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.peek(buf).await
    }

    /// Reads without taking away. See [`TcpStream::poll_peek`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn poll_peek(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        self.stream.poll_peek(cx, buf)
    }
}

impl OwnedWriteHalf {
    write_half_methods!("TcpStream", SocketAddr, this => this.stream);
}
