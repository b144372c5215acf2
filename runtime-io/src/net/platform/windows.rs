//! What sockets are to Windows: socket handles.

use std::io;
use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, FromRawSocket, IntoRawSocket, RawSocket};

use super::backend::Socket;
use super::tcp::{TcpListener, TcpSocket, TcpStream};
use super::udp::UdpSocket;

/// Nothing: an address is free at once here, and the option of that name would let others steal it.
pub(super) fn prepare_listener(_: &Socket) -> io::Result<()> {
    Ok(())
}

/// Nothing: the system does not tell which mode a socket is in.
pub(super) fn require_nonblocking(_: impl AsSocket) -> io::Result<()> {
    Ok(())
}

/// Taken for granted: a read that runs short proves nothing here, of whatever protocol it is.
pub(super) fn is_tcp(_: impl AsSocket) -> bool {
    true
}

macro_rules! is_a_socket {
    ($($socket:ty),*) => {$(
        impl AsSocket for $socket {
            fn as_socket(&self) -> BorrowedSocket<'_> {
                self.io.lend().as_socket()
            }
        }

        impl AsRawSocket for $socket {
            fn as_raw_socket(&self) -> RawSocket {
                self.io.lend().as_raw_socket()
            }
        }
    )*};
}

is_a_socket!(TcpListener, TcpSocket, TcpStream, UdpSocket);

/// As [`TcpSocket::from_std_stream`]: it must not be connected, and be in non-blocking mode.
#[allow(unsafe_code, reason = "the trait is")]
impl FromRawSocket for TcpSocket {
    unsafe fn from_raw_socket(number: RawSocket) -> Self {
        // SAFETY: the caller's promise.
        Self::from_std_stream(unsafe { std::net::TcpStream::from_raw_socket(number) })
    }
}

impl IntoRawSocket for TcpSocket {
    fn into_raw_socket(self) -> RawSocket {
        self.io.into_os().into_raw_socket()
    }
}
