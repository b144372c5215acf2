//! [`WorkerToken`]: names the worker, of a certain runtime, that a thread is.

use std::ptr::NonNull;

use super::CONTEXT;
use crate::runtime::Inner;
use crate::scheduler::ThreadRole;

/// Names a worker of a runtime. At any moment one thread at most has a given token, and a thread that gets it sees all
/// that the one before did while it had it.
///
/// So a service can keep data that only the worker touches, without a lock: data that goes with a token is touched by
/// the thread that [has it](Self::is_here). A later runtime may have the same tokens as one that is gone. A service
/// whose data outlives its runtime must therefore note that it is closed; it is closed before the last token is given
/// up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerToken {
    /// Never dereferenced.
    runtime: NonNull<Inner>,
    index: usize,
}

// SAFETY: the pointer is a number, to be compared with.
unsafe impl Send for WorkerToken {}
// SAFETY: as above.
unsafe impl Sync for WorkerToken {}

impl WorkerToken {
    /// The token of a thread of this role, if it is a worker of this runtime.
    pub(super) fn of(runtime: &Inner, role: ThreadRole) -> Option<Self> {
        Some(Self { runtime: NonNull::from(runtime), index: role.index_at(runtime)? })
    }

    /// The [index](super::worker_index) of the worker.
    #[inline]
    pub fn index(self) -> usize {
        self.index
    }

    /// Whether the calling thread is that worker, and its runtime the current one.
    #[inline]
    pub fn is_here(self) -> bool {
        CONTEXT.with(|context| context.worker_token.get()) == Some(self)
    }
}
