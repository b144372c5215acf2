//! Reading from a socket into memory that is not initialised.
//!
//! Every socket's `poll_read` ends here, so that no buffer is filled with zeros only for the system to overwrite it.
#![allow(unsafe_code, reason = "the system writes into uninitialised memory, and says how much it wrote")]

use std::io;
#[cfg(feature = "io-util")]
use std::task::Poll;

use socket2::{SockAddr, SockRef};

use crate::io::ReadBuf;

/// Receives once, into what is not filled of `buf`, and returns how many bytes that was. 0 is the end of the stream.
#[inline]
pub(crate) fn receive(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: the count that the system returns is that of the bytes which it has written to the front of the memory.
    // Neither it nor socket2 writes anything that is uninitialised.
    unsafe { buf.fill_with(|memory| socket.recv(memory)) }
}

/// As [`receive`]. Also says whether anything may have come with the bytes that ended the read, with more to be read.
#[cfg(unix)]
#[inline]
pub(crate) fn receive_telling(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<(usize, bool)> {
    let mut may_have_more = false;
    // SAFETY: the count is that of the bytes which the system has written to the front of the memory.
    let received = unsafe {
        buf.fill_with(|memory| {
            let received = runtime_core::os::stream::receive(&**socket, memory)?;
            may_have_more = received.may_have_more_than_bytes;
            Ok(received.count)
        })
    };
    received.map(|count| (count, may_have_more))
}

/// The system does not tell.
#[cfg(not(unix))]
pub(crate) fn receive_telling(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<(usize, bool)> {
    receive(socket, buf).map(|count| (count, true))
}

/// As [`receive`], and leaves what was received in the socket.
#[inline]
pub(crate) fn peek(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: as in `receive`.
    unsafe { buf.fill_with(|memory| socket.peek(memory)) }
}

/// As [`receive`], and returns the sender's address.
#[inline]
pub(crate) fn receive_from(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<SockAddr> {
    with_sender(buf, |buf, sender| {
        // SAFETY: as in `receive`.
        unsafe {
            buf.fill_with(|memory| {
                let (count, address) = socket.recv_from(memory)?;
                *sender = Some(address);
                Ok(count)
            })
        }
    })
}

/// As [`receive_from`], and leaves what was received in the socket.
#[inline]
pub(crate) fn peek_from(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<SockAddr> {
    with_sender(buf, |buf, sender| {
        // SAFETY: as in `receive`.
        unsafe {
            buf.fill_with(|memory| {
                let (count, address) = socket.peek_from(memory)?;
                *sender = Some(address);
                Ok(count)
            })
        }
    })
}

/// Gets the address out of a closure that has to return a count.
fn with_sender(
    buf: &mut ReadBuf<'_>,
    receive: impl FnOnce(&mut ReadBuf<'_>, &mut Option<SockAddr>) -> io::Result<usize>,
) -> io::Result<SockAddr> {
    let mut sender = None;
    receive(buf, &mut sender)?;
    Ok(sender.expect("a call that succeeds leaves the sender"))
}

/// Reads once from a descriptor that may be no socket, as [`receive`] does from one.
#[cfg(unix)]
#[inline]
pub(crate) fn read(descriptor: impl std::os::fd::AsFd, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: `read` returns how many bytes of the memory's front it has initialised, and uninitialises none.
    unsafe { buf.fill_with(|memory| runtime_core::os::descriptor::read(descriptor, memory)) }
}

/// Lets `read` fill the memory that `buf` has to offer, counts in `buf` what was filled, and returns how many bytes
/// that was, with what `read` returned. If `read` fails, nothing is counted.
#[cfg(feature = "io-util")]
pub(crate) fn fill<B: bytes::BufMut, R>(
    buf: &mut B,
    read: impl FnOnce(&mut ReadBuf<'_>) -> io::Result<R>,
) -> io::Result<(usize, R)> {
    let mut returned = None;
    let outcome = crate::io::poll_fill_mut(buf, |part| {
        returned = Some(read(part)?);
        Poll::Ready(Ok(()))
    });
    match (outcome, returned) {
        (Poll::Ready(Ok(count)), Some(returned)) => Ok((count, returned)),
        (Poll::Ready(Err(error)), _) => Err(error),
        _ => unreachable!("the read above is never pending, and leaves something if it succeeds"),
    }
}
