//! What the types of [`tcp`](super::tcp) stand on: the operating system's sockets, by way of mio. And its resolver.
//!
//! The seam for a simulated network. Everything of TCP that depends on what carries the bytes is behind these types,
//! and `tcp` itself may not name mio or `spawn_blocking`. A second carrier would make [`Stream`], [`Listener`] and
//! [`Socket`] enums of this one and itself; the first two have a [`Registration`], so whatever readiness means to it is
//! expressed in the same word and the same waiters. (UDP and what only Unix has stand on `endpoint.rs`.)
//!
//! Nothing here waits, but for [`resolve`]: operations that would block say so.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use socket2::{Domain, Protocol, SockRef, Type};

use crate::driver::Handle;
use crate::interest::Interest;
use crate::io::ReadBuf;
use crate::readiness::SHORT_READ_DRAINS;
use crate::ready::Ready;
use crate::registration::{Evented, Registration, current_driver_or};

use super::platform;
use super::receive::{peek, receive, receive_telling};

/// Urgent data is of interest although hardly anybody sends it: reads stop at its mark (`readiness`).
const STREAM_INTEREST: Interest = Interest::READABLE.add(Interest::WRITABLE).add(Interest::PRIORITY);

/// Asks the resolver.
pub(super) async fn resolve(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let lookup = runtime_core::spawn_blocking(move || (host.as_str(), port).to_socket_addrs());
    match lookup.await {
        Ok(addresses) => Ok(addresses?.collect()),
        // The runtime shut down before the lookup began. (Not `Interrupted`, which tells the caller to try again.)
        Err(error) => Err(error.into()),
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct Stream(Evented<mio::net::TcpStream>);

impl Stream {
    fn register(driver: &Handle, stream: mio::net::TcpStream, assumed: Ready) -> io::Result<Self> {
        // On failure the stream comes back with the error, and is closed here.
        Evented::new(driver, stream, STREAM_INTEREST, assumed).map(Self).map_err(|(_, error)| error)
    }

    /// Starts to connect. It has succeeded when the stream is writable and has no error.
    pub(super) fn connect(driver: &Handle, addr: SocketAddr) -> io::Result<Self> {
        Self::register(driver, mio::net::TcpStream::connect(addr)?, Ready::EMPTY)
    }

    /// The stream must be in non-blocking mode already. It may be a socket of any kind. What has been done to it, and
    /// who else knows it, cannot be known.
    pub(super) fn from_std(driver: &Handle, stream: std::net::TcpStream) -> io::Result<Self> {
        // Where short reads prove nothing nobody is asked what the socket is. A short write may prove something there,
        // so nothing is taken for granted.
        let is_tcp = SHORT_READ_DRAINS && platform::is_tcp(&stream);
        let stream = Self::register(driver, mio::net::TcpStream::from_std(stream), Ready::EMPTY)?;
        if is_tcp {
            stream.registration().lend();
        } else {
            stream.registration().be_wary();
        }
        Ok(stream)
    }

    /// It stays in non-blocking mode.
    pub(super) fn into_std(self) -> io::Result<std::net::TcpStream> {
        let (stream, outcome) = self.0.into_inner();
        outcome.map(|()| stream.into())
    }

    #[inline]
    pub(super) fn registration(&self) -> &Registration {
        self.0.registration()
    }

    /// Reads into memory that need not be initialised. If the descriptor has been lent, and the read may have ended for
    /// another reason than that nothing is left, the registration is made wary before readiness would be cleared.
    #[inline]
    pub(super) fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        let socket = SockRef::from(self.0.source());
        if !SHORT_READ_DRAINS || !self.registration().is_lent() {
            return self.0.source().try_io(|| receive(&socket, buf));
        }
        let (count, may_have_more) = self.0.source().try_io(|| receive_telling(&socket, buf))?;
        if may_have_more {
            self.registration().be_wary();
        }
        Ok(count)
    }

    /// Nobody is told what ended the read, so it makes the registration of a lent descriptor wary.
    pub(super) fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        if SHORT_READ_DRAINS && self.registration().is_lent() {
            self.registration().be_wary();
        }
        self.0.source().read_vectored(bufs)
    }

    /// As [`receive`](Self::receive), and leaves the bytes to be read.
    pub(super) fn peek(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        self.0.source().try_io(|| peek(&SockRef::from(self.0.source()), buf))
    }

    #[inline]
    pub(super) fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.source().write(buf)
    }

    pub(super) fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.source().write_vectored(bufs)
    }

    /// Runs somebody else's operation on this socket, so that its refusal is noticed where the poller has to know.
    pub(super) fn run<R>(&self, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.0.source().try_io(operation)
    }

    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.0.source().shutdown(how)
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.source().local_addr()
    }

    pub(super) fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.source().peer_addr()
    }

    pub(super) fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.0.source().take_error()
    }

    pub(super) fn nodelay(&self) -> io::Result<bool> {
        self.0.source().nodelay()
    }

    pub(super) fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.0.source().set_nodelay(nodelay)
    }

    pub(super) fn ttl(&self) -> io::Result<u32> {
        self.0.source().ttl()
    }

    pub(super) fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.0.source().set_ttl(ttl)
    }

    /// For options only: the descriptor must not get out.
    pub(super) fn options(&self) -> SockRef<'_> {
        SockRef::from(self.0.source())
    }

    /// For somebody outside who wants the raw handle of the operating system. A carrier that has none does not get
    /// here.
    pub(super) fn lend(&self) -> &mio::net::TcpStream {
        self.0.registration().lend();
        self.0.source()
    }
}

/// A socket that connections come in on.
#[derive(Debug)]
pub(super) struct Listener {
    socket: Evented<mio::net::TcpListener>,
    /// Where the connections are registered, too, that are accepted outside of any runtime.
    driver: Arc<Handle>,
    /// Whether it may be of another protocol than TCP. So are its connections then, and must be wary.
    is_doubtful: bool,
}

impl Listener {
    fn register(driver: Arc<Handle>, listener: std::net::TcpListener, is_doubtful: bool) -> io::Result<Self> {
        let listener = mio::net::TcpListener::from_std(listener);
        match Evented::new(&driver, listener, Interest::READABLE, Ready::EMPTY) {
            Ok(socket) => Ok(Self { socket, driver, is_doubtful }),
            Err((_, error)) => Err(error),
        }
    }

    /// Binds, with the address reusable at once where that is customary, and listens.
    pub(super) fn bind(driver: Arc<Handle>, addr: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(if addr.is_ipv4() { Family::V4 } else { Family::V6 })?;
        platform::prepare_listener(&socket)?;
        socket.bind(addr)?;
        // As many as the system allows: a burst of clients overflows a short queue, and those that do not fit try again
        // after a second.
        socket.listen(driver, u32::MAX)
    }

    /// The listener must be in non-blocking mode already. It may be a socket of any kind, as nobody has asked: for
    /// SCTP, say.
    pub(super) fn from_std(driver: Arc<Handle>, listener: std::net::TcpListener) -> io::Result<Self> {
        let is_doubtful = !platform::is_tcp(&listener);
        Self::register(driver, listener, is_doubtful)
    }

    /// It stays in non-blocking mode.
    pub(super) fn into_std(self) -> io::Result<std::net::TcpListener> {
        let (listener, outcome) = self.socket.into_inner();
        outcome.map(|()| listener.into())
    }

    pub(super) fn registration(&self) -> &Registration {
        self.socket.registration()
    }

    pub(super) fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let (stream, peer) = self.socket.source().accept()?;
        // What the client has sent by now can be read, and there is room to write: no need to wait until the poller
        // says so. (If a read is short at an urgent mark, before any event, then that of the registration is yet to
        // come.)
        let driver = current_driver_or(&self.driver);
        let stream = Stream::register(&driver, stream, Ready::READABLE | Ready::WRITABLE)?;
        if self.is_doubtful {
            stream.registration().be_wary();
        }
        Ok((stream, peer))
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.source().local_addr()
    }

    pub(super) fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.source().take_error()
    }

    pub(super) fn ttl(&self) -> io::Result<u32> {
        self.socket.source().ttl()
    }

    pub(super) fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.socket.source().set_ttl(ttl)
    }

    /// For somebody outside who wants the raw handle of the operating system. A carrier that has none does not get
    /// here.
    pub(super) fn lend(&self) -> &mio::net::TcpListener {
        self.socket.source()
    }
}

/// A socket that is neither connected nor listening yet. Not registered: there is nothing to wait for.
#[derive(Debug)]
pub(super) struct Socket {
    socket: socket2::Socket,
    /// Whether others know the descriptor. They may have put it into blocking mode, and the stream that it becomes is
    /// lent, too.
    is_lent: AtomicBool,
}

/// Which addresses a socket is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    V4,
    V6,
}

impl Socket {
    pub(super) fn new(family: Family) -> io::Result<Self> {
        let domain = match family {
            Family::V4 => Domain::IPV4,
            Family::V6 => Domain::IPV6,
        };
        let socket = socket2::Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, is_lent: AtomicBool::new(false) })
    }

    pub(super) fn from_std(stream: std::net::TcpStream) -> Self {
        Self { socket: stream.into(), is_lent: AtomicBool::new(true) }
    }

    fn require_nonblocking(&self) -> io::Result<()> {
        // Relaxed: as in `lend`.
        if self.is_lent.load(Relaxed) { platform::require_nonblocking(&self.socket) } else { Ok(()) }
    }

    pub(super) fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.socket.bind(&addr.into())
    }

    /// As [`Stream::connect`].
    pub(super) fn connect(self, driver: &Handle, addr: SocketAddr) -> io::Result<Stream> {
        self.require_nonblocking()?;
        match self.socket.connect(&addr.into()) {
            Err(error) if !is_in_progress(&error) => Err(error),
            _ if self.is_lent.into_inner() => Stream::from_std(driver, self.socket.into()),
            _ => Stream::register(driver, mio::net::TcpStream::from_std(self.socket.into()), Ready::EMPTY),
        }
    }

    /// At most `backlog` connections wait to be accepted, and no more than the system allows.
    pub(super) fn listen(self, driver: Arc<Handle>, backlog: u32) -> io::Result<Listener> {
        self.require_nonblocking()?;
        self.socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        if self.is_lent.into_inner() {
            Listener::from_std(driver, self.socket.into())
        } else {
            Listener::register(driver, self.socket.into(), false)
        }
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        // A TCP socket has an IP address; if a foreign one was smuggled in, that is its maker's error.
        self.socket.local_addr()?.as_socket().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
    }

    pub(super) fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// The options, which are many and mean nothing to anybody but the operating system.
    pub(super) fn os(&self) -> &socket2::Socket {
        &self.socket
    }

    /// For somebody outside who wants the raw handle.
    pub(super) fn lend(&self) -> &socket2::Socket {
        // Relaxed: the caller that connects or listens has the socket alone by then.
        self.is_lent.store(true, Relaxed);
        &self.socket
    }

    /// For somebody outside who wants the raw handle, and to own it.
    pub(super) fn into_os(self) -> socket2::Socket {
        self.socket
    }
}

/// Whether a refusal to connect at once only says that it takes time. On Unix `WouldBlock` says that nothing was begun.
fn is_in_progress(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(runtime_core::os::IN_PROGRESS);
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::WouldBlock;
}
