//! The connection: how one comes by it, and bytes in both directions.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::{SockAddr, SockRef};

use crate::driver::Handle;
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use crate::located::with_driver;
use crate::net::endpoint::{Endpoint, carriers};
use crate::net::forward::{forward_read, forward_write};
use crate::net::methods::{
    operation_methods, readable_methods, ready_method, std_methods, try_from_std, writable_methods,
};
use crate::net::receive::receive;
use crate::readiness::Direction;
use crate::ready::Ready;
use crate::registration::current_driver;

use super::address::{named_to_system, to_system};
use super::byte_io::{Receiver, try_read_methods, try_write_methods};
use super::stream_read::{self, INTEREST};
use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, SocketAddr, UCred, UnixSocket, WriteHalf, split, split_owned};

carriers!(mio::net::UnixStream);

impl Receiver for mio::net::UnixStream {
    #[inline]
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        receive(&SockRef::from(self), buf)
    }
}

/// A connection between processes of the same host.
///
/// It is read and written through [`AsyncRead`] and [`AsyncWrite`]. Shutting it down as a writer
/// (`AsyncWriteExt::shutdown`) ends what the other side can read; dropping it closes the connection. One task at a time
/// should read through these traits and one write, for only the last task to be refused in a direction is woken by
/// it; `readable`, `writable`, `ready` and `async_io` have no such limit. To read and write from two tasks,
/// [`split`](Self::split) it or [take it apart](Self::into_split).
///
/// Descriptors and credentials that come with the bytes are not received by it: use [`async_io`](Self::async_io) around
/// `recvmsg` for these.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
/// use rt::net::UnixStream;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut one, mut other) = UnixStream::pair()?;
/// one.write_all(b"hello").await?;
/// drop(one);
/// let mut text = String::new();
/// other.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(())
/// # }
/// ```
pub struct UnixStream {
    pub(in crate::net) io: Endpoint<mio::net::UnixStream>,
}

impl UnixStream {
    /// Connects to the listener at a path. On Linux a path that begins with a zero byte is a name in the abstract
    /// namespace.
    ///
    /// # Errors
    ///
    /// The operating system's. If the listener has as many connections as it keeps that are yet to be accepted, Linux
    /// says `WouldBlock`, and there is nothing to wait for but time.
    ///
    /// # Panics
    ///
    /// When polled outside of a runtime with I/O enabled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the attempt is given up.
    ///
    /// # Example
    ///
    /// See [`UnixListener`](super::UnixListener).
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> + use<P> {
        let address = to_system(path.as_ref());
        drop(path);
        Self::connect_system(UnixSocket::new_stream, address)
    }

    /// As [`connect`](Self::connect), to an address.
    ///
    /// # Errors
    ///
    /// The operating system's; of kind [`InvalidInput`](io::ErrorKind::InvalidInput), on Linux, if the address has no
    /// name.
    ///
    /// # Panics
    ///
    /// When polled outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn connect_addr(socket_addr: &SocketAddr) -> impl Future<Output = io::Result<UnixStream>> + use<> {
        Self::connect_system(UnixSocket::new_stream, named_to_system(socket_addr))
    }

    /// The socket is asked for when the future is polled: one that nobody polls has no descriptor.
    #[track_caller]
    pub(super) fn connect_system<S: FnOnce() -> io::Result<UnixSocket>>(
        socket: S,
        address: io::Result<SockAddr>,
    ) -> impl Future<Output = io::Result<UnixStream>> + use<S> {
        with_driver(|driver| async move {
            let stream = socket()?.connect_now(&address?)?;
            // Linux is done at once, but only an event tells whether the listener has gone since.
            let io = Endpoint::register(&driver, stream, INTEREST, Ready::EMPTY)?;
            poll_fn(|cx| io.registration().poll_ready(cx, Direction::Write)).await?;
            match io.source().take_error()? {
                Some(error) => Err(error),
                None => Ok(Self { io }),
            }
        })
    }

    /// What a client has sent by the time it is accepted can be read, and there is room to write: no need to wait until
    /// the poller says so. (If a read is short at an urgent mark, before any event, then that of the registration is
    /// yet to come.)
    pub(super) fn register_accepted(driver: &Handle, stream: mio::net::UnixStream) -> io::Result<Self> {
        Ok(Self { io: Endpoint::register(driver, stream, INTEREST, Ready::READABLE | Ready::WRITABLE)? })
    }

    /// From now on a short read proves nothing: others may know the descriptor, or it may be of another kind.
    pub(super) fn be_wary(&self) {
        self.io.registration().be_wary();
    }

    /// Two streams that are connected to each other, and have no names.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let driver = current_driver();
        let (one, other) = mio::net::UnixStream::pair()?;
        let register = |stream| {
            // There is room to write in a new stream.
            let io = Endpoint::register(&driver, stream, INTEREST, Ready::WRITABLE)?;
            io::Result::Ok(Self { io })
        };
        Ok((register(one)?, register(other)?))
    }

    ready_method!();
    readable_methods!(poll_read_ready);
    writable_methods!(poll_write_ready);
    try_read_methods!();
    try_write_methods!();
    operation_methods!();
    std_methods!(std::os::unix::net::UnixStream, mio::net::UnixStream, INTEREST);

    /// Borrows the stream as a reader and a writer, for two futures of the same task.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::split(self)
    }

    /// Takes the stream apart into a reader and a writer that can go to different tasks.
    ///
    /// Dropping the writer closes the connection for writing.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split_owned::split(self)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().local_addr().map(SocketAddr::from)
    }

    /// The address of the other side. A client that was not bound has none.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().peer_addr().map(SocketAddr::from)
    }

    /// Who is at the other end: the process that connected, or that listened.
    ///
    /// # Errors
    ///
    /// The operating system's; [`Unsupported`](io::ErrorKind::Unsupported) where it does not tell.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let (one, _other) = rt::net::UnixStream::pair()?;
    /// let peer = one.peer_cred()?;
    /// # #[cfg(target_os = "linux")]
    /// assert_eq!(peer.pid(), i32::try_from(std::process::id()).ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(self.io.source())
    }

    /// Ends what the other side can read. That it is gone already is as good.
    pub(super) fn shut_down_writing(&self) -> io::Result<()> {
        match self.io.source().shutdown(Shutdown::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            outcome => outcome,
        }
    }
}

/// Of several tasks that read the same stream at a time, only the last to wait is woken.
impl AsyncRead for &UnixStream {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        stream_read::poll_read(&self.io, cx, buf)
    }
}

/// Of several tasks that write to the same stream at a time, only the last to wait is woken.
impl AsyncWrite for &UnixStream {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Nothing is held back here, so there is nothing to do.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends what the other side can read. Reading goes on.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shut_down_writing())
    }
}

forward_read!(UnixStream, this => &*this);
forward_write!(UnixStream, this => &*this);
try_from_std!(std::os::unix::net::UnixStream => UnixStream);

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}

impl fmt::Debug for UnixStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnixStream")
            .field("local", &self.local_addr().ok())
            .field("peer", &self.peer_addr().ok())
            .finish()
    }
}
