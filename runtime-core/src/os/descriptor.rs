//! Descriptors that are not sockets: their mode and kind, and reading from them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

/// The status flags of a descriptor, as `fcntl` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusFlags(libc::c_int);

impl StatusFlags {
    /// Whether the descriptor can be read from.
    pub fn can_read(self) -> bool {
        matches!(self.0 & libc::O_ACCMODE, libc::O_RDONLY | libc::O_RDWR)
    }

    /// Whether the descriptor can be written to.
    pub fn can_write(self) -> bool {
        matches!(self.0 & libc::O_ACCMODE, libc::O_WRONLY | libc::O_RDWR)
    }

    /// Whether operations say that they would block instead of blocking.
    pub fn is_nonblocking(self) -> bool {
        self.0 & libc::O_NONBLOCK != 0
    }
}

/// The status flags of a descriptor.
///
/// # Errors
///
/// The operating system's.
pub fn status_flags(descriptor: impl AsFd) -> io::Result<StatusFlags> {
    // SAFETY: It reads flags and touches no memory.
    match unsafe { libc::fcntl(descriptor.as_fd().as_raw_fd(), libc::F_GETFL) } {
        -1 => Err(io::Error::last_os_error()),
        flags => Ok(StatusFlags(flags)),
    }
}

/// Puts the open file behind a descriptor into non-blocking mode, or takes it out of it.
///
/// # Errors
///
/// The operating system's.
pub fn set_nonblocking(descriptor: impl AsFd, nonblocking: bool) -> io::Result<()> {
    let StatusFlags(old) = status_flags(&descriptor)?;
    let new = if nonblocking { old | libc::O_NONBLOCK } else { old & !libc::O_NONBLOCK };
    if new == old {
        return Ok(());
    }
    // SAFETY: It sets flags and touches no memory.
    match unsafe { libc::fcntl(descriptor.as_fd().as_raw_fd(), libc::F_SETFL, new) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The flag that opens a file in non-blocking mode, for `OpenOptionsExt::custom_flags`.
pub const OPEN_NONBLOCKING: i32 = libc::O_NONBLOCK;

/// Reads once, into memory that need not be initialised, and returns how many bytes that was: as many of the memory's
/// front are initialised then.
///
/// # Errors
///
/// The operating system's.
pub fn read(descriptor: impl AsFd, memory: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    let number = descriptor.as_fd().as_raw_fd();
    // More is an error on some systems.
    let length = memory.len().min(isize::MAX as usize);
    // SAFETY: The memory is borrowed for writing, and at least as long as announced.
    match unsafe { libc::read(number, memory.as_mut_ptr().cast(), length) } {
        -1 => Err(io::Error::last_os_error()),
        count => Ok(count.unsigned_abs()),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::io::{Write, pipe};
    use std::mem::MaybeUninit;

    #[test]
    fn flags_tell_the_mode_and_the_direction() {
        let (reader, writer) = pipe().unwrap();
        let flags = super::status_flags(&reader).unwrap();
        assert!(flags.can_read() && !flags.can_write() && !flags.is_nonblocking());
        let flags = super::status_flags(&writer).unwrap();
        assert!(!flags.can_read() && flags.can_write());
        super::set_nonblocking(&reader, true).unwrap();
        assert!(super::status_flags(&reader).unwrap().is_nonblocking());
        assert!(!super::status_flags(&writer).unwrap().is_nonblocking());
        super::set_nonblocking(&reader, false).unwrap();
        assert!(!super::status_flags(&reader).unwrap().is_nonblocking());
    }

    #[test]
    fn a_read_says_how_much_it_wrote() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"abc").unwrap();
        drop(writer);
        let mut memory = [MaybeUninit::new(0); 8];
        assert_eq!(super::read(&reader, &mut memory).unwrap(), 3);
        assert_eq!(super::read(&reader, &mut memory).unwrap(), 0);
    }
}
