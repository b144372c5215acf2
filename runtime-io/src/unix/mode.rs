//! Whether a descriptor is in non-blocking mode.
//!
//! The only `unsafe` code of this crate: an `AsyncFd` takes objects that give a mere number, and to ask the system anything about one
//! takes a borrow, which the compiler cannot vouch for.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Whether an operation on this descriptor would block instead of saying that it would.
///
/// # Errors
///
/// If there is no such descriptor.
pub(super) fn is_blocking(number: RawFd) -> io::Result<bool> {
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: not -1. By the rules of `AsRawFd` it is open as long as the object is, which the caller has. Should the object not keep to
    // them, the number goes to a system call all the same that only reads flags: of nobody, an error, or of somebody else's.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(!rustix::fs::fcntl_getfl(descriptor)?.contains(OFlags::NONBLOCK))
}

/// What is said to who brings one that is.
pub(super) fn refusal() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "the file descriptor is in blocking mode: make it non-blocking first (`O_NONBLOCK`, `set_nonblocking(true)`)",
    )
}
