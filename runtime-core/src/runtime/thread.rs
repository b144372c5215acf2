//! [`Thread`]: a thread of a runtime's, which is waited for at the end, but perhaps not for longer than a limit.
//!
//! std waits for a thread without a limit only. So a thread has one side of a channel, and lets go of it when it has
//! called the user's last hook; whoever waits with a limit waits at the other side. What is left to do for the thread
//! then is to end, and it is joined.
//!
//! For the threads that the shutdown of a runtime sees off, no others.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Instant;

use crate::clock::Clock;

/// See the module.
pub(crate) struct Thread {
    handle: JoinHandle<()>,
    /// Nothing comes, but the end of the other side.
    at_work: Receiver<Infallible>,
}

impl Thread {
    pub(crate) fn start(builder: Builder, run: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let (works, at_work) = mpsc::channel();
        let handle = builder.spawn(move || {
            // Dropped last, also if the other panics.
            let _works = works;
            run();
        })?;
        Ok(Self { handle, at_work })
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Waits until it has done its work. False if that takes longer.
    fn ends_by(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Clock::real());
        self.at_work.recv_timeout(left) == Err(RecvTimeoutError::Disconnected)
    }
}

/// Sees threads off that are done, or have nothing more to do than the user's last hooks. Waits for them, until the
/// deadline, if the whole shutdown has one.
pub(crate) fn join_threads(threads: impl IntoIterator<Item = Thread>, deadline: Option<Instant>) {
    let this = thread::current().id();
    for thread in threads {
        if thread.handle.thread().id() != this && deadline.is_none_or(|deadline| thread.ends_by(deadline)) {
            // Should it have panicked it has said so on stderr, and there is nothing to add here.
            let _ = thread.handle.join();
        }
    }
}
