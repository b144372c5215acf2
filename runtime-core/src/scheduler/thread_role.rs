//! [`ThreadRole`]: what the current thread is to a scheduler.
//!
//! A worker lies on the stack of its thread, and the thread's context points to it. The pointer goes into the context
//! in [`work_as`] only, which borrows the worker for as long as the context may have it, and it comes out of the
//! context as an [`AtWork`], which cannot leave the thread. So a function that has one may call the worker.

use std::ptr::NonNull;

use super::{current, multi};
use crate::context;
use crate::metrics::WorkerCounters;
use crate::runtime::Inner;

/// What the current thread is to a scheduler.
#[derive(Clone, Copy)]
pub(crate) enum ThreadRole {
    /// No thread of a scheduler.
    External,
    /// A worker of a multi-thread runtime, or a caller of `block_on` that has a slot of one.
    Multi(AtWork<multi::Worker>),
    /// The thread that drives a current-thread runtime.
    Current(AtWork<current::Worker>),
    /// A thread of a runtime's blocking pool. Tasks are not queued on it.
    BlockingPool(NonNull<Inner>),
    /// A worker that blocks in place (`multi/block_in_place.rs`). Nor are they on this one.
    BlockingInPlace(NonNull<Inner>),
    /// The same, back in its poll, after its runtime was shut down: the task is dropped when the poll returns.
    CoreRevoked(NonNull<Inner>),
}

/// The worker that the current thread is. Not to be kept beyond the call that got it from the context.
pub(crate) struct AtWork<W>(NonNull<W>);

impl<W> Clone for AtWork<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for AtWork<W> {}

impl<W> AtWork<W> {
    /// Calls the closure with the worker.
    #[inline]
    pub(crate) fn with<R>(self, f: impl FnOnce(&W) -> R) -> R {
        // SAFETY: made by `work_as`, further out on this thread's stack, which borrows the worker until it returns.
        f(unsafe { self.0.as_ref() })
    }
}

/// A worker of one of the schedulers.
#[derive(Clone, Copy)]
pub(crate) enum AnyWorker<'a> {
    Multi(&'a multi::Worker),
    Current(&'a current::Worker),
}

/// Runs the closure with the role of this worker.
pub(crate) fn work_as<R>(worker: AnyWorker<'_>, f: impl FnOnce() -> R) -> R {
    let _role = context::take_role(match worker {
        AnyWorker::Multi(worker) => ThreadRole::Multi(AtWork(NonNull::from(worker))),
        AnyWorker::Current(worker) => ThreadRole::Current(AtWork(NonNull::from(worker))),
    });
    f()
}

impl AnyWorker<'_> {
    #[inline]
    fn is_of(self, runtime: &Inner) -> bool {
        match self {
            Self::Multi(worker) => worker.is_of(runtime),
            Self::Current(worker) => worker.is_of(runtime),
        }
    }

    /// Its number; spare workers have none.
    #[inline]
    fn index(self) -> Option<usize> {
        match self {
            Self::Multi(worker) => worker.index(),
            Self::Current(_) => Some(0),
        }
    }

    fn counters(&self) -> &WorkerCounters {
        match self {
            Self::Multi(worker) => worker.counters(),
            Self::Current(worker) => worker.counters(),
        }
    }

    fn random_below(self, n: u32) -> u32 {
        match self {
            Self::Multi(worker) => worker.user_random().below(n),
            Self::Current(worker) => worker.user_random().below(n),
        }
    }
}

impl ThreadRole {
    /// Calls the closure with the worker that the thread is, if it is one.
    #[inline]
    fn with_worker<R>(self, f: impl FnOnce(AnyWorker<'_>) -> R) -> Option<R> {
        match self {
            ThreadRole::Multi(worker) => Some(worker.with(|worker| f(AnyWorker::Multi(worker)))),
            ThreadRole::Current(worker) => Some(worker.with(|worker| f(AnyWorker::Current(worker)))),
            ThreadRole::External
            | ThreadRole::BlockingPool(_)
            | ThreadRole::BlockingInPlace(_)
            | ThreadRole::CoreRevoked(_) => None,
        }
    }

    #[inline]
    pub(crate) fn index(self) -> Option<usize> {
        self.with_worker(|worker| worker.index()).flatten()
    }

    /// The same, if the thread works for this runtime.
    #[inline]
    pub(crate) fn index_at(self, runtime: &Inner) -> Option<usize> {
        self.with_worker(|worker| if worker.is_of(runtime) { worker.index() } else { None }).flatten()
    }

    /// Whether the thread works for this runtime.
    #[inline]
    pub(crate) fn is_of(self, runtime: &Inner) -> bool {
        self.with_worker(|worker| worker.is_of(runtime)) == Some(true)
    }

    pub(crate) fn count_budget_yield(self) {
        self.with_worker(|worker| worker.counters().budget_yields.add(1));
    }

    pub(crate) fn random_below(self, n: u32) -> Option<u32> {
        self.with_worker(|worker| worker.random_below(n))
    }
}
