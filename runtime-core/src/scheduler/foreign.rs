//! [`Foreign`]: tasks spawned from threads that are not the runtime's.
//!
//! They need a list like any task, and a thread that owns it. Here it is whoever has the *gate*, a lock: the spawning
//! thread, for the moment in which it makes a task; a thread that was nudged because many dead tasks have come home; in
//! the end, for good, the one that shuts the runtime down ([`Foreign::close_gate`]). What all do under the lock anyway,
//! they also count and number there without further atomic operations. Several of these lists stand side by side, and
//! a thread always takes the same one, so that threads seldom meet at a gate.

use std::future::Future;
use std::ptr::NonNull;

use super::IdBlock;
use crate::events::{TaskEventKind, emit};
use crate::metrics::WorkerCounters;
use crate::primitive::Mutex;
use crate::runtime::Inner;
use crate::task::owner::{ListOf, Owner};
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
    births: Births,
}

/// How many tasks were spawned here that speak against seeing to a nudge.
///
/// Who spawns frees the dead of the list first, all at once, and so gets their cells in the order in which they died. That
/// is mostly the one in which they lie in memory, which a processor fetches ahead. Were a part of them freed in between,
/// that part would come last; and after some thousands of such shuffles nothing would lie in order any more. (Of large tasks
/// the memory is in no order, and too much to wait for: only if a list has few of them, [`Births::FEW_LARGE`], may they wait.)
#[derive(Debug, Default)]
struct Births {
    /// So many of all were told off against nudges, or are too old to speak.
    spent: u64,
}

impl Births {
    /// Against each nudge, half as many as there are deaths to a nudge: a spawner that comes in bursts is not found wanting for
    /// where a nudge falls.
    const A_NUDGE: u64 = 128;
    /// The most that count at a time. So when nobody spawns any more, some 4,000 tasks die before they are seen to.
    const MOST: u64 = 2048;

    /// So few large tasks are no reason to see to a nudge: that of a server, say, which lasts as long as the program.
    const FEW_LARGE: usize = 15;

    /// At a nudge: whether there were so many births that those who spawn will see to the dead themselves.
    fn are_many(&mut self, births: u64) -> bool {
        self.spent = self.spent.max(births.saturating_sub(Self::MOST));
        let are_many = births - self.spent >= Self::A_NUDGE;
        if are_many {
            self.spent += Self::A_NUDGE;
        }
        are_many
    }
}

impl Foreign {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            gate: Mutex::new(Gate { ids: IdBlock::default(), closed: false, births: Births::default() }),
            owner: Owner::new(ListOf::Foreign(index)),
            gated: WorkerCounters::default(),
            shared: WorkerCounters::default(),
        }
    }

    /// The list. It belongs to whoever has the gate.
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
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
        // SAFETY: with the gate in hand the list is this thread's.
        unsafe { self.owner.drain_returned() };
        birth.id = gate.ids.next(runtime);
        birth.owner = Some(NonNull::from(&self.owner));
        // SAFETY: as above.
        let (task, handle) = task::new_task_in::<F, S>(future, birth, |layout| unsafe { self.owner.allocate(layout) });
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

    /// Many dead tasks have come home: frees them, unless somebody is at the gate, or comes often. Then the next spawn
    /// does, or the next nudge. If more than a few of the list's tasks are large, only somebody at the gate is a reason to wait.
    pub(crate) fn nudge(&self) {
        if let Some(mut gate) = self.gate.try_lock()
            && !gate.closed
        {
            // SAFETY: with the gate in hand the list is this thread's.
            unsafe {
                if self.owner.large_tasks() > Births::FEW_LARGE || !gate.births.are_many(self.gated.spawns.get()) {
                    self.owner.drain_returned();
                }
            }
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A nudge comes with every 256th death.
    const DEATHS: u64 = 256;

    #[test]
    fn who_spawns_in_bursts_sees_to_the_dead_himself() {
        for burst in [256, 1000, 2000] {
            let mut births = Births::default();
            for bursts in 1..=100 {
                // All of a burst die, and then the next one comes.
                for _ in 0..burst / DEATHS {
                    assert!(births.are_many(bursts * burst), "{bursts} bursts of {burst}");
                }
            }
        }
    }

    #[test]
    fn when_nobody_spawns_any_more_the_dead_are_seen_to() {
        let mut births = Births::default();
        let nudges = (0..).take_while(|_| births.are_many(1_000_000)).count() as u64;
        assert!(nudges * DEATHS <= 4096, "{nudges}");
        assert!(!births.are_many(1_000_000 + Births::A_NUDGE - 1));
        assert!(births.are_many(1_000_000 + Births::A_NUDGE));
    }
}
