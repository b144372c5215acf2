//! A stream borrowed as a reader and a writer: no allocation, for one task.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::task::{Context, Poll};

use crate::interest::Interest;
use crate::net::forward::{forward_read, forward_write};
use crate::ready::Ready;

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
/// Dropping it does nothing to the stream: shut it down (`AsyncWriteExt::shutdown`) to end what the other side can read.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a TcpStream);

pub(super) fn split(stream: &mut TcpStream) -> (ReadHalf<'_>, WriteHalf<'_>) {
    (ReadHalf(stream), WriteHalf(stream))
}

impl ReadHalf<'_> {
    /// Waits until the stream is ready for something of `interest`. See [`TcpStream::ready`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.0.ready(interest).await
    }

    /// Waits until there may be something to read. See [`TcpStream::readable`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn readable(&self) -> io::Result<()> {
        self.0.readable().await
    }

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
    pub fn poll_peek(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_peek(cx, buf)
    }

    /// Reads what is there, without waiting. See [`TcpStream::try_read`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buf)
    }

    /// Reads what is there, without waiting. See [`TcpStream::try_read_vectored`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.0.try_read_vectored(bufs)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }
}

impl WriteHalf<'_> {
    /// Waits until the stream is ready for something of `interest`. See [`TcpStream::ready`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.0.ready(interest).await
    }

    /// Waits until there may be room to write. See [`TcpStream::writable`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn writable(&self) -> io::Result<()> {
        self.0.writable().await
    }

    /// Writes what there is room for, without waiting. See [`TcpStream::try_write`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.try_write(buf)
    }

    /// Writes what there is room for, without waiting. See [`TcpStream::try_write_vectored`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(bufs)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }
}

impl AsRef<TcpStream> for ReadHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}

impl AsRef<TcpStream> for WriteHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}

forward_read!(ReadHalf<'_>, this => &*this.0);
forward_write!(WriteHalf<'_>, this => &*this.0);
