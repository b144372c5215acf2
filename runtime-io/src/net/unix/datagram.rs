//! The datagram socket: how one comes by it, and what it is connected to.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::path::Path;

use socket2::SockRef;

use crate::driver::Handle;
use crate::net::endpoint::{BOTH_WAYS, Endpoint, carriers};
use crate::net::methods::{
    operation_methods, readable_methods, ready_method, std_methods, try_from_std, writable_methods,
};
use crate::ready::Ready;
use crate::registration::current_driver;

use super::address::to_system;
use super::{SocketAddr, UnixSocket};

carriers!(mio::net::UnixDatagram);

/// A Unix socket for messages that keep their boundaries, between processes of the same host.
///
/// Messages are neither lost nor reordered: a sender waits while the receiver's queue is full. All of it takes `&self`:
/// share a socket among tasks in an [`Arc`](std::sync::Arc). Any number of tasks can wait in its async methods; of
/// those that poll by hand only the last one of each direction is woken.
///
/// A message that is longer than the buffer it is received into is cut off, and the rest of it is lost. Dropping a
/// socket that is bound to a path leaves the path in the file system.
///
/// # Example
///
/// ```
/// use rt::net::UnixDatagram;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let directory = std::env::temp_dir().join(format!("rt-doc-datagram-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("socket");
/// # let _ = std::fs::remove_file(&path);
/// let server = UnixDatagram::bind(&path)?;
/// let client = UnixDatagram::unbound()?;
/// client.send_to(b"hello", &path).await?;
///
/// let mut buffer = [0; 64];
/// let (length, from) = server.recv_from(&mut buffer).await?;
/// assert_eq!(&buffer[..length], b"hello");
/// assert!(from.is_unnamed());
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
pub struct UnixDatagram {
    pub(in crate::net) io: Endpoint<mio::net::UnixDatagram>,
}

impl UnixDatagram {
    /// A socket that is bound to a path. On Linux a path that begins with a zero byte is a name in the abstract
    /// namespace.
    ///
    /// # Errors
    ///
    /// The operating system's: the path exists, for example.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let driver = current_driver();
        let socket = UnixSocket::new_datagram()?;
        socket.bind(path)?;
        Self::register_new(&driver, mio::net::UnixDatagram::from_std(socket.into_socket().into()))
    }

    /// Two sockets that are connected to each other, and have no names.
    ///
    /// # Errors
    ///
    /// The operating system's.
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
    /// let (one, other) = rt::net::UnixDatagram::pair()?;
    /// one.send(b"a message").await?;
    /// let mut buffer = [0; 64];
    /// assert_eq!(other.recv(&mut buffer).await?, 9);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let driver = current_driver();
        let (one, other) = mio::net::UnixDatagram::pair()?;
        Ok((Self::register_new(&driver, one)?, Self::register_new(&driver, other)?))
    }

    /// A socket without a name: it can send, but nobody can answer.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        let driver = current_driver();
        Self::register_new(&driver, mio::net::UnixDatagram::unbound()?)
    }

    /// There is room to send in a new socket: no need to wait until the poller says so.
    fn register_new(driver: &Handle, socket: mio::net::UnixDatagram) -> io::Result<Self> {
        Ok(Self { io: Endpoint::register(driver, socket, BOTH_WAYS, Ready::WRITABLE)? })
    }

    /// Makes the socket at `path` the one that [`send`](Self::send) sends to, and the only one that is received from.
    ///
    /// # Errors
    ///
    /// The operating system's: nobody is bound to the path, for example.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.os().connect(&to_system(path.as_ref())?)
    }

    ready_method!();
    readable_methods!(poll_recv_ready);
    writable_methods!(poll_send_ready);
    operation_methods!();
    std_methods!(std::os::unix::net::UnixDatagram, mio::net::UnixDatagram, BOTH_WAYS);

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().local_addr().map(SocketAddr::from)
    }

    /// The address of the socket that this one is [connected](Self::connect) to.
    ///
    /// # Errors
    ///
    /// The operating system's: `NotConnected`, for example.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().peer_addr().map(SocketAddr::from)
    }

    /// Ends sending, receiving, or both.
    ///
    /// # Errors
    ///
    /// The operating system's: the socket is not connected, for example.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.source().shutdown(how)
    }

    /// For what the standard library has no method for.
    pub(super) fn os(&self) -> SockRef<'_> {
        SockRef::from(self.io.source())
    }
}

try_from_std!(std::os::unix::net::UnixDatagram => UnixDatagram);

impl fmt::Debug for UnixDatagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnixDatagram")
            .field("local", &self.local_addr().ok())
            .field("peer", &self.peer_addr().ok())
            .finish()
    }
}
