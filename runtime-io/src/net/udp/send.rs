//! Sending.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use crate::interest::Interest;
use crate::net::addr::ToSocketAddrs;
use crate::readiness::Direction;

use super::UdpSocket;

/// To the address that the socket is connected to.
impl UdpSocket {
    /// Sends a datagram to the address that the socket is [connected](Self::connect) to, and returns its length.
    ///
    /// # Errors
    ///
    /// The operating system's: the socket is not connected, the datagram is too long, or nobody was there for an
    /// earlier one (`ConnectionRefused`).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was sent.
    pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.registration().async_io(Interest::WRITABLE, || self.io.source().send(buf)).await
    }

    /// As [`send`](Self::send), for hand-written futures. Only the last task to wait for sending is woken.
    ///
    /// # Errors
    ///
    /// See [`send`](Self::send).
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.registration().poll_io(cx, Direction::Write, || self.io.source().send(buf))
    }

    /// As [`send`](Self::send), without waiting.
    ///
    /// # Errors
    ///
    /// See [`send`](Self::send); `WouldBlock` if there is no room, or none is known of until
    /// [`writable`](Self::writable) has returned.
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.registration().try_io(Interest::WRITABLE, || self.io.source().send(buf))
    }
}

/// To any address.
impl UdpSocket {
    /// Sends a datagram to an address, and returns its length.
    ///
    /// If `target` stands for several addresses, it is sent to the first of them. (Resolve a name once, with
    /// [`lookup_host`](crate::net::lookup_host), to send more than one.)
    ///
    /// # Errors
    ///
    /// What the resolver or the operating system says: the datagram is too long, for example, or the address of
    /// another family than the socket.
    ///
    /// # Panics
    ///
    /// If `target` is a name and this is polled outside of a runtime.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was sent.
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], target: A) -> io::Result<usize> {
        let query = target.to_query();
        drop(target);
        let Some(target) = query.resolve().await?.next() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no address to send to"));
        };
        self.io.registration().async_io(Interest::WRITABLE, || self.io.source().send_to(buf, target)).await
    }

    /// As [`send_to`](Self::send_to), for hand-written futures. Only the last task to wait for sending is woken.
    ///
    /// # Errors
    ///
    /// See [`send_to`](Self::send_to).
    pub fn poll_send_to(&self, cx: &mut Context<'_>, buf: &[u8], target: SocketAddr) -> Poll<io::Result<usize>> {
        self.io.registration().poll_io(cx, Direction::Write, || self.io.source().send_to(buf, target))
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// See [`send_to`](Self::send_to); `WouldBlock` if there is no room, or none is known of until
    /// [`writable`](Self::writable) has returned.
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io.registration().try_io(Interest::WRITABLE, || self.io.source().send_to(buf, target))
    }
}
