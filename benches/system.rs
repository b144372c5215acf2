//! What the workloads need of a runtime beside TCP and files. Implemented for each of them in `runtimes/system.rs`.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

#[cfg(unix)]
use crate::runtime::Stream;

/// UDP, Unix sockets and child processes, as a task sees them.
pub trait System {
    /// A UDP socket.
    type Udp: Datagrams;
    /// A Unix stream socket.
    #[cfg(unix)]
    type Unix: Stream;

    /// Binds a UDP socket to some port of the loopback interface.
    fn bind_udp() -> impl Future<Output = io::Result<Self::Udp>> + Send;

    /// Makes two sockets that are connected.
    #[cfg(unix)]
    fn unix_pair() -> io::Result<(Self::Unix, Self::Unix)>;

    /// Starts a program, waits for its end, and says whether it succeeded.
    #[cfg(unix)]
    fn run_program(program: &'static str) -> impl Future<Output = io::Result<bool>> + Send;
}

/// A UDP socket. The methods are the runtime's own.
pub trait Datagrams: Send + Sync + 'static {
    /// Where it is bound.
    fn address(&self) -> io::Result<SocketAddr>;

    /// Sets whom it sends to and receives from.
    fn connect(&self, peer: SocketAddr) -> impl Future<Output = io::Result<()>> + Send;

    /// Sends a datagram to the peer.
    fn send(&self, datagram: &[u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Receives one from the peer.
    fn receive(&self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;
}

/// A stream to copy from and to, as the runtime's users copy.
pub trait Relay: Sized {
    /// Copies all that comes from here to the other one, and ends that.
    fn relay(self, to: Self) -> impl Future<Output = io::Result<u64>> + Send;

    /// Copies in both directions, until both have ended: how much went to the other one, and how much came from it.
    fn relay_both(self, other: Self) -> impl Future<Output = io::Result<(u64, u64)>> + Send;
}
