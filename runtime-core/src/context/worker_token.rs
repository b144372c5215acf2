//! [`WorkerToken`]: which worker of which runtime a thread is.

use std::ptr::NonNull;

use super::CONTEXT;
use crate::runtime::Inner;
use crate::scheduler::ThreadRole;

/// A worker of a runtime. At any moment one thread at most is at a token, and what it left there is seen by the next
/// one that comes.
///
/// This is what makes "only the worker touches that" a rule which a service can keep without a lock: data of one token
/// is touched by a thread that [is there](Self::is_here). A runtime that is gone may have had the same tokens as a
/// later one: whose data outlives its runtime must note that it is closed, which it is before the last token is left.
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
    /// The token that a place is, if it is one at the runtime.
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
