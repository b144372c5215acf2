//! What the workers are told between two polls, in one word that they read every tick.
//!
//! - That the runtime closes: for everybody, and for ever.
//! - That nobody has looked after the drivers for some time, although everybody moves: a worker looks after them at
//!   the end of an interval of polls, and learns only then how long these take. This is for one of them, the first to
//!   come along.
//!
//! The latter is the monitor's to say. If it is read late, the monitor says it again at its next sample.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

const CLOSING: u32 = 1;
const POLL_DRIVERS: u32 = 2;

/// What a worker has read.
#[derive(Clone, Copy)]
pub(super) struct ControlFlags(u32);

impl ControlFlags {
    #[inline]
    pub(super) fn is_closing(self) -> bool {
        self.0 & CLOSING != 0
    }

    #[inline]
    pub(super) fn is_driver_poll_requested(self) -> bool {
        self.0 & POLL_DRIVERS != 0
    }
}

/// The word that all workers read every tick.
#[derive(Default)]
pub(super) struct ControlWord(AtomicU32);

impl ControlWord {
    /// The runtime closes.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSING, SeqCst);
    }

    #[inline]
    pub(super) fn get(&self) -> ControlFlags {
        ControlFlags(self.0.load(Acquire))
    }

    /// Somebody is to look after the drivers.
    pub(super) fn request_driver_poll(&self) {
        self.0.fetch_or(POLL_DRIVERS, Relaxed);
    }

    /// Whether the caller is the one to look after the drivers.
    #[cold]
    pub(super) fn take_driver_poll_request(&self) -> bool {
        self.0.fetch_and(!POLL_DRIVERS, Relaxed) & POLL_DRIVERS != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_for_one_and_closing_for_all() {
        let word = ControlWord::default();
        assert!(word.get().0 == 0);
        word.request_driver_poll();
        assert!(word.get().is_driver_poll_requested() && !word.get().is_closing());
        assert!(word.take_driver_poll_request());
        assert!(!word.take_driver_poll_request() && word.get().0 == 0);
        word.close();
        word.request_driver_poll();
        assert!(word.take_driver_poll_request());
        assert!(word.get().is_closing());
    }
}
