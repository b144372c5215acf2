//! Waits in the poller; for short times more exactly than the poller itself can.
//!
//! epoll counts timeouts in whole milliseconds, rounded up: a timer that is due in 0.3 ms would be 0.7 ms late. On
//! Linux a short wait therefore goes through `ppoll`, which counts nanoseconds, on the poller's own descriptor: that is
//! readable when the poller has events. It costs one more system call, on a thread that had nothing to do anyway. For
//! long waits, and elsewhere, the poller's own timeout has to do.
//!
//! It also has to do where the system refuses `ppoll`: in a sandbox that allows what epoll needs and nothing else
//! (`seccomp`, also one that the process enters while the runtime is at work). The refusal is not remembered: it costs
//! one call that returns at once, and then the thread waits as it wanted to.

use std::io;
use std::time::Duration;

/// Waits for events, for `timeout` at most; without one, until there are any.
pub(super) fn wait(poll: &mut mio::Poll, events: &mut mio::Events, timeout: Option<Duration>) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(waited) = exact::wait(poll, timeout) {
        waited?;
        return poll.poll(events, Some(Duration::ZERO));
    }
    poll.poll(events, timeout)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod exact {
    use std::io;
    use std::time::Duration;

    use runtime_core::os;

    /// Longer waits are left to the poller: what it adds is little beside them.
    const SHORT: Duration = Duration::from_millis(20);

    /// Waits until the poller has events, or the time is over. `None`, at once, if that is not for `ppoll`: there is no
    /// short time to wait for, or the system does not let it.
    pub(super) fn wait(poller: &mio::Poll, timeout: Option<Duration>) -> Option<io::Result<()>> {
        let short = timeout.filter(|timeout| !timeout.is_zero() && *timeout < SHORT)?;
        match os::wait_readable(poller.registry(), short) {
            // For any other error the poller waits instead, or reports it. A signal ends this wait as it ends the
            // poller's.
            Err(error) if error.kind() != io::ErrorKind::Interrupted => None,
            waited => Some(waited),
        }
    }
}
