//! The word of a watch channel: the version of the value, whether somebody waits for the next, and whether there are
//! senders.

use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire};

/// All senders are gone.
const CLOSED: usize = 1 << 0;
/// Somebody waits for the next version, or did.
const WAITING: usize = 1 << 1;
/// One version.
const STEP: usize = 1 << 2;

/// Which value it is. It wraps around, so it is only compared for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(usize);

impl Version {
    pub(super) const FIRST: Self = Self(0);

    pub(super) fn before(self) -> Self {
        Self(self.0.wrapping_sub(STEP))
    }
}

/// What the word was when it was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot(usize);

impl Snapshot {
    pub(super) fn version(self) -> Version {
        Version(self.0 & !(CLOSED | WAITING))
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    pub(super) fn is_waited_for(self) -> bool {
        self.0 & WAITING != 0
    }

    /// Whether somebody who knows this version has to wait for another.
    pub(super) fn is_last(self, version: Version) -> bool {
        self.version() == version && !self.is_closed()
    }
}

/// See the module.
pub(super) struct State(AtomicUsize);

impl State {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(Version::FIRST.0))
    }

    #[inline]
    pub(super) fn load(&self) -> Snapshot {
        Snapshot(self.0.load(Acquire))
    }

    /// The next version, whose value has been written; for the owner of the write lock. Nobody waits for it any more.
    /// Returns what it was before.
    pub(super) fn advance(&self) -> Snapshot {
        let mut state = self.load().0;
        loop {
            match self.0.compare_exchange_weak(state, state.wrapping_add(STEP) & !WAITING, AcqRel, Acquire) {
                Ok(_) => return Snapshot(state),
                Err(now) => state = now,
            }
        }
    }

    /// Somebody waits. Returns what it was before.
    pub(super) fn set_waiting(&self) -> Snapshot {
        Snapshot(self.0.fetch_or(WAITING, AcqRel))
    }

    /// The last sender goes. Returns what it was before.
    pub(super) fn close(&self) -> Snapshot {
        Snapshot(self.0.fetch_or(CLOSED, AcqRel))
    }
}
