//! A fence whose one side costs nothing: for two threads that each write one word and then read the other's, where one
//! of them does it all the time and the other hardly ever.
//!
//! Both need a `SeqCst` fence between the write and the read, so that at least one sees the other's write. On Linux the
//! rare side can have the system put one into every thread of the process that runs (`membarrier(2)`, private and
//! expedited: an interrupt for each processor that runs one, and microseconds; more if such a processor is not to be had).
//! Then the frequent side needs none: it is enough that the compiler keeps its two accesses in order. A thread that does
//! not run has had its fence when it was taken off its processor. Where there is no such call, both sides are fences.
//!
//! So a light side is ordered against a heavy one, and nothing else: not against another light one, nor against who looks
//! without a fence because what it sees was written after one.
//!
//! For whom one runs on each processor the interrupts would be a plague. Who calls [`AsymmetricFence::heavy`] must do so
//! for a reason that comes up a few hundred times a second at most, and while nobody waits for it.
//!
//! Dice, Huang and Yang, "Asymmetric Dekker Synchronization", 2001.

use crate::primitive::atomic::Ordering::SeqCst;
use crate::primitive::atomic::fence;

/// Whether what the system says is taken at its word: on the architectures where this is in wide use. loom knows no
/// such call.
const IS_TRUSTED: bool = cfg!(all(
    not(loom),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")
));

/// Both sides of the fence. Who shares the words also shares (a copy of) this.
#[derive(Clone, Copy)]
pub(crate) enum AsymmetricFence {
    /// Both sides are fences.
    Symmetric,
    /// The system does it for the frequent side.
    Expedited,
    /// The same, of a system that does not do it any more.
    #[cfg(test)]
    Refused,
}

impl AsymmetricFence {
    /// Registers the process with the system, which wants that before the first [`heavy`](Self::heavy). The first time,
    /// in a process that has several threads, that waits for a grace period of the kernel: milliseconds. To be
    /// registered already is no error, and costs a system call.
    pub(crate) fn new() -> Self {
        if IS_TRUSTED && system::register() { Self::Expedited } else { Self::Symmetric }
    }

    /// The frequent side's.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            Self::Symmetric => fence(SeqCst),
            _ => std::sync::atomic::compiler_fence(SeqCst),
        }
    }

    /// The rare side's. False if the system refuses what it has granted before: then there was no fence. So it is in a
    /// process that has locked itself in since (`seccomp`), for good; or for the moment, if the kernel has no memory.
    #[must_use]
    #[cold]
    pub(crate) fn heavy(self) -> bool {
        match self {
            Self::Symmetric => {
                fence(SeqCst);
                true
            }
            // A process that was restored from a checkpoint may have lost its registration.
            Self::Expedited => system::interrupt() || (system::register() && system::interrupt()),
            #[cfg(test)]
            Self::Refused => false,
        }
    }
}

#[cfg(target_os = "linux")]
use crate::os as system;

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn interrupt() -> bool {
        false
    }
}
