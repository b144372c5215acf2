//! A fence whose one side costs nothing: for two threads that each write one word and then read the other's, where one
//! of them does it all the time and the other hardly ever.
//!
//! Both need a `SeqCst` fence between the write and the read, so that at least one sees the other's write. On Linux the
//! rare side can have the system put one into every thread of the process that runs (`membarrier(2)`, private and
//! expedited: an interrupt for each processor, and microseconds). Then the frequent side needs none: it is enough that
//! the compiler keeps its two accesses in order. A thread that does not run has had its fence when it was taken off its
//! processor. Where there is no such call, both sides are fences.
//!
//! For whom one runs on each processor the interrupts would be a plague. Who calls [`AsymmetricFence::heavy`] must do so
//! for a reason that comes up a few hundred times a second at most.
//!
//! Dice, Huang and Yang, "Asymmetric Dekker Synchronization", 2001.

#[cfg(any(loom, not(target_os = "linux")))]
use self::without as system;
use crate::primitive::atomic::Ordering::SeqCst;
use crate::primitive::atomic::fence;

/// Both sides of the fence. Who shares the words also shares (a copy of) this.
#[derive(Clone, Copy)]
pub(crate) struct AsymmetricFence {
    /// The system does it for the frequent side.
    is_expedited: bool,
}

impl AsymmetricFence {
    /// Registers the process with the system, which wants that before the first [`heavy`](Self::heavy). To be registered
    /// already is no error, and costs a system call.
    pub(crate) fn new() -> Self {
        Self { is_expedited: system::register() }
    }

    /// The frequent side's.
    #[inline(always)]
    pub(crate) fn light(self) {
        if self.is_expedited {
            std::sync::atomic::compiler_fence(SeqCst);
        } else {
            fence(SeqCst);
        }
    }

    /// The rare side's. False if the system refuses what it has granted before, as in a process that has locked itself
    /// in since (`seccomp`): then there was no fence.
    #[must_use]
    #[cold]
    pub(crate) fn heavy(self) -> bool {
        if self.is_expedited {
            return system::interrupt();
        }
        fence(SeqCst);
        true
    }
}

#[cfg(all(not(loom), target_os = "linux"))]
mod system {
    use rustix::thread::{MembarrierCommand, membarrier};

    pub(super) fn register() -> bool {
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    pub(super) fn interrupt() -> bool {
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }
}

#[cfg(any(loom, not(target_os = "linux")))]
mod without {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn interrupt() -> bool {
        false
    }
}
