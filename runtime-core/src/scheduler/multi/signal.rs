//! What the workers are told between two polls, in one word that they read every tick.
//!
//! - That the runtime closes: for everybody, and for ever.
//! - That nobody has looked after the drivers for some time, although everybody moves: a worker looks after them when
//!   it has polled so many tasks, and learns only then how long these take. This is for one of them, whoever comes
//!   along first.
//!
//! The latter is the monitor's to say. If it is read late, the monitor says it again at its next sample.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

const CLOSING: u32 = 1;
const DRIVERS: u32 = 2;

/// What a worker has read.
#[derive(Clone, Copy)]
pub(super) struct Told(u32);

impl Told {
    #[inline]
    pub(super) fn is_closing(self) -> bool {
        self.0 & CLOSING != 0
    }

    #[inline]
    pub(super) fn drivers_wait(self) -> bool {
        self.0 & DRIVERS != 0
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Signal(AtomicU32);

impl Signal {
    /// The runtime closes.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSING, SeqCst);
    }

    #[inline]
    pub(super) fn get(&self) -> Told {
        Told(self.0.load(Acquire))
    }

    /// Somebody is to look after the drivers.
    pub(super) fn call_to_drivers(&self) {
        self.0.fetch_or(DRIVERS, Relaxed);
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
        assert!(signal.get().0 == 0);
        signal.call_to_drivers();
        assert!(signal.get().drivers_wait() && !signal.get().is_closing());
        assert!(signal.take_call());
        assert!(!signal.take_call() && signal.get().0 == 0);
        signal.close();
        signal.call_to_drivers();
        assert!(signal.take_call());
        assert!(signal.get().is_closing());
    }
}
