//! The listening socket.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use crate::interest::Interest;
use crate::located::with_driver;
use crate::net::addr::{ToSocketAddrs, first_that_works};
use crate::net::backend::Listener;
use crate::net::platform;
use crate::readiness::Direction;
use crate::registration::current_driver;

use super::TcpStream;

/// A TCP socket that accepts connections.
///
/// Several tasks can wait in [`accept`](Self::accept) on the same listener.
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
/// use rt::net::{TcpListener, TcpStream};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = TcpStream::connect(listener.local_addr()?).await?;
/// let (mut server, peer) = listener.accept().await?;
/// assert_eq!(peer, client.local_addr()?);
///
/// client.write_all(b"hello").await?;
/// let mut greeting = [0; 5];
/// server.read_exact(&mut greeting).await?;
/// assert_eq!(&greeting, b"hello");
/// # Ok(())
/// # }
/// ```
pub struct TcpListener {
    pub(in crate::net) io: Listener,
}

impl TcpListener {
    /// Binds to the first address that can be bound to, and listens there.
    ///
    /// On Unix the address can be reused at once after a listener on it has gone (`SO_REUSEADDR`). As many
    /// connections wait to be accepted as the operating system allows. For other options, or a shorter backlog, see
    /// [`TcpSocket`](super::TcpSocket). Port 0 asks for any free port: find it with [`local_addr`](Self::local_addr).
    ///
    /// # Errors
    ///
    /// What the resolver or the operating system says; with several addresses, of the last one.
    ///
    /// # Panics
    ///
    /// When polled outside of a runtime with I/O enabled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a socket that was made already is closed.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let listener = rt::net::TcpListener::bind("127.0.0.1:0").await?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        let query = addr.to_query();
        with_driver(|driver| async move {
            let attempt = |addr| std::future::ready(Listener::bind(driver.clone(), addr));
            first_that_works(query, attempt).await.map(Self::new)
        })
    }

    pub(super) fn new(io: Listener) -> Self {
        Self { io }
    }

    /// Waits for a connection and returns it, with the address of the other side. The connection belongs to the runtime
    /// that accepts it, whichever the listener's is.
    ///
    /// # Errors
    ///
    /// The operating system's. Most concern one connection or a passing lack of resources (`EMFILE`: too many open
    /// files), so a server should report them and go on, after a little while if they come in a row.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no connection was taken.
    ///
    /// # Example
    ///
    /// See [the type](Self).
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.io.registration().async_io(Interest::READABLE, || self.io.accept()).await?;
        Ok((TcpStream::new(stream), peer))
    }

    /// As [`accept`](Self::accept), for hand-written futures. Only the last task to call this is woken.
    ///
    /// # Errors
    ///
    /// See [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let (stream, peer) = ready!(self.io.registration().poll_io(cx, Direction::Read, || self.io.accept()))?;
        Poll::Ready(Ok((TcpStream::new(stream), peer)))
    }

    /// Takes over a listener of the standard library.
    ///
    /// It must be in non-blocking mode: otherwise accepting blocks the thread.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is in blocking mode, where the system tells; and if it
    /// cannot be registered with the driver.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// listener.set_nonblocking(true)?;
    /// let listener = rt::net::TcpListener::from_std(listener)?;
    /// let listener: std::net::TcpListener = listener.into_std()?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        let driver = current_driver();
        platform::require_nonblocking(&listener)?;
        Listener::from_std(driver, listener).map(Self::new)
    }

    /// Gives the listener back, out of the driver. It is still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// If the driver cannot let go of it; it is closed then.
    pub fn into_std(self) -> io::Result<std::net::TcpListener> {
        self.io.into_std()
    }

    /// The address it listens on.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The error that the socket has to report, if any; it is reported once.
    ///
    /// # Errors
    ///
    /// If the operating system cannot say.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    /// How many hops packets from this socket may take.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets [`ttl`](Self::ttl).
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }
}

impl TryFrom<std::net::TcpListener> for TcpListener {
    type Error = io::Error;

    /// See [`from_std`](TcpListener::from_std), panics included.
    #[track_caller]
    fn try_from(listener: std::net::TcpListener) -> io::Result<Self> {
        Self::from_std(listener)
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener").field("local", &self.local_addr().ok()).finish()
    }
}
