//! The system calls that std has no function for, made safe.
//!
//! They are here, and not in the crates that use them, so that those need no `unsafe`. A sandbox may refuse any of
//! them, at any time: the caller must go on without it. (Not so the clock, without which std does not work either.)

#[cfg(unix)]
pub mod descriptor;
#[cfg(unix)]
pub mod peer;
#[cfg(unix)]
pub mod stream;

/// The number of the error by which `connect` says that it takes time.
#[cfg(unix)]
pub const IN_PROGRESS: i32 = libc::EINPROGRESS;

/// The monotonic clock that `Instant` is made of, in nanoseconds since some time before the process began.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(loom)))]
#[inline]
pub(crate) fn monotonic_nanos() -> u64 {
    // SAFETY: All zeroes is a value of this struct of numbers, which has more fields on some systems.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: The pointer is to a local.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    // Each Linux has this clock.
    assert_eq!(result, 0, "there is no monotonic clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A timer that makes a descriptor readable, to the nanosecond (`timerfd`, on the monotonic clock).
#[cfg(any(target_os = "linux", target_os = "android"))]
#[derive(Debug)]
pub struct TimerFd(std::os::fd::OwnedFd);

#[cfg(any(target_os = "linux", target_os = "android"))]
impl TimerFd {
    /// Makes a timer that is not set. `None` where the system does not let this process have one.
    ///
    /// # Errors
    ///
    /// If the process or the system has no more descriptors, or no memory.
    pub fn new() -> std::io::Result<Option<Self>> {
        use std::os::fd::FromRawFd;

        // SAFETY: It takes two numbers, and touches no memory.
        match unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) } {
            -1 => {
                let error = std::io::Error::last_os_error();
                let is_exhausted = matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM));
                if is_exhausted { Err(error) } else { Ok(None) }
            }
            // SAFETY: The descriptor has just been made, and nobody else knows it.
            number => Ok(Some(Self(unsafe { std::os::fd::OwnedFd::from_raw_fd(number) }))),
        }
    }

    /// Sets the timer, in place of what it was set to: the descriptor is not readable until `after` has passed. A
    /// time of zero sets it to nothing.
    ///
    /// # Errors
    ///
    /// Whatever the system reports. The timer is as it was then.
    pub fn set(&self, after: std::time::Duration) -> std::io::Result<()> {
        use std::os::fd::AsRawFd;

        // SAFETY: All zeroes is a value of this struct of numbers. (No interval: the timer fires once.)
        let mut setting: libc::itimerspec = unsafe { std::mem::zeroed() };
        setting.it_value.tv_sec = libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX);
        setting.it_value.tv_nsec = after.subsec_nanos() as _;
        // SAFETY: The descriptor is ours, the pointer is to a local, and nothing is asked back.
        let result = unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &raw const setting, std::ptr::null_mut()) };
        if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl std::os::fd::AsFd for TimerFd {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor of a process, which becomes readable when the process has ended. The number of the process must be
/// that of a child which nobody has waited for, as it may be given to another process then.
///
/// # Errors
///
/// Whatever the system reports: it knows of no such descriptors, or there is no such process any more, for example.
#[cfg(target_os = "linux")]
pub fn open_process(id: u32) -> std::io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;

    // SAFETY: It takes two numbers, and touches no memory. The descriptor is closed on `exec` without being asked.
    let number =
        unsafe { libc::syscall(libc::SYS_pidfd_open, libc::c_long::from(id.cast_signed()), 0 as libc::c_long) };
    match std::os::fd::RawFd::try_from(number) {
        // SAFETY: It was made just now, and is ours.
        Ok(number) if number >= 0 => Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(number) }),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use std::fs::File;
    use std::io::{ErrorKind, Read};
    use std::os::fd::AsRawFd;
    use std::time::{Duration, Instant};

    #[test]
    fn a_timer_can_be_read_when_its_time_has_passed_and_not_before() {
        let timer = super::TimerFd::new().unwrap().expect("a timer");
        let fired = || {
            let mut count = [0; 8];
            File::from(timer.0.try_clone().unwrap()).read(&mut count).map(|_| u64::from_ne_bytes(count))
        };
        assert_eq!(fired().unwrap_err().kind(), ErrorKind::WouldBlock, "it has not been set");

        let (begin, time) = (Instant::now(), Duration::from_micros(300));
        timer.set(time).unwrap();
        while fired().is_err() {}
        assert!(begin.elapsed() >= time);

        timer.set(Duration::MAX).unwrap();
        timer.set(Duration::ZERO).unwrap();
        assert_eq!(fired().unwrap_err().kind(), ErrorKind::WouldBlock, "it has been set to nothing");
    }

    #[test]
    fn a_process_that_has_ended_is_readable() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        // Where the kernel has it: since Linux 5.3.
        if let Ok(process) = super::open_process(child.id()) {
            child.kill().unwrap();
            let mut entry = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: The pointer is to the one entry that is announced.
            assert_eq!(unsafe { libc::poll(&raw mut entry, 1, -1) }, 1);
            assert!(child.try_wait().unwrap().is_some());
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(super::open_process(u32::MAX).is_err());
    }
}
