//! How a driver listens for the signals of the process: by one more descriptor in its poller.
//!
//! The descriptor is the process's, not the driver's, and belongs to no registration. `signal` says what comes of it.

use std::io;
use std::os::fd::RawFd;

use mio::event::Source;
use mio::unix::SourceFd;

use super::Handle;
use super::token::SIGNALS;

pub(super) use crate::signal::{Member, deliver};

impl Handle {
    fn poller(&self) -> &mio::Registry {
        self.shards[0].registry().poller()
    }

    /// Has the driver listen to the descriptor that tells of signals.
    ///
    /// # Errors
    ///
    /// The poller's.
    pub(crate) fn listen_for_signals(&self, teller: RawFd) -> io::Result<()> {
        SourceFd(&teller).register(self.poller(), SIGNALS, mio::Interest::READABLE)
    }

    /// Undoes [`listen_for_signals`](Self::listen_for_signals).
    pub(crate) fn ignore_signals(&self, teller: RawFd) {
        // It fails only if somebody has closed what is not theirs, and then the poller has forgotten it.
        let _ = SourceFd(&teller).deregister(self.poller());
    }
}
