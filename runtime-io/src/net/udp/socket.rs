//! The socket: how one comes by it, what it is connected to, and when it is ready.

use std::fmt;
use std::future::{Future, ready};
use std::io;
use std::net::SocketAddr;

use socket2::SockRef;

use crate::located::with_driver;
use crate::net::addr::{ToSocketAddrs, first_that_works};
use crate::net::endpoint::{BOTH_WAYS, Endpoint, carriers};
use crate::net::methods::{
    operation_methods, readable_methods, ready_method, std_methods, try_from_std, writable_methods,
};
use crate::ready::Ready;

carriers!(mio::net::UdpSocket);

/// A UDP socket.
///
/// It sends to and receives from anybody ([`send_to`](Self::send_to), [`recv_from`](Self::recv_from)), or, once it is
/// [connected](Self::connect), one address only ([`send`](Self::send), [`recv`](Self::recv)). All of it takes `&self`:
/// share a socket among tasks in an [`Arc`](std::sync::Arc). Any number of tasks can wait in its async methods; of
/// those that poll by hand only the last one of each direction is woken.
///
/// A datagram that is longer than the buffer it is received into is cut off, and the rest of it is lost. (On Windows
/// that is an error.) A buffer of 64 KiB holds every one.
///
/// Options that it has no methods for can be set through `socket2::SockRef::from(&socket)`. Calls that it has no
/// methods for, such as those with control messages, go through [`try_io`](Self::try_io) or
/// [`async_io`](Self::async_io).
///
/// # Example
///
/// ```
/// use rt::net::UdpSocket;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let server = UdpSocket::bind("127.0.0.1:0").await?;
/// let client = UdpSocket::bind("127.0.0.1:0").await?;
/// client.connect(server.local_addr()?).await?;
/// client.send(b"hello").await?;
///
/// let mut buffer = [0; 64];
/// let (length, from) = server.recv_from(&mut buffer).await?;
/// server.send_to(&buffer[..length], from).await?;
/// assert_eq!(client.recv(&mut buffer).await?, 5);
/// assert_eq!(&buffer[..5], b"hello");
/// # Ok(())
/// # }
/// ```
pub struct UdpSocket {
    pub(in crate::net) io: Endpoint<mio::net::UdpSocket>,
}

impl UdpSocket {
    /// Binds a socket to the first address that can be bound to.
    ///
    /// Port 0 asks for any free port: find it with [`local_addr`](Self::local_addr).
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
    /// let socket = rt::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_ne!(socket.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        let query = addr.to_query();
        with_driver(|driver| async move {
            let attempt = |addr| {
                ready(mio::net::UdpSocket::bind(addr).and_then(|socket| {
                    // There is room to send in a new socket: no need to wait until the poller says so.
                    Ok(Self { io: Endpoint::register(&driver, socket, BOTH_WAYS, Ready::WRITABLE)? })
                }))
            };
            first_that_works(query, attempt).await
        })
    }

    /// Makes `addr` the address that [`send`](Self::send) sends to, and the only one that is received from.
    ///
    /// Of several addresses it is the first that the system accepts. Nothing is sent: that nobody is there is told
    /// later, by [`send`](Self::send) or [`recv`](Self::recv), if at all. A socket can be connected again.
    ///
    /// # Errors
    ///
    /// What the resolver or the operating system says; with several addresses, of the last one.
    ///
    /// # Panics
    ///
    /// If `addr` is a name and this is polled outside of a runtime.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: until the name is looked up, nothing has changed.
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        let query = addr.to_query();
        drop(addr);
        first_that_works(query, |addr| ready(self.io.source().connect(addr))).await
    }

    ready_method!();
    readable_methods!(poll_recv_ready);
    writable_methods!(poll_send_ready);
    operation_methods!();
    std_methods!(std::net::UdpSocket, mio::net::UdpSocket, BOTH_WAYS);

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().local_addr()
    }

    /// The address that the socket is [connected](Self::connect) to.
    ///
    /// # Errors
    ///
    /// The operating system's: `NotConnected`, for example.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.source().peer_addr()
    }

    /// For options only.
    pub(super) fn os(&self) -> SockRef<'_> {
        SockRef::from(self.io.source())
    }
}

try_from_std!(std::net::UdpSocket => UdpSocket);

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket")
            .field("local", &self.local_addr().ok())
            .field("peer", &self.peer_addr().ok())
            .finish()
    }
}
