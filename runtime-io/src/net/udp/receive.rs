//! Receiving, and looking at what is to be received.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

#[cfg(feature = "io-util")]
use bytes::BufMut;
use socket2::SockAddr;

use crate::interest::Interest;
use crate::io::ReadBuf;
#[cfg(feature = "io-util")]
use crate::net::receive::fill;
use crate::net::receive::{peek, peek_from, receive, receive_from};
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

/// From the address that the socket is connected to.
impl UdpSocket {
    /// Waits for a datagram, and returns its length, as far as there was room for it.
    ///
    /// Of a socket that is not [connected](Self::connect) it can be from anybody.
    ///
    /// # Errors
    ///
    /// The operating system's: nobody was there for an earlier datagram (`ConnectionRefused`), for example.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no datagram was received.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        self.io.async_io(Interest::READABLE, || self.receive(&mut buf)).await
    }

    /// As [`recv`](Self::recv), for hand-written futures, into memory that need not be initialised. Only the last task
    /// to wait for receiving is woken.
    ///
    /// # Errors
    ///
    /// See [`recv`](Self::recv).
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io.poll_io(cx, Direction::Read, || self.receive(buf)).map_ok(drop)
    }

    /// As [`recv`](Self::recv), without waiting.
    ///
    /// # Errors
    ///
    /// See [`recv`](Self::recv); `WouldBlock` if nothing is there, or none is known to be until
    /// [`readable`](Self::readable) has returned.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_io(Interest::READABLE, || self.receive(&mut ReadBuf::new(buf)))
    }

    /// As [`recv`](Self::recv), into what `buf` has to offer, which need not be initialised.
    ///
    /// # Errors
    ///
    /// See [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no datagram was received.
    #[cfg(feature = "io-util")]
    pub async fn recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        let (count, _) = self.io.async_io(Interest::READABLE, || fill(buf, |part| self.receive(part))).await?;
        Ok(count)
    }

    /// As [`recv_buf`](Self::recv_buf), without waiting.
    ///
    /// # Errors
    ///
    /// See [`try_recv`](Self::try_recv).
    #[cfg(feature = "io-util")]
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.io.try_io(Interest::READABLE, || fill(buf, |part| self.receive(part))).map(|(count, _)| count)
    }

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

/// From anybody.
impl UdpSocket {
    /// Waits for a datagram, and returns its length, as far as there was room for it, and who sent it.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no datagram was received.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut buf = ReadBuf::new(buf);
        let sender = self.io.async_io(Interest::READABLE, || self.receive_from(&mut buf)).await?;
        Ok((buf.filled().len(), sender))
    }

    /// As [`recv_from`](Self::recv_from), for hand-written futures, into memory that need not be initialised. Only the
    /// last task to wait for receiving is woken.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn poll_recv_from(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_io(cx, Direction::Read, || self.receive_from(buf))
    }

    /// As [`recv_from`](Self::recv_from), without waiting.
    ///
    /// # Errors
    ///
    /// See [`try_recv`](Self::try_recv).
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut buf = ReadBuf::new(buf);
        let sender = self.io.try_io(Interest::READABLE, || self.receive_from(&mut buf))?;
        Ok((buf.filled().len(), sender))
    }

    /// As [`recv_from`](Self::recv_from), into what `buf` has to offer, which need not be initialised.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no datagram was received.
    #[cfg(feature = "io-util")]
    pub async fn recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.io.async_io(Interest::READABLE, || fill(buf, |part| self.receive_from(part))).await
    }

    /// As [`recv_buf_from`](Self::recv_buf_from), without waiting.
    ///
    /// # Errors
    ///
    /// See [`try_recv`](Self::try_recv).
    #[cfg(feature = "io-util")]
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.io.try_io(Interest::READABLE, || fill(buf, |part| self.receive_from(part)))
    }

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
