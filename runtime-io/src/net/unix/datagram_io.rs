//! Sending and receiving messages.

use std::io;
use std::path::Path;
use std::task::{Context, Poll};

#[cfg(feature = "io-util")]
use bytes::BufMut;
use socket2::SockAddr;

use crate::interest::Interest;
use crate::io::ReadBuf;
#[cfg(feature = "io-util")]
use crate::net::receive::fill;
use crate::net::receive::{receive, receive_from};
use crate::readiness::Direction;

use super::address::{from_system, to_system};
use super::{SocketAddr, UnixDatagram};

/// One attempt each.
impl UnixDatagram {
    fn send_now(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.source().send(buf)
    }

    fn send_to_now(&self, buf: &[u8], target: &SockAddr) -> io::Result<usize> {
        self.os().send_to(buf, target)
    }

    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        receive(&self.os(), buf)
    }

    fn receive_from(&self, buf: &mut ReadBuf<'_>) -> io::Result<SocketAddr> {
        receive_from(&self.os(), buf).and_then(|sender| from_system(&sender))
    }
}

/// From the address that the socket is connected to.
impl UnixDatagram {
    /// Waits for a message, and returns its length, as far as there was room for it.
    ///
    /// Of a socket that is not [connected](Self::connect) it can be from anybody.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no message was received.
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
    /// Cancel safe: if it is dropped before it is done, no message was received.
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
}

/// From anybody.
impl UnixDatagram {
    /// Waits for a message, and returns its length, as far as there was room for it, and who sent it.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, no message was received.
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
    /// Cancel safe: if it is dropped before it is done, no message was received.
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
}

/// To the socket that this one is connected to.
impl UnixDatagram {
    /// Waits until there is room, and sends a message to the socket that this one is [connected](Self::connect) to, and
    /// returns its length.
    ///
    /// # Errors
    ///
    /// The operating system's: the socket is not connected, the message is too long, or the other socket is gone
    /// (`ConnectionRefused`).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was sent.
    pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.async_io(Interest::WRITABLE, || self.send_now(buf)).await
    }

    /// As [`send`](Self::send), for hand-written futures. Only the last task to wait for sending is woken.
    ///
    /// # Errors
    ///
    /// See [`send`](Self::send).
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, || self.send_now(buf))
    }

    /// As [`send`](Self::send), without waiting.
    ///
    /// # Errors
    ///
    /// See [`send`](Self::send); `WouldBlock` if there is no room, or none is known of until
    /// [`writable`](Self::writable) has returned.
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, || self.send_now(buf))
    }
}

/// To the socket at a path.
impl UnixDatagram {
    /// Waits until there is room, sends a message to the socket at a path, and returns its length.
    ///
    /// # Errors
    ///
    /// The operating system's: nobody is bound to the path, or the message is too long, for example.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if it is dropped before it is done, nothing was sent.
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        let address = to_system(target.as_ref())?;
        drop(target);
        self.io.async_io(Interest::WRITABLE, || self.send_to_now(buf, &address)).await
    }

    /// As [`send_to`](Self::send_to), for hand-written futures. Only the last task to wait for sending is woken.
    ///
    /// # Errors
    ///
    /// See [`send_to`](Self::send_to).
    pub fn poll_send_to<P: AsRef<Path>>(&self, cx: &mut Context<'_>, buf: &[u8], target: P) -> Poll<io::Result<usize>> {
        let address = to_system(target.as_ref())?;
        self.io.poll_io(cx, Direction::Write, || self.send_to_now(buf, &address))
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// See [`send_to`](Self::send_to); `WouldBlock` if there is no room, or none is known of until
    /// [`writable`](Self::writable) has returned.
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        let address = to_system(target.as_ref())?;
        self.io.try_io(Interest::WRITABLE, || self.send_to_now(buf, &address))
    }
}
