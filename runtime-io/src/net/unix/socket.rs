//! A socket before it is a listener, a stream or a datagram socket.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::path::Path;
use std::sync::Arc;

use socket2::{Domain, SockAddr, Type};

use crate::driver::Handle;
use crate::net::platform;
use crate::registration::current_driver;

use super::address::to_system;
use super::{UnixDatagram, UnixListener, UnixStream};

/// A Unix socket that is neither connected nor listening yet: to bind a stream before it connects, or to choose how
/// many connections a listener keeps.
///
/// # Example
///
/// ```
/// use rt::net::UnixSocket;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let directory = std::env::temp_dir().join(format!("rt-doc-socket-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("socket");
/// # let _ = std::fs::remove_file(&path);
/// let socket = UnixSocket::new_stream()?;
/// socket.bind(&path)?;
/// let listener = socket.listen(128)?;
///
/// let client = UnixSocket::new_stream()?.connect(&path).await?;
/// assert_eq!(client.peer_addr()?.as_pathname(), Some(&*path));
/// # drop(listener);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
pub struct UnixSocket {
    pub(in crate::net) io: Unregistered,
}

/// The socket in it.
pub(in crate::net) struct Unregistered(socket2::Socket);

impl Unregistered {
    /// For somebody outside who wants the raw handle. Nothing is presumed of what it becomes.
    pub(in crate::net) fn lend(&self) -> &socket2::Socket {
        &self.0
    }
}

fn wrong_kind(what: &str) -> io::Error {
    io::Error::other(what)
}

impl UnixSocket {
    /// A socket for [`UnixStream`] and [`UnixListener`].
    ///
    /// # Errors
    ///
    /// The operating system's: too many files are open, for example.
    pub fn new_stream() -> io::Result<UnixSocket> {
        Self::new(Type::STREAM)
    }

    /// A socket for [`UnixDatagram`].
    ///
    /// # Errors
    ///
    /// The operating system's: too many files are open, for example.
    pub fn new_datagram() -> io::Result<UnixSocket> {
        Self::new(Type::DGRAM)
    }

    fn new(kind: Type) -> io::Result<UnixSocket> {
        let socket = socket2::Socket::new(Domain::UNIX, kind, None)?;
        socket.set_nonblocking(true)?;
        Ok(Self { io: Unregistered(socket) })
    }

    fn is(&self, kind: Type) -> io::Result<bool> {
        Ok(self.io.0.r#type()? == kind)
    }

    pub(super) fn into_socket(self) -> socket2::Socket {
        self.io.0
    }

    /// Gives the socket a path. On Linux a path that begins with a zero byte is a name in the abstract namespace.
    ///
    /// # Errors
    ///
    /// The operating system's: the path exists, for example.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.bind_system(&to_system(path.as_ref())?)
    }

    pub(super) fn bind_system(&self, address: &SockAddr) -> io::Result<()> {
        self.io.0.bind(address)
    }

    /// Makes it a listener that keeps up to `backlog` connections which are yet to be accepted.
    ///
    /// # Errors
    ///
    /// The operating system's; of kind [`Other`](io::ErrorKind::Other) if it is a datagram socket, and
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it came from outside in blocking mode.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        if self.is(Type::DGRAM)? {
            return Err(wrong_kind("listen cannot be called on a datagram socket"));
        }
        self.listen_on(current_driver(), backlog)
    }

    /// At most `backlog` connections wait to be accepted, and no more than the system allows.
    pub(super) fn listen_on(self, driver: Arc<Handle>, backlog: u32) -> io::Result<UnixListener> {
        let socket = self.io.0;
        platform::require_nonblocking(&socket)?;
        socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        UnixListener::register(driver, mio::net::UnixListener::from_std(socket.into()))
    }

    /// Connects the socket to the listener at a path.
    ///
    /// # Errors
    ///
    /// As those of [`UnixStream::connect`]; of kind [`Other`](io::ErrorKind::Other) if it is a datagram socket, and
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it came from outside in blocking mode.
    ///
    /// # Panics
    ///
    /// When polled outside of a runtime with I/O enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(self, path: P) -> impl Future<Output = io::Result<UnixStream>> + use<P> {
        let address = to_system(path.as_ref());
        drop(path);
        let socket = self.is(Type::DGRAM).and_then(|is_datagram| match is_datagram {
            true => Err(wrong_kind("connect cannot be called on a datagram socket")),
            false => Ok(self),
        });
        let connecting = UnixStream::connect_system(|| socket, address);
        // Others may know the descriptor, and it may be of sequenced packets.
        async { connecting.await.inspect(UnixStream::be_wary) }
    }

    /// Starts to connect. It has succeeded when the stream is writable and has no error.
    pub(super) fn connect_now(self, address: &SockAddr) -> io::Result<mio::net::UnixStream> {
        let socket = self.io.0;
        platform::require_nonblocking(&socket)?;
        match socket.connect(address) {
            Err(error) if error.raw_os_error() != Some(runtime_core::os::IN_PROGRESS) => Err(error),
            _ => Ok(mio::net::UnixStream::from_std(socket.into())),
        }
    }

    /// Makes it a datagram socket.
    ///
    /// # Errors
    ///
    /// Of kind [`Other`](io::ErrorKind::Other) if it is a stream socket; [`InvalidInput`](io::ErrorKind::InvalidInput)
    /// if it came from outside in blocking mode; and if it cannot be registered with the driver.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        if self.is(Type::STREAM)? {
            return Err(wrong_kind("datagram cannot be called on a stream socket"));
        }
        UnixDatagram::from_std(self.io.0.into())
    }
}

/// It must be a Unix socket, and be in non-blocking mode.
#[allow(unsafe_code, reason = "the trait is")]
impl FromRawFd for UnixSocket {
    unsafe fn from_raw_fd(number: RawFd) -> UnixSocket {
        // SAFETY: the caller's promise.
        Self { io: Unregistered(unsafe { socket2::Socket::from_raw_fd(number) }) }
    }
}

impl IntoRawFd for UnixSocket {
    fn into_raw_fd(self) -> RawFd {
        self.io.0.into_raw_fd()
    }
}

impl fmt::Debug for UnixSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnixSocket").field(&self.io.0).finish()
    }
}
