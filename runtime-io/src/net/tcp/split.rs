//! A stream borrowed as a reader and a writer: no allocation, for one task.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use crate::io::ReadBuf;
use crate::net::halves::{borrowed_halves, read_half_methods, write_half_methods};

use super::TcpStream;

/// The reading half of a stream, from [`TcpStream::split`].
///
/// # Example
///
/// ```
/// # use rt::net::{TcpListener, TcpStream};
/// use rt::io::copy;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let listener = TcpListener::bind("127.0.0.1:0").await?;
/// # drop(TcpStream::connect(listener.local_addr()?).await?);
/// let (mut stream, _) = listener.accept().await?;
/// let (mut reader, mut writer) = stream.split();
/// copy(&mut reader, &mut writer).await?; // echoes until the other side has nothing more to say
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a TcpStream);

/// The writing half of a stream, from [`TcpStream::split`].
///
/// Dropping it does nothing to the stream: shut it down (`AsyncWriteExt::shutdown`) to end what the other side can
/// read.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a TcpStream);

borrowed_halves!(TcpStream);

impl ReadHalf<'_> {
    read_half_methods!("TcpStream", SocketAddr, this => this.0);

    /// Reads without taking away. See [`TcpStream::peek`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.peek(buf).await
    }

    /// Reads without taking away. See [`TcpStream::poll_peek`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn poll_peek(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        self.0.poll_peek(cx, buf)
    }
}

impl WriteHalf<'_> {
    write_half_methods!("TcpStream", SocketAddr, this => this.0);
}
