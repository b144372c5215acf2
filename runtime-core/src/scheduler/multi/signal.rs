//! What the workers are told between two polls, in one word that they read every tick.
//!
//! That the runtime closes: for everybody, and for ever. And that nobody has looked after the drivers for some time,
//! although everybody moves: a worker looks after them when it has polled so many tasks, and learns only then how long these
//! take. This is for one of them, whoever comes along first; the monitor says it.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

const CLOSING: u32 = 1;
const DRIVERS: u32 = 2;

/// See the module.
#[derive(Default)]
pub(super) struct Signal(AtomicU32);

impl Signal {
    /// The runtime closes.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSING, SeqCst);
    }

    #[inline]
    pub(super) fn is_closing(&self) -> bool {
        self.0.load(Acquire) & CLOSING != 0
    }

    /// Somebody is to look after the drivers.
    pub(super) fn call_to_drivers(&self) {
        self.0.fetch_or(DRIVERS, Relaxed);
    }

    /// Whether there is nothing to heed: one comparison.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.0.load(Acquire) == 0
    }

    /// Whether the caller is the one to look after the drivers.
    #[cold]
    pub(super) fn take_call(&self) -> bool {
        self.0.fetch_and(!DRIVERS, Relaxed) & DRIVERS != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_for_one_and_closing_for_all() {
        let signal = Signal::default();
        assert!(signal.is_quiet());
        signal.call_to_drivers();
        assert!(!signal.is_quiet() && !signal.is_closing());
        assert!(signal.take_call());
        assert!(!signal.take_call() && signal.is_quiet());
        signal.close();
        signal.call_to_drivers();
        assert!(signal.take_call());
        assert!(signal.is_closing() && !signal.is_quiet());
    }
}
