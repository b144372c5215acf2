//! The task that a thread polls.

use std::cell::Cell;
use std::ptr;
use std::task::Waker;

use super::CONTEXT;
use crate::coop::Budget;
use crate::task::{Id, is_waker_of_task};

/// A task that is being polled.
#[derive(Debug)]
pub(crate) struct CurrentTask {
    id: Id,
    /// The data of its waker; null if it has none of ours, or if a wake of it is not to be taken for one in its poll.
    waker: Cell<*const ()>,
    yields: Cell<bool>,
}

impl CurrentTask {
    #[inline]
    pub(crate) fn new(id: Id, waker: *const ()) -> Self {
        Self { id, waker: Cell::new(waker), yields: Cell::new(false) }
    }

    /// Whether it has woken itself, on the thread that polls it.
    #[inline]
    pub(crate) fn yields(&self) -> bool {
        self.yields.get()
    }

    /// Its last poll is over: what runs of it afterwards is outside of its polls.
    #[inline]
    pub(crate) fn end_last_poll(&self) {
        self.waker.set(ptr::null());
    }
}

/// Runs a task's poll, or the drop of its future by a worker: with a budget, and known as the current task. Who has a
/// `CurrentTask` with a waker also asks it afterwards whether it yields: see
/// [`Notified::run_current`](crate::task::Notified).
#[inline]
pub(crate) fn in_task<R>(task: &CurrentTask, budget: Budget, f: impl FnOnce() -> R) -> R {
    struct Restore(*const CurrentTask, Budget);
    impl Drop for Restore {
        fn drop(&mut self) {
            CONTEXT.with(|context| {
                context.task.set(self.0);
                context.budget.set(self.1);
            });
        }
    }
    let _restore = CONTEXT.with(|context| Restore(context.task.replace(task), context.budget.replace(budget)));
    f()
}

/// The identifier of the task that is being polled, if any.
pub(crate) fn task_id() -> Option<Id> {
    with_task(|task| task.id)
}

#[inline]
fn with_task<R>(f: impl FnOnce(&CurrentTask) -> R) -> Option<R> {
    // SAFETY: what stands there is borrowed by an `in_task` that goes on, on this thread.
    CONTEXT.with(|context| unsafe { context.task.get().as_ref() }.map(f))
}

/// Wakes the task that is being polled, so that others go first. If the waker is that of the very task which this
/// thread polls, it is told so without an atomic operation: nobody else looks before the poll returns.
#[inline]
pub(crate) fn wake_in_poll(waker: &Waker) {
    if !(is_waker_of_task(waker) && yields(waker.data())) {
        waker.wake_by_ref();
    }
}

/// After a wake that found its task queued or running. A task that wakes itself in its poll yields: it has had its
/// turn. One that somebody else wakes meanwhile does not.
#[inline]
pub(crate) fn note_wake(waker: *const ()) {
    let _ = yields(waker);
}

/// Notes that the task yields which this thread polls, if that is the one whose waker has such data.
fn yields(waker: *const ()) -> bool {
    with_task(|task| {
        let is_its_own = ptr::eq(task.waker.get(), waker);
        task.yields.set(task.yields.get() | is_its_own);
        is_its_own
    }) == Some(true)
}

/// Runs code of a task that blocks, as if outside of its poll: a wake of the task is an ordinary one, and there is no
/// budget.
pub(crate) fn outside_of_poll<R>(f: impl FnOnce() -> R) -> R {
    let Some(id) = task_id() else { return f() };
    in_task(&CurrentTask::new(id, ptr::null()), Budget::UNCONSTRAINED, f)
}
