//! [`Foreign`]: tasks spawned from threads that are not the runtime's.
//!
//! They need a list like any task, and a thread that owns it. Here it is whoever has the *gate*, a lock: the spawning
//! thread, for the moment in which it makes a task; a thread that was nudged because many dead tasks have come home; in
//! the end, for good, the one that shuts the runtime down ([`Foreign::close_gate`]). What all do under the lock anyway,
//! they also count and number there without further atomic operations. Several of these lists stand side by side, and
//! a thread always takes the same one, so that threads seldom meet at a gate.
//!
//! # Dead tasks
//!
//! Threads that drop the last reference to such a task push it onto the list's return stack (`task/owner.rs`). Two
//! kinds of threads free what is there, under the gate:
//!
//! - each spawn, before it allocates. So a program that goes on spawning uses the same memory again;
//! - the thread whose return carries a nudge, which about one return in 256 does. So dead tasks do not pile up when
//!   nobody spawns any more.
//!
//! A nudge does not wait for the gate: if another thread holds it, the dead tasks wait for the next spawn or nudge. At
//! shutdown, the thread that closed the gate frees what is left.

use std::future::Future;

use super::IdBlock;
use crate::events::{TaskEventKind, emit};
use crate::metrics::WorkerCounters;
use crate::primitive::{Mutex, MutexGuard};
use crate::runtime::Inner;
use crate::task::owner::{ArenaGuard, ListOf, Owner};
use crate::task::{self, Birth, Id, JoinHandle, Notified, Schedule};

/// See the module.
pub(crate) struct Foreign {
    gate: Mutex<Gate>,
    owner: Owner,
    /// What is counted under the gate.
    gated: WorkerCounters,
    /// What any thread counts at any time.
    shared: WorkerCounters,
}

struct Gate {
    ids: IdBlock,
    closed: bool,
}

impl Foreign {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            gate: Mutex::new(Gate { ids: IdBlock::default(), closed: false }),
            owner: Owner::new::<Inner>(ListOf::Foreign(index)),
            gated: WorkerCounters::default(),
            shared: WorkerCounters::default(),
        }
    }

    /// The list. It belongs to whoever has the gate.
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The list, to whoever has its gate while that is open.
    fn list_under<'a>(&'a self, gate: &'a MutexGuard<'_, Gate>) -> ArenaGuard<'a> {
        debug_assert!(!gate.closed, "it is the thread's that closed the gate");
        // SAFETY: with the gate in hand the list is this thread's.
        unsafe { self.owner.guard() }
    }

    /// Makes a task, which the caller must queue. `None` if the runtime takes no new ones: then the handle says that it
    /// was cancelled.
    pub(crate) fn spawn<F, S>(
        &self,
        runtime: &Inner,
        future: F,
        mut birth: Birth,
    ) -> (Option<Notified>, JoinHandle<F::Output>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let gate = self.gate.lock();
        if gate.closed {
            drop(gate);
            let handle = refuse::<F, S>(runtime, future, birth);
            return (None, handle);
        }
        let list = self.list_under(&gate);
        list.drain_returned();
        birth.id = gate.ids.next(runtime);
        let (task, handle) = list.new_task::<F, S>(future, birth);
        self.gated.spawns.add(1);
        self.gated.injector_schedules.add(1);
        drop(gate);
        emit(runtime.observer.as_ref(), task.task(), TaskEventKind::Spawned);
        (Some(task), handle)
    }

    /// Counts a task that was woken from a foreign thread.
    pub(crate) fn count_wake(&self) {
        self.shared.injector_schedules.add_shared(1);
    }

    /// Many dead tasks have come home: frees them, unless another thread holds the gate or shutdown has closed it.
    pub(crate) fn nudge(&self) {
        if let Some(gate) = self.gate.try_lock()
            && !gate.closed
        {
            self.list_under(&gate).drain_returned();
        }
    }

    /// From now on the list is the caller's, and no task is added to it.
    pub(crate) fn close_gate(&self) {
        self.gate.lock().closed = true;
    }

    /// For the thread that has closed the gate.
    pub(crate) fn gated_counters(&self) -> &WorkerCounters {
        &self.gated
    }

    pub(crate) fn counters(&self) -> [&WorkerCounters; 2] {
        [&self.gated, &self.shared]
    }
}

/// A task of a runtime that takes no new ones: it is cancelled from the start.
pub(super) fn refuse<F, S>(runtime: &Inner, future: F, birth: Birth) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
    S: Schedule,
{
    let birth = Birth { id: Id(runtime.reserve_ids(1)), owner: None, ..birth };
    let (task, handle) = task::new_task::<F, S>(future, birth);
    task::refuse(task);
    handle
}
