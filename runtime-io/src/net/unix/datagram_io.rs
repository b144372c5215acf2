//! Sending and receiving messages.

use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use socket2::SockAddr;

use crate::interest::Interest;
use crate::io::ReadBuf;
use crate::net::receive::{receive, receive_from};
use crate::net::receive_methods::receive_methods;
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

impl UnixDatagram {
    receive_methods!(SocketAddr);
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
