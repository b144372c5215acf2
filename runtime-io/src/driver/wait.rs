//! Waits in the poller; for short times more exactly than the poller itself can.
//!
//! epoll counts timeouts in whole milliseconds, rounded up, and the kernel may add its slack (50 us): a timer that is
//! due in 0.3 ms would be 0.7 ms late. On Linux a short wait therefore has no timeout: a `timerfd`, which the poller
//! watches as it watches sockets, ends it to the microsecond. It costs one more system call, on a thread that had
//! nothing to do anyway. For long waits, and elsewhere, the poller's own timeout has to do.
//!
//! It also has to do where the system refuses the timer: in a sandbox that allows what epoll needs and nothing else
//! (`seccomp`, also one that the process enters while the runtime is at work). The refusal is not remembered: it costs
//! one call that returns at once, and then the thread waits as it wanted to.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use self::exact::Timer;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use self::poller_only::Timer;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod exact {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::time::Duration;

    use mio::unix::SourceFd;
    use runtime_core::os::TimerFd;

    use crate::driver::token::TIMER;

    /// Longer waits are left to the poller: what it adds is little beside them.
    const EXACT_BELOW: Duration = Duration::from_millis(20);

    /// Ends short waits of one poller.
    #[derive(Debug)]
    pub(in crate::driver) struct Timer {
        /// None if the system has refused to make it.
        timer: Option<TimerFd>,
        /// Whether it may still fire. It must not end a wait that it was not set for.
        is_set: bool,
    }

    impl Timer {
        /// Makes a timer and puts it into the poller, edge-triggered: nobody has to read it.
        ///
        /// # Errors
        ///
        /// If the process or the system has no more descriptors.
        pub(in crate::driver) fn new(poller: &mio::Registry) -> io::Result<Self> {
            let timer = TimerFd::new()?;
            if let Some(timer) = &timer {
                let number = timer.as_fd().as_raw_fd();
                poller.register(&mut SourceFd(&number), TIMER, mio::Interest::READABLE)?;
            }
            Ok(Self { timer, is_set: false })
        }

        /// Waits for events, for `timeout` at most; without one, until there are any.
        pub(in crate::driver) fn wait(
            &mut self,
            poll: &mut mio::Poll,
            events: &mut mio::Events,
            timeout: Option<Duration>,
        ) -> io::Result<()> {
            let Some(timer) = &self.timer else { return poll.poll(events, timeout) };
            if timeout.is_some_and(|timeout| timeout.is_zero()) {
                return poll.poll(events, timeout);
            }
            let short = timeout.filter(|timeout| *timeout < EXACT_BELOW);
            if short.is_some() || self.is_set {
                // If it cannot be set anew, it may end this wait too early. The caller looks at the time.
                self.is_set = timer.set(short.unwrap_or(Duration::ZERO)).is_ok() && short.is_some();
            }
            poll.poll(events, if self.is_set { None } else { timeout })?;
            self.is_set &= events.iter().all(|event| event.token() != TIMER);
            Ok(())
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod poller_only {
    use std::io;
    use std::time::Duration;

    /// Nothing: the poller's own timeouts do.
    #[derive(Debug)]
    pub(in crate::driver) struct Timer;

    impl Timer {
        pub(in crate::driver) fn new(_poller: &mio::Registry) -> io::Result<Self> {
            Ok(Self)
        }

        pub(in crate::driver) fn wait(
            &mut self,
            poll: &mut mio::Poll,
            events: &mut mio::Events,
            timeout: Option<Duration>,
        ) -> io::Result<()> {
            poll.poll(events, timeout)
        }
    }
}
