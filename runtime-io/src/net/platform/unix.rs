//! What sockets are to Unix: file descriptors, and a few options.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};

use socket2::SockRef;

use super::backend::Socket;
use super::tcp::{TcpListener, TcpSocket, TcpStream};
use super::udp::UdpSocket;
use super::unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream, pipe};

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::is_tcp;

/// Lets a server have its address back at once, although connections of its predecessor may linger.
pub(super) fn prepare_listener(socket: &Socket) -> io::Result<()> {
    socket.os().set_reuse_address(true)
}

/// An error if operations on the socket would block the worker instead of saying that they would. A courtesy: if the
/// system does not tell the mode, the caller's word is taken for it.
pub(super) fn require_nonblocking(socket: impl AsFd) -> io::Result<()> {
    if SockRef::from(&socket).nonblocking().unwrap_or(true) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "the socket is in blocking mode: call `set_nonblocking(true)` first",
    ))
}

/// Taken for granted: a read that runs short proves nothing here, of whatever protocol it is.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn is_tcp(_: impl AsFd) -> bool {
    true
}

macro_rules! is_a_descriptor {
    ($($socket:ty),*) => {$(
        impl AsFd for $socket {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.lend().as_fd()
            }
        }

        impl AsRawFd for $socket {
            fn as_raw_fd(&self) -> RawFd {
                self.io.lend().as_raw_fd()
            }
        }
    )*};
}

is_a_descriptor!(TcpListener, TcpSocket, TcpStream);
is_a_descriptor!(UdpSocket);
is_a_descriptor!(UnixDatagram, UnixListener, UnixSocket, UnixStream);
is_a_descriptor!(pipe::Receiver, pipe::Sender);

/// As [`TcpSocket::from_std_stream`]: it must not be connected, and be in non-blocking mode.
#[allow(unsafe_code, reason = "the trait is")]
impl FromRawFd for TcpSocket {
    unsafe fn from_raw_fd(number: RawFd) -> Self {
        // SAFETY: the caller's promise.
        Self::from_std_stream(unsafe { std::net::TcpStream::from_raw_fd(number) })
    }
}

impl IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> RawFd {
        self.io.into_os().into_raw_fd()
    }
}

#[cfg(not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin")))]
impl TcpSocket {
    /// Whether several sockets can be bound to the same address and share what comes in (`SO_REUSEPORT`).
    pub fn reuseport(&self) -> io::Result<bool> {
        self.io.os().reuse_port()
    }

    /// Sets [`reuseport`](Self::reuseport).
    pub fn set_reuseport(&self, reuseport: bool) -> io::Result<()> {
        self.io.os().set_reuse_port(reuseport)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use socket2::Protocol;

    use super::*;

    /// Whether it is known to be a TCP socket. The types of the standard library do not ask what they are made of.
    pub(in crate::net) fn is_tcp(socket: impl AsFd) -> bool {
        matches!(SockRef::from(&socket).protocol(), Ok(Some(Protocol::TCP)))
    }

    impl TcpSocket {
        /// The network interface that the socket is confined to, if it is (`SO_BINDTODEVICE`).
        pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
            self.io.os().device()
        }

        /// Confines the socket to a network interface, or to none.
        pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
            self.io.os().bind_device(interface)
        }
    }

    impl UdpSocket {
        /// The network interface that the socket is confined to, if it is (`SO_BINDTODEVICE`).
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
            SockRef::from(self.io.source()).device()
        }

        /// Confines the socket to a network interface, or to none.
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
            SockRef::from(self.io.source()).bind_device(interface)
        }
    }

    impl TcpStream {
        /// Whether acknowledgements are sent at once (`TCP_QUICKACK`). The system changes it as it sees fit.
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn quickack(&self) -> io::Result<bool> {
            self.io.options().tcp_quickack()
        }

        /// Sets [`quickack`](Self::quickack).
        ///
        /// # Errors
        ///
        /// The operating system's.
        pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
            self.io.options().set_tcp_quickack(quickack)
        }
    }
}
