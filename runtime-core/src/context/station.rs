//! [`Station`]: which worker of which runtime a thread is.

use std::ptr::NonNull;

use super::CONTEXT;
use crate::runtime::Inner;
use crate::scheduler::Place;

/// A worker of a runtime. At any moment one thread at most is at a station, and what it left there is seen by the next one
/// that comes.
///
/// This is what makes "only the worker touches that" a rule which a service can keep without a lock: data of one station is
/// touched by a thread that [is there](Self::is_here). A runtime that is gone may have had the same stations as a later one:
/// whose data outlives its runtime must note that it is closed, which it is before the last station is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Never dereferenced.
    runtime: NonNull<Inner>,
    index: usize,
}

// SAFETY: the pointer is a number, to be compared with.
unsafe impl Send for Station {}
// SAFETY: as above.
unsafe impl Sync for Station {}

impl Station {
    /// The station that a place is, if it is one at the runtime.
    pub(super) fn of(runtime: &Inner, place: Place) -> Option<Self> {
        Some(Self { runtime: NonNull::from(runtime), index: place.index_at(runtime)? })
    }

    /// The [index](super::worker_index) of the worker.
    #[inline]
    pub fn index(self) -> usize {
        self.index
    }

    /// Whether the calling thread is that worker, and its runtime the current one.
    #[inline]
    pub fn is_here(self) -> bool {
        CONTEXT.with(|context| context.station.get()) == Some(self)
    }
}
