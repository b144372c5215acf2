//! The listening socket.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use socket2::{Domain, SockRef, Type};

use crate::driver::Handle;
use crate::interest::Interest;
use crate::net::endpoint::Endpoint;
use crate::net::methods::try_from_std;
use crate::net::platform;
use crate::readiness::Direction;
use crate::ready::Ready;
use crate::registration::{current_driver, current_driver_or};

use super::address::{SocketAddr, named_to_system, to_system};
use super::{UnixSocket, UnixStream};

/// A Unix socket that accepts connections.
///
/// Several tasks can wait in [`accept`](Self::accept) on the same listener. Dropping it leaves its path in the file
/// system: remove it before the next listener is to be bound there. (A name in the abstract namespace of Linux is free
/// again at once.)
///
/// # Example
///
/// ```
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
/// use rt::net::{UnixListener, UnixStream};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let directory = std::env::temp_dir().join(format!("rt-doc-listener-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("socket");
/// # let _ = std::fs::remove_file(&path);
/// let listener = UnixListener::bind(&path)?;
/// let mut client = UnixStream::connect(&path).await?;
/// let (mut server, _) = listener.accept().await?;
///
/// client.write_all(b"hello").await?;
/// let mut greeting = [0; 5];
/// server.read_exact(&mut greeting).await?;
/// assert_eq!(&greeting, b"hello");
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
pub struct UnixListener {
    pub(in crate::net) io: Endpoint<mio::net::UnixListener>,
    /// Where the connections are registered, too, that are accepted outside of any runtime.
    driver: Arc<Handle>,
    /// Whether it may be of sequenced packets. So are its connections then, and must be wary.
    is_doubtful: bool,
}

impl UnixListener {
    /// Binds to a path, and listens there. On Linux a path that begins with a zero byte is a name in the abstract
    /// namespace.
    ///
    /// # Errors
    ///
    /// The operating system's: the path exists, for example, if only because an earlier listener has left it there.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        let driver = current_driver();
        let socket = UnixSocket::new_stream()?;
        socket.bind_system(&to_system(path.as_ref())?)?;
        socket.listen_on(driver, u32::MAX)
    }

    /// As [`bind`](Self::bind), to an address. If that has no name, Linux picks one in the abstract namespace.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        let driver = current_driver();
        let socket = UnixSocket::new_stream()?;
        socket.bind_system(&named_to_system(socket_addr)?)?;
        socket.listen_on(driver, u32::MAX)
    }

    pub(super) fn register(driver: Arc<Handle>, listener: mio::net::UnixListener) -> io::Result<Self> {
        // Other code can make a listener of another family one of this type, too.
        let socket = SockRef::from(&listener);
        let is_of_unix_streams = matches!(socket.r#type(), Ok(Type::STREAM))
            && socket.local_addr().is_ok_and(|address| address.domain() == Domain::UNIX);
        let is_doubtful = !is_of_unix_streams;
        let io = Endpoint::register(&driver, listener, Interest::READABLE, Ready::EMPTY)?;
        Ok(Self { io, driver, is_doubtful })
    }

    /// Waits for a connection and returns it, with the address of the other side. The connection belongs to the runtime
    /// that accepts it, whichever the listener's is.
    ///
    /// # Errors
    ///
    /// The operating system's. Most concern a passing lack of resources (`EMFILE`: too many open files), so a server
    /// should report them and go on, after a little while if they come in a row.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no connection was taken.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.io.registration().async_io(Interest::READABLE, || self.accept_now()).await
    }

    /// As [`accept`](Self::accept), for hand-written futures. Only the last task to call this is woken.
    ///
    /// # Errors
    ///
    /// See [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        self.io.registration().poll_io(cx, Direction::Read, || self.accept_now())
    }

    fn accept_now(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, peer) = self.io.source().accept()?;
        let stream = UnixStream::register_accepted(&current_driver_or(&self.driver), stream)?;
        if self.is_doubtful {
            stream.be_wary();
        }
        Ok((stream, peer.into()))
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
    #[track_caller]
    pub fn from_std(listener: std::os::unix::net::UnixListener) -> io::Result<UnixListener> {
        let driver = current_driver();
        platform::require_nonblocking(&listener)?;
        Self::register(driver, mio::net::UnixListener::from_std(listener))
    }

    /// Gives the listener back, out of the driver. It is still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// If the driver cannot let go of it; it is closed then.
    pub fn into_std(self) -> io::Result<std::os::unix::net::UnixListener> {
        self.io.into_source().map(Into::into)
    }

    /// The address it listens on.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().local_addr().map(SocketAddr::from)
    }

    /// The error that the socket has to report, if any; it is reported once.
    ///
    /// # Errors
    ///
    /// If the operating system cannot say.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.source().take_error()
    }
}

try_from_std!(std::os::unix::net::UnixListener => UnixListener);

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnixListener").field("local", &self.local_addr().ok()).finish()
    }
}
