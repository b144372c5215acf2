//! The word of a [`Notify`](super::Notify): a permit, whether there are waiters, and how often all were notified.

/// A permit is stored: the next that waits does not wait.
const PERMIT: usize = 1 << 0;
/// The list is not empty. Set and cleared under the lock.
const WAITING: usize = 1 << 1;
/// One call of `notify_waiters`. Counted under the lock.
const CALL: usize = 1 << 2;

/// The word, or what it was when it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(pub(super) usize);

impl State {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) fn has_permit(self) -> bool {
        self.0 & PERMIT != 0
    }

    pub(super) fn has_waiters(self) -> bool {
        self.0 & WAITING != 0
    }

    /// Which call of `notify_waiters` comes next. It wraps around, so it is only compared for equality.
    pub(super) fn round(self) -> Round {
        Round(self.0 & !(PERMIT | WAITING))
    }

    pub(super) fn with_permit(self, permit: bool) -> Self {
        Self(if permit { self.0 | PERMIT } else { self.0 & !PERMIT })
    }

    pub(super) fn with_waiters(self, waiters: bool) -> Self {
        Self(if waiters { self.0 | WAITING } else { self.0 & !WAITING })
    }

    pub(super) fn with_next_round(self) -> Self {
        Self(self.0.wrapping_add(CALL))
    }
}

/// The time between two calls of `notify_waiters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round(usize);
