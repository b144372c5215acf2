//! The schedulers: which task runs when, on which thread.
//!
//! Two implementations stand behind the same seam ([`crate::task::Schedule`] for tasks on their way back into a queue,
//! [`Scheduler`] for the runtime): [`multi`], work stealing on many threads, and [`current`], one thread. Code outside
//! of this folder does not ask which one it is on, except to report it.

mod closing;
pub(crate) mod current;
#[cfg(all(test, not(loom)))]
mod driver_tests;
pub(crate) mod ends;
mod followed;
pub(crate) mod injector_turns;
mod main_waker;
mod measure;
pub(crate) mod multi;
mod park;
mod poll_interval;
mod remote_spawns;
mod thread_role;

use std::ptr::NonNull;

pub use self::multi::wake_all;
pub(crate) use self::thread_role::{AnyWorker, AtWork, ThreadRole, work_as};
use crate::runtime::Inner;
use crate::task::arena::LocalArena;
use crate::task::arena::TaskArena;
use crate::task::{self, Header, Id};

/// A runtime's scheduler.
#[allow(clippy::large_enum_variant)] // one a runtime, never moved after it was made
pub(crate) enum Scheduler {
    Multi(multi::Shared),
    Current(current::Shared),
}

/// The runtime of a task that is in an arena. `None` for a task that was refused, and for blocking ones.
///
/// # Safety
///
/// The task is one of a runtime's scheduler, as the task's vtable says. That of a `LocalSet` has another host.
#[inline]
unsafe fn runtime_of(task: &Header) -> Option<&Inner> {
    // SAFETY: the arena outlives its tasks; every arena of a runtime is made for `Inner`.
    task.arena.map(|arena| unsafe { arena.as_ref().runtime() })
}

/// The runtime of a task of any kind. `None` also for that of a `LocalSet`.
#[inline]
fn runtime_of_any(task: &Header) -> Option<&Inner> {
    // SAFETY: the arena outlives its tasks.
    task.arena.and_then(|arena| unsafe { arena.as_ref() }.host())
}

/// Whether a task is one of this runtime. The task of a `LocalSet` never is.
#[inline]
fn is_task_of(task: &Header, runtime: &Inner) -> bool {
    // SAFETY: the arena outlives its tasks.
    task.arena.is_some_and(|arena| unsafe { arena.as_ref() }.lies_in(runtime))
}

/// Frees a task: through the local arena of the worker `here`, if the calling thread is one of the task's runtime; else
/// through the task's arena, if it has one.
///
/// # Safety
///
/// The last reference to the task is gone.
#[inline]
unsafe fn release<W>(
    task: NonNull<Header>,
    here: impl FnOnce(&Inner) -> Option<AtWork<W>>,
    local_arena: impl FnOnce(&W) -> &LocalArena,
) {
    // SAFETY: the caller's promise; the arena outlives its tasks.
    unsafe {
        let Some(arena) = task.as_ref().arena else { return task::free(task) };
        match here(arena.as_ref().runtime()) {
            Some(worker) => worker.with(|worker| local_arena(worker).release(arena, task)),
            None => TaskArena::free_remotely_one(arena, task),
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
