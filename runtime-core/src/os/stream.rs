//! Reading from a stream socket in such a way that the reader learns whether more than bytes came, and ended the read.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

/// What [`receive`] has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// How many bytes: as many of the memory's front are initialised. 0 is the end of the stream.
    pub count: usize,
    /// Whether anything may have come with the bytes that is not received: descriptors or credentials on a Unix stream;
    /// the type of a record where the system speaks TLS on a TCP stream. Reads end where such things change, so there
    /// may be more to be read. Where the system does not tell, this is always so.
    pub may_have_more_than_bytes: bool,
}

/// Reads once, into memory that need not be initialised. Descriptors that come with the bytes are closed by the system,
/// as in any plain read.
///
/// # Errors
///
/// The operating system's.
pub fn receive(socket: impl AsFd, memory: &mut [MaybeUninit<u8>]) -> io::Result<Received> {
    system::receive(socket.as_fd(), memory)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::io;
    use std::mem::{self, MaybeUninit};
    use std::os::fd::{AsRawFd, BorrowedFd};

    use super::Received;

    /// By `recvmsg` without room for control messages: Linux sets `MSG_CTRUNC` if there was one.
    pub(super) fn receive(socket: BorrowedFd<'_>, memory: &mut [MaybeUninit<u8>]) -> io::Result<Received> {
        let mut part = libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() };
        // SAFETY: All zeroes is a value of this struct of numbers and pointers.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        // SAFETY: The pointers are to locals, and the memory is borrowed for writing and as long as announced.
        match unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) } {
            -1 => Err(io::Error::last_os_error()),
            count => Ok(Received {
                count: count.unsigned_abs(),
                may_have_more_than_bytes: message.msg_flags & libc::MSG_CTRUNC != 0,
            }),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::BorrowedFd;

    use super::Received;

    pub(super) fn receive(socket: BorrowedFd<'_>, memory: &mut [MaybeUninit<u8>]) -> io::Result<Received> {
        let count = crate::os::descriptor::read(socket, memory)?;
        Ok(Received { count, may_have_more_than_bytes: true })
    }
}
