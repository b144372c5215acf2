//! [`ShardRef`]: how an entry keeps its shard alive.
//!
//! It is an `Arc`, but to count one up and down costs two atomic operations a timer, a quarter of those that it takes
//! to set and cancel one. Most timers are made and dropped on the same worker. So a count that is given up on the
//! shard's own worker is not given back but *kept*, in a number that only that worker touches, and the next timer made
//! there takes it over.
//!
//! The kept counts refer to the shard from within, so they would keep it for ever: [`ShardRef::give_back_kept`], called
//! when the driver shuts down and no worker is left, gives them back, and from then on none is kept.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use crossbeam_utils::CachePadded;
use runtime_core::context::WorkerToken;
use runtime_core::primitive::Arc;
use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::Relaxed;

use crate::shard::Shard;

/// Counts of a shard that are nobody's at the moment.
///
/// Relaxed throughout: it is touched by one thread at a time, and the handing over of the worker's place, and at last
/// the end of all of them, order one thread after the other.
pub(crate) struct LocalRefs(AtomicUsize);

/// No count is kept any more.
const CLOSED: usize = usize::MAX;

impl LocalRefs {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// On the shard's worker: keeps a count. False if it is to be given back, at the end. (As many are kept as
    /// there were timers of this worker at a time, and giving one back is a decrement: there is no need of a bound.)
    #[inline]
    fn put(&self) -> bool {
        let kept = self.0.load(Relaxed);
        let is_open = kept != CLOSED;
        if is_open {
            self.0.store(kept + 1, Relaxed);
        }
        is_open
    }

    /// On the shard's worker: takes a count over, if there is one.
    #[inline]
    fn take(&self) -> bool {
        let kept = self.0.load(Relaxed);
        let has_any = kept != 0 && kept != CLOSED;
        if has_any {
            self.0.store(kept - 1, Relaxed);
        }
        has_any
    }

    /// When there is no worker any more: how many counts to give back. None is kept from then on.
    fn close(&self) -> usize {
        let kept = self.0.swap(CLOSED, Relaxed);
        if kept == CLOSED { 0 } else { kept }
    }
}

/// A shard, and what only its worker touches.
struct Owned {
    shard: Shard,
    kept: CachePadded<LocalRefs>,
    /// Whose shard it is, once that is known.
    worker_token: OnceLock<WorkerToken>,
}

/// A counted reference to a shard.
#[derive(Clone)]
pub(crate) struct ShardRef(Arc<CachePadded<Owned>>);

impl ShardRef {
    pub(crate) fn new(shard: Shard) -> Self {
        let kept = CachePadded::new(LocalRefs::new());
        Self(Arc::new(CachePadded::new(Owned { shard, kept, worker_token: OnceLock::new() })))
    }

    /// Whether this is the shard of that token, whose it becomes if it is nobody's yet. (It is another's if somebody
    /// gives one driver's handle to two runtimes.)
    #[inline]
    pub(crate) fn is_of(&self, worker_token: WorkerToken) -> bool {
        *self.0.worker_token.get_or_init(|| worker_token) == worker_token
    }

    /// Another reference.
    ///
    /// # Safety
    ///
    /// The calling thread is the shard's worker.
    #[inline]
    pub(crate) unsafe fn clone_on_worker(&self) -> Self {
        if self.0.kept.take() {
            // SAFETY: a copy of the pointer, for a count that `give_up` has kept.
            unsafe { std::ptr::read(self) }
        } else {
            self.clone()
        }
    }

    /// Drops the reference, or keeps its count if the calling thread is the shard's worker.
    #[inline]
    pub(crate) fn give_up(self) {
        if self.0.worker_token.get().is_some_and(|worker_token| worker_token.is_here()) && self.0.kept.put() {
            std::mem::forget(self);
        }
    }

    /// The driver shuts down: gives the counts back that were kept.
    pub(crate) fn give_back_kept(&self) {
        for _ in 0..self.0.kept.close() {
            // SAFETY: as in `clone_on_worker`.
            drop(unsafe { std::ptr::read(self) });
        }
    }
}

impl Deref for ShardRef {
    type Target = Shard;

    #[inline]
    fn deref(&self) -> &Shard {
        &self.0.shard
    }
}

impl fmt::Debug for ShardRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn counts_are_kept_until_it_is_closed() {
        let kept = LocalRefs::new();
        assert!(!kept.take());
        assert!((0..10_000).all(|_| kept.put()));
        assert!(kept.take());
        assert_eq!(kept.close(), 9_999);
        assert!(!kept.put() && !kept.take());
        assert_eq!(kept.close(), 0);
    }
}
