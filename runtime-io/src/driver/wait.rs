//! Waiting in the poller, for short times more exactly than the poller itself can.
//!
//! epoll counts timeouts in whole milliseconds, rounded up: a timer that is due in 0.3 ms would be 0.7 ms late. On
//! Linux a short wait therefore goes through `ppoll`, which counts nanoseconds, on the poller's own descriptor: that is
//! readable when the poller has events. It costs one more system call, on a thread that had nothing to do anyway. For
//! long waits, and elsewhere, the poller's own timeout has to do.

use std::io;
use std::time::Duration;

/// Longer waits are left to the poller: what it adds is little beside them.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SHORT: Duration = Duration::from_millis(20);

/// Waits for events, at most so long.
pub(super) fn wait(poll: &mut mio::Poll, events: &mut mio::Events, timeout: Option<Duration>) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(short) = timeout.filter(|timeout| !timeout.is_zero() && *timeout < SHORT) {
        use rustix::event::{PollFd, PollFlags, Timespec};
        let short = Timespec { tv_sec: 0, tv_nsec: short.subsec_nanos().into() };
        rustix::event::poll(&mut [PollFd::new(poll.registry(), PollFlags::IN)], Some(&short))?;
        return poll.poll(events, Some(Duration::ZERO));
    }
    poll.poll(events, timeout)
}
