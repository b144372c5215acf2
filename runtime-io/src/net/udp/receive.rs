//! Receiving, and looking at what is to be received.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use socket2::SockAddr;

use crate::interest::Interest;
use crate::io::ReadBuf;
use crate::net::receive::{peek, peek_from, receive, receive_from};
use crate::net::receive_methods::receive_methods;
use crate::readiness::Direction;

use super::UdpSocket;

/// An IP address, which is what a UDP socket has; if a foreign one was smuggled in, that is its maker's error.
fn ip(address: SockAddr) -> io::Result<SocketAddr> {
    address.as_socket().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the sender has no IP address"))
}

/// The four ways to get at a datagram.
impl UdpSocket {
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        receive(&self.os(), buf)
    }

    fn peek_at(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        peek(&self.os(), buf)
    }

    fn receive_from(&self, buf: &mut ReadBuf<'_>) -> io::Result<SocketAddr> {
        receive_from(&self.os(), buf).and_then(ip)
    }

    fn peek_at_from(&self, buf: &mut ReadBuf<'_>) -> io::Result<SocketAddr> {
        peek_from(&self.os(), buf).and_then(ip)
    }
}

impl UdpSocket {
    receive_methods!(SocketAddr);
}

/// Looking at what the next `recv` will receive.
impl UdpSocket {
    /// As [`recv`](Self::recv), and leaves the datagram to be received.
    ///
    /// # Errors
    ///
    /// See [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        self.io.async_io(Interest::READABLE, || self.peek_at(&mut buf)).await
    }

    /// As [`peek`](Self::peek), for hand-written futures. Only the last task to wait for receiving is woken.
    ///
    /// # Errors
    ///
    /// See [`recv`](Self::recv).
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io.poll_io(cx, Direction::Read, || self.peek_at(buf)).map_ok(drop)
    }

    /// As [`peek`](Self::peek), without waiting.
    ///
    /// # Errors
    ///
    /// See [`try_recv`](Self::try_recv).
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_io(Interest::READABLE, || self.peek_at(&mut ReadBuf::new(buf)))
    }
}

/// Looking at what the next `recv_from` will receive.
impl UdpSocket {
    /// As [`recv_from`](Self::recv_from), and leaves the datagram to be received.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut buf = ReadBuf::new(buf);
        let sender = self.io.async_io(Interest::READABLE, || self.peek_at_from(&mut buf)).await?;
        Ok((buf.filled().len(), sender))
    }

    /// As [`peek_from`](Self::peek_from), for hand-written futures. Only the last task to wait for receiving is woken.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn poll_peek_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_io(cx, Direction::Read, || self.peek_at_from(buf))
    }

    /// As [`peek_from`](Self::peek_from), without waiting.
    ///
    /// # Errors
    ///
    /// See [`try_recv`](Self::try_recv).
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut buf = ReadBuf::new(buf);
        let sender = self.io.try_io(Interest::READABLE, || self.peek_at_from(&mut buf))?;
        Ok((buf.filled().len(), sender))
    }

    /// Waits for a datagram, leaves it to be received, and returns who sent it.
    ///
    /// The datagram may be dropped by the system in the meantime: it can turn out to be damaged, or belong to another
    /// socket on the same address.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.async_io(Interest::READABLE, || self.os().peek_sender().and_then(ip)).await
    }

    /// As [`peek_sender`](Self::peek_sender), for hand-written futures. Only the last task to wait for receiving is
    /// woken.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_io(cx, Direction::Read, || self.os().peek_sender().and_then(ip))
    }

    /// As [`peek_sender`](Self::peek_sender), without waiting.
    ///
    /// # Errors
    ///
    /// See [`try_recv`](Self::try_recv).
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.try_io(Interest::READABLE, || self.os().peek_sender().and_then(ip))
    }
}
