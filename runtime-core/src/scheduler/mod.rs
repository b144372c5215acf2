//! The schedulers: which task runs when, on which thread.
//!
//! Two implementations stand behind the same seam ([`crate::task::Schedule`] for tasks on their way back into a queue,
//! [`Scheduler`] for the runtime): [`multi`], work stealing on many threads, and [`current`], one thread. Code outside
//! of this folder does not ask which one it is on, except to report it.

mod closing;
pub(crate) mod current;
#[cfg(all(test, not(loom)))]
mod driver_tests;
mod foreign;
mod injector_turns;
mod main_waker;
pub(crate) mod multi;
mod pacing;
mod park;

use std::ptr::NonNull;

use crate::metrics::WorkerCounters;
use crate::runtime::Inner;
use crate::task::home::Home;
use crate::task::owner::Owner;
use crate::task::{self, Header, Id};

/// A runtime's scheduler.
#[allow(clippy::large_enum_variant)] // one a runtime, never moved after it was made
pub(crate) enum Scheduler {
    Multi(multi::Shared),
    Current(current::Shared),
}

/// What the current thread is to a scheduler. The pointers are good for as long as they stand in the thread's context.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Nothing.
    Outside,
    /// A worker, or a caller of `block_on` that has a guest's slot.
    Multi(NonNull<multi::Worker>),
    /// The thread that drives a current-thread runtime.
    Current(NonNull<current::Worker>),
    /// A thread of a runtime's blocking pool. It is no place to queue tasks.
    Blocking(NonNull<Inner>),
    /// A worker that has stepped aside (`multi/aside.rs`). It is none either.
    Aside(NonNull<Inner>),
    /// The same, back in its poll, after its runtime was shut down: the task is dropped when the poll returns.
    Lost(NonNull<Inner>),
}

impl Place {
    #[inline]
    pub(crate) fn index(self) -> Option<usize> {
        match self {
            Place::Outside | Place::Blocking(_) | Place::Aside(_) | Place::Lost(_) => None,
            // SAFETY: set by the worker, on this thread, for as long as it is one.
            Place::Multi(worker) => unsafe { worker.as_ref() }.index(),
            Place::Current(_) => Some(0),
        }
    }

    /// Whether the thread works for this runtime.
    #[inline]
    pub(crate) fn is_of(self, runtime: &Inner) -> bool {
        match self {
            Place::Outside | Place::Blocking(_) | Place::Aside(_) | Place::Lost(_) => false,
            // SAFETY: as in `index`.
            Place::Multi(worker) => unsafe { worker.as_ref() }.is_of(runtime),
            // SAFETY: as in `index`.
            Place::Current(worker) => unsafe { worker.as_ref() }.is_of(runtime),
        }
    }

    fn counters(&self) -> Option<&WorkerCounters> {
        match self {
            Place::Outside | Place::Blocking(_) | Place::Aside(_) | Place::Lost(_) => None,
            // SAFETY: as in `index`.
            Place::Multi(worker) => Some(unsafe { worker.as_ref() }.counters()),
            // SAFETY: as in `index`.
            Place::Current(worker) => Some(unsafe { worker.as_ref() }.counters()),
        }
    }

    pub(crate) fn count_budget_yield(self) {
        if let Some(counters) = self.counters() {
            counters.budget_yields.add(1);
        }
    }

    pub(crate) fn random_below(self, n: u32) -> Option<u32> {
        match self {
            Place::Outside | Place::Blocking(_) | Place::Aside(_) | Place::Lost(_) => None,
            // SAFETY: as in `index`.
            Place::Multi(worker) => Some(unsafe { worker.as_ref() }.user_random().below(n)),
            // SAFETY: as in `index`.
            Place::Current(worker) => Some(unsafe { worker.as_ref() }.user_random().below(n)),
        }
    }
}

/// The runtime of a task that is on an owner's list. `None` for a task that was refused, and for blocking ones.
fn runtime_of(task: &Header) -> Option<&Inner> {
    // SAFETY: the owner outlives its tasks, and every list of a runtime is made for `Inner`.
    task.owner.map(|owner| unsafe { owner.as_ref().runtime() })
}

/// Frees a task: at the home of the calling thread, if it has one with the task's runtime; through its owner, if it has
/// one.
///
/// # Safety
///
/// The last reference to the task is gone.
#[inline]
unsafe fn release(task: NonNull<Header>, home: impl FnOnce(&Inner) -> Option<NonNull<Home>>) {
    // SAFETY: the caller's promise; the owner outlives its tasks, and a home is good while its thread has the place.
    unsafe {
        let Some(owner) = task.as_ref().owner else { return task::free(task) };
        match home(owner.as_ref().runtime()) {
            Some(home) => home.as_ref().release(owner, task),
            None => Owner::send_home_one(owner, task),
        }
    }
}

/// A worker's supply of task identifiers, drawn from the runtime in blocks.
#[derive(Debug, Default)]
struct IdBlock {
    next: std::cell::Cell<u64>,
    left: std::cell::Cell<u64>,
}

impl IdBlock {
    const SIZE: u64 = 256;

    #[inline]
    fn next(&self, runtime: &Inner) -> Id {
        if self.left.get() == 0 {
            self.next.set(runtime.reserve_ids(Self::SIZE));
            self.left.set(Self::SIZE);
        }
        let id = self.next.get();
        self.next.set(id + 1);
        self.left.set(self.left.get() - 1);
        Id(id)
    }
}
