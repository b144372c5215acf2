//! A socket before it is a listener or a stream: where options are set that must be set then.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::located::with_driver;
use crate::net::backend::{Family, Socket};
use crate::net::methods::traffic_class_methods;
use crate::registration::current_driver;

use super::{TcpListener, TcpStream};

/// A TCP socket that is neither connected nor listening yet.
///
/// # Example
///
/// ```
/// use rt::net::TcpSocket;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.set_recv_buffer_size(64 * 1024)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let listener = socket.listen(128)?;
///
/// let stream = TcpSocket::new_v4()?.connect(listener.local_addr()?).await?;
/// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
/// # Ok(())
/// # }
/// ```
pub struct TcpSocket {
    pub(in crate::net) io: Socket,
}

fn size(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// All of these options fail with what the operating system says, and in no other way.
impl TcpSocket {
    /// A socket for IPv4.
    ///
    /// # Errors
    ///
    /// The operating system's: too many files are open, for example.
    pub fn new_v4() -> io::Result<TcpSocket> {
        Ok(Self { io: Socket::new(Family::V4)? })
    }

    /// A socket for IPv6.
    ///
    /// # Errors
    ///
    /// The operating system's: too many files are open, for example.
    pub fn new_v6() -> io::Result<TcpSocket> {
        Ok(Self { io: Socket::new(Family::V6)? })
    }

    /// Takes over a socket that something else has made. It must not be connected, and be in non-blocking mode: in
    /// the other, where the system tells, [`connect`](Self::connect) and [`listen`](Self::listen) fail with
    /// [`InvalidInput`](io::ErrorKind::InvalidInput).
    pub fn from_std_stream(stream: std::net::TcpStream) -> TcpSocket {
        Self { io: Socket::from_std(stream) }
    }

    /// Gives the socket an address of its own.
    ///
    /// # Errors
    ///
    /// The operating system's: the address is taken, for example.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.io.bind(addr)
    }

    /// Connects the socket.
    ///
    /// # Errors
    ///
    /// The operating system's: nobody listens there, for example.
    ///
    /// # Panics
    ///
    /// When polled outside of a runtime with I/O enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    #[track_caller]
    pub fn connect(self, addr: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        with_driver(move |driver| async move { TcpStream::finish_connecting(self.io.connect(&driver, addr)).await })
    }

    /// Makes it a listener that keeps up to `backlog` connections which are yet to be accepted.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.io.listen(current_driver(), backlog).map(TcpListener::new)
    }

    /// The address of this side.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The error that the socket has to report, if any; it is reported once.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    /// Whether an address can be bound that is still in use by connections on their way out (`SO_REUSEADDR`).
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.io.os().reuse_address()
    }

    /// Sets [`reuseaddr`](Self::reuseaddr).
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.io.os().set_reuse_address(reuseaddr)
    }

    /// Whether the connection is probed when it is idle (`SO_KEEPALIVE`).
    pub fn keepalive(&self) -> io::Result<bool> {
        self.io.os().keepalive()
    }

    /// Sets [`keepalive`](Self::keepalive). For the intervals, see `socket2::SockRef::set_tcp_keepalive`.
    pub fn set_keepalive(&self, keepalive: bool) -> io::Result<()> {
        self.io.os().set_keepalive(keepalive)
    }

    /// How much the system keeps for us to send, in bytes (`SO_SNDBUF`). It can be more than was asked for.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.io.os().send_buffer_size().map(size)
    }

    /// Sets [`send_buffer_size`](Self::send_buffer_size).
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.io.os().set_send_buffer_size(size as usize)
    }

    /// How much the system keeps for us to read, in bytes (`SO_RCVBUF`). It can be more than was asked for.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.io.os().recv_buffer_size().map(size)
    }

    /// Sets [`recv_buffer_size`](Self::recv_buffer_size).
    pub fn set_recv_buffer_size(&self, size: u32) -> io::Result<()> {
        self.io.os().set_recv_buffer_size(size as usize)
    }

    /// How long closing waits for what is still to be sent (`SO_LINGER`).
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.io.os().linger()
    }

    /// Sets [`linger`](Self::linger). With a time that is not zero, dropping the stream can block the thread so long.
    #[deprecated(note = "it can block the thread that drops the stream; see `set_zero_linger`")]
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.io.os().set_linger(linger)
    }

    /// Makes dropping the stream reset the connection, and throw away what is still to be sent. Never blocks.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.io.os().set_linger(Some(Duration::ZERO))
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`).
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.os().tcp_nodelay()
    }

    /// Sets [`nodelay`](Self::nodelay).
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.os().set_tcp_nodelay(nodelay)
    }

    traffic_class_methods!(this => this.io.os());
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpSocket").field("local", &self.local_addr().ok()).finish()
    }
}
