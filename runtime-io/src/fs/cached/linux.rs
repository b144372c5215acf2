//! The two system calls that std has no function for.
#![allow(unsafe_code, reason = "system calls; one of them writes into memory that is handed to it")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use crate::io::ReadBuf;

/// Whether the file is read through the cache. With `O_DIRECT` a read waits for the disk, whatever else it is told.
pub(in super::super) fn is_possible(file: &File) -> bool {
    // SAFETY: the call takes no pointer, and the descriptor is open.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DIRECT == 0
}

/// Reads up to `limit` bytes from the position of the file, and moves that, as `read` does.
///
/// # Errors
///
/// `WouldBlock` if that would take waiting.
pub(in super::super) fn read(file: &File, into: &mut ReadBuf<'_>, limit: usize) -> io::Result<usize> {
    /// Both halves of an offset of -1: from the position of the file.
    const FROM_THE_POSITION: libc::c_long = -1;
    // SAFETY: the call initialises as many bytes from the front of the memory as it returns, and no others.
    unsafe {
        into.fill_with(|memory| {
            let length = memory.len().min(limit);
            let vector = libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: length };
            // Not by its function in libc, which older versions do not have, or imitate.
            // SAFETY: the vector, and the memory that it names, are valid for the length of the call.
            let count = libc::syscall(
                libc::SYS_preadv2,
                libc::c_long::from(file.as_raw_fd()),
                &raw const vector,
                1 as libc::c_long,
                FROM_THE_POSITION,
                FROM_THE_POSITION,
                libc::RWF_NOWAIT as libc::c_long,
            );
            usize::try_from(count).map_err(|_| io::Error::last_os_error())
        })
    }
}
