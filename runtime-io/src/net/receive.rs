//! Reading from a socket into memory that is not initialised.
//!
//! Every socket's `poll_read` ends here, so that no buffer is filled with zeros only for the system to overwrite it.
#![allow(unsafe_code, reason = "the system writes into uninitialised memory, and says how much it wrote")]

use std::io;

use socket2::SockRef;

use crate::io::ReadBuf;

/// Receives once, into what is not filled of `buf`, and returns how many bytes that was. 0 is the end of the stream.
#[inline]
pub(crate) fn receive(socket: &SockRef<'_>, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: the count that the system returns is that of the bytes which it has written to the front of the memory.
    // Neither it nor socket2 writes anything that is uninitialised.
    unsafe { buf.fill_with(|memory| socket.recv(memory)) }
}
