//! The waker of the future in a `block_on`: a flag, and whatever gets the calling thread to look at it.

use std::sync::Arc;
use std::task::Wake;

use crate::primitive::Unparker;
use crate::primitive::atomic::AtomicBool;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire};

/// See the module. `W` wakes the caller where the scheduler has it asleep, if it has.
pub(super) struct MainWaker<W> {
    woken: AtomicBool,
    wake_at_scheduler: W,
    /// For a caller that just waits.
    unparker: Unparker,
}

impl<W> MainWaker<W> {
    /// Woken from the start: the future wants its first poll.
    pub(super) fn new(unparker: Unparker, wake_at_scheduler: W) -> Arc<Self> {
        Arc::new(Self { woken: AtomicBool::new(true), wake_at_scheduler, unparker })
    }

    /// Whether the future was woken, and not polled since.
    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Acquire)
    }

    /// Takes the wake, if there is one: before the poll, so that a wake during the poll leads to another.
    pub(super) fn take(&self) -> bool {
        // A plain look first: the exchange is for when there is something to take.
        self.is_woken() && self.woken.swap(false, AcqRel)
    }
}

impl<W: Fn() + Send + Sync> Wake for MainWaker<W> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, AcqRel) {
            // Both: the caller may be on its way from the one place to the other.
            (self.wake_at_scheduler)();
            self.unparker.unpark();
        }
    }
}
