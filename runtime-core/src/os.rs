//! The system calls that std has no function for, made safe.
//!
//! They are here, and not in the crates that use them, so that those need no `unsafe`. A sandbox may refuse any of
//! them, at any time: whoever calls one must go on without it.

/// The number of the error by which `connect` says that it takes time.
#[cfg(unix)]
pub const IN_PROGRESS: i32 = libc::EINPROGRESS;

/// Waits until the descriptor is readable or the time is over, which `ppoll` counts in nanoseconds.
///
/// # Errors
///
/// Whatever the system reports, an interruption by a signal included.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn wait_readable(descriptor: impl std::os::fd::AsFd, timeout: std::time::Duration) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;

    let descriptor = descriptor.as_fd();
    let mut entry = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: All zeroes is a value of this struct of numbers.
    let mut limit: libc::timespec = unsafe { std::mem::zeroed() };
    limit.tv_sec = libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX);
    limit.tv_nsec = timeout.subsec_nanos() as _;
    // SAFETY: Both pointers are to locals, the first to the one entry that is announced. No signal mask is given.
    let result = unsafe { libc::ppoll(&raw mut entry, 1, &raw const limit, std::ptr::null()) };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether an operation on the descriptor of that number would block instead of saying that it would.
///
/// # Errors
///
/// If there is no such descriptor.
#[cfg(unix)]
pub fn is_blocking(number: std::os::fd::RawFd) -> std::io::Result<bool> {
    // SAFETY: It reads flags and touches no memory. A number that is nobody's is refused.
    match unsafe { libc::fcntl(number, libc::F_GETFL) } {
        -1 => Err(std::io::Error::last_os_error()),
        flags => Ok(flags & libc::O_NONBLOCK == 0),
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    #[test]
    fn a_wait_ends_with_the_time_or_with_something_to_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let begin = Instant::now();
        super::wait_readable(&ours, Duration::from_micros(300)).unwrap();
        assert!(begin.elapsed() >= Duration::from_micros(300));

        theirs.write_all(b"!").unwrap();
        // Without an end of its own.
        super::wait_readable(&ours, Duration::MAX).unwrap();
    }

    #[test]
    fn a_descriptor_is_blocking_until_it_is_made_not_to() {
        use std::os::fd::AsRawFd;

        let (ours, _theirs) = UnixStream::pair().unwrap();
        assert!(super::is_blocking(ours.as_raw_fd()).unwrap());
        ours.set_nonblocking(true).unwrap();
        assert!(!super::is_blocking(ours.as_raw_fd()).unwrap());
        assert!(super::is_blocking(-1).is_err());
    }
}
