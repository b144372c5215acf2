//! A stream taken apart into a reader and a writer that own it together, for two tasks.

use std::error::Error;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::interest::Interest;
use crate::io::AsyncWrite;
use crate::net::forward::{forward_read, forward_write_methods};
use crate::ready::Ready;

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

pub(super) fn split(stream: TcpStream) -> (OwnedReadHalf, OwnedWriteHalf) {
    let stream = Arc::new(stream);
    (OwnedReadHalf { stream: stream.clone() }, OwnedWriteHalf { stream, shut_down_on_drop: true })
}

fn reunite(reader: OwnedReadHalf, writer: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
    if !Arc::ptr_eq(&reader.stream, &writer.stream) {
        return Err(ReuniteError(reader, writer));
    }
    writer.forget();
    Ok(Arc::into_inner(reader.stream).expect("there is one reader and one writer of a stream"))
}

/// The two halves are not of the same stream. Both are in here.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the two halves are not of the same stream")
    }
}

impl Error for ReuniteError {}

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

    /// Waits until the stream is ready for something of `interest`. See [`TcpStream::ready`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.stream.ready(interest).await
    }

    /// Waits until there may be something to read. See [`TcpStream::readable`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn readable(&self) -> io::Result<()> {
        self.stream.readable().await
    }

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
    pub fn poll_peek(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.stream.poll_peek(cx, buf)
    }

    /// Reads what is there, without waiting. See [`TcpStream::try_read`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.try_read(buf)
    }

    /// Reads what is there, without waiting. See [`TcpStream::try_read_vectored`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.stream.try_read_vectored(bufs)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

impl OwnedWriteHalf {
    /// Puts the stream together again.
    ///
    /// # Errors
    ///
    /// If the halves are not of the same stream: both come back.
    pub fn reunite(self, other: OwnedReadHalf) -> Result<TcpStream, ReuniteError> {
        reunite(other, self)
    }

    /// Drops this half without ending what the other side can read; that ends when the reading half goes as well.
    pub fn forget(mut self) {
        self.shut_down_on_drop = false;
    }

    /// Waits until the stream is ready for something of `interest`. See [`TcpStream::ready`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.stream.ready(interest).await
    }

    /// Waits until there may be room to write. See [`TcpStream::writable`].
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn writable(&self) -> io::Result<()> {
        self.stream.writable().await
    }

    /// Writes what there is room for, without waiting. See [`TcpStream::try_write`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.stream.try_write(buf)
    }

    /// Writes what there is room for, without waiting. See [`TcpStream::try_write_vectored`].
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.stream.try_write_vectored(bufs)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.shut_down_on_drop {
            // Whatever it says, nobody is left to hear of it.
            let _ = self.stream.shut_down_writing();
        }
    }
}

impl AsRef<TcpStream> for OwnedReadHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}

impl AsRef<TcpStream> for OwnedWriteHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}

forward_read!(OwnedReadHalf, this => &*this.stream);

impl AsyncWrite for OwnedWriteHalf {
    forward_write_methods!(this => &*this.stream);

    /// Ends what the other side can read.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut &*self.stream).poll_shutdown(cx);
        // Once is enough.
        self.shut_down_on_drop &= !matches!(outcome, Poll::Ready(Ok(())));
        outcome
    }
}
