//! How a worker comes by tasks that are not on its own queues: from the injector, out of quarantine, and from other
//! workers, when it has none left or all of its own have given way. (What it takes from one that is stalled:
//! `stalled.rs`.)

use std::ptr;
use std::time::Duration;

use super::run_queue::{RunQueue, RunQueueStealer};
use super::stalled::is_stalled;
use super::{Slot, Worker};
use crate::clock::Moment;
use crate::task::Notified;

impl Worker {
    /// Moves a fair share of the injector's tasks here, and one out of quarantine. Returns one of them.
    pub(super) fn take_injected(&self) -> Option<Notified> {
        let shared = self.shared();
        let quarantined = self.take_quarantined();
        let task = match (self.core.run_queue.take_batch(&shared.injector, shared.processors), quarantined) {
            (Some(task), Some(quarantined)) => {
                self.core.run_queue.push_taken_over(quarantined);
                task
            }
            (task, quarantined) => task.or(quarantined)?,
        };
        // The threads that pushed them may have seen that they were taken, and woken nobody. (A searcher offers what it
        // has when it stops.)
        if !self.searching.get() && !self.core.run_queue.is_empty() {
            shared.notify(&self.runtime, || false);
        }
        Some(task)
    }

    /// Looks for work: at the other workers, going round once from a random start, and in the injector.
    pub(super) fn search(&self) -> Option<Notified> {
        if !self.searching.get() {
            if !self.shared().idle.start_search() {
                return None;
            }
            self.searching.set(true);
        }
        self.begin_searching();
        self.counters().steal_attempts.add(1);
        self.steal_from_any().or_else(|| self.take_injected()).or_else(|| self.steal_lone())
    }

    /// Steals half of a queue of the first worker that has something to steal: what timers woke before all else.
    fn steal_from_any(&self) -> Option<Notified> {
        self.peers().find_map(|victim| {
            self.steal(victim, RunQueue::steal_timers_from)
                .or_else(|| self.steal(victim, RunQueue::steal_lifo_from))
                .or_else(|| self.steal(victim, RunQueue::steal_fifo_from))
                .or_else(|| self.steal(victim, RunQueue::steal_given_way_from))
        })
    }

    /// The other workers that may have work, going round once from a random start.
    pub(super) fn peers(&self) -> impl Iterator<Item = &Slot> {
        let shared = self.shared();
        let victims = shared.num_victims();
        let start = self.core.victims.below(victims as u32) as usize;
        let all = (start..victims).chain(0..start).filter_map(|number| shared.victim(number));
        all.filter(|&slot| !ptr::eq(slot, self.slot()) && slot.may_have_work())
    }

    /// Takes a task that lies alone on the queues of a worker which does not come for it.
    fn steal_lone(&self) -> Option<Notified> {
        let shared = self.shared();
        let mut lone = shared.victims().filter(|slot| slot.may_have_work() && slot.run_queue.has_lone()).peekable();
        lone.peek()?;
        let now = Moment::now();
        let task = lone.find_map(|slot| {
            if is_stalled(slot.since_maintenance(now), Duration::ZERO) { slot.run_queue.steal_lone() } else { None }
        })?;
        self.count_stolen(1);
        Some(task)
    }

    /// User code is about to be called, which may block: nobody must rely on this worker as on one that searches.
    #[inline]
    pub(super) fn stop_searching(&self) {
        if self.searching.get() {
            self.stop_search();
        }
    }

    #[cold]
    fn stop_search(&self) {
        self.searching.set(false);
        let shared = self.shared();
        // The last one out sees to it that what pushers left to the searchers is not left lying. That includes its own
        // queues: what came with the task it is about to run has nobody else yet.
        let is_any_left = || !self.core.run_queue.is_empty() || shared.does_work_wait();
        if shared.idle.stop_search() && is_any_left() {
            shared.notify(&self.runtime, || false);
        }
        self.end_searching();
    }

    /// All tasks of this worker have given way: they do so to what waits on the queues of others, too. Without that, a
    /// worker that is never idle because of a task which computes and yields would help nobody. (While the injector has
    /// tasks for it, they are enough: with others here it would take fewer of them.)
    pub(super) fn give_way_to_peers(&self) {
        if self.core.run_queue.has_only_given_way() && self.shared().injector.is_empty() {
            self.take_over(|| _ = self.peers().any(|peer| self.core.run_queue.take_over_ready(&peer.run_queue)));
        }
    }

    /// Queues what is taken from others, counts it, and offers it. False if nothing was taken.
    pub(super) fn take_over(&self, take: impl FnOnce()) -> bool {
        self.counters().steal_attempts.add(1);
        let before = self.slot().run_queue.len();
        take();
        let taken = self.slot().run_queue.len().saturating_sub(before);
        self.count_stolen(taken);
        self.offer_surplus();
        taken > 0
    }

    fn steal(
        &self,
        victim: &Slot,
        steal: impl FnOnce(&RunQueue, &RunQueueStealer) -> Option<Notified>,
    ) -> Option<Notified> {
        let before = self.slot().run_queue.len();
        let task = steal(&self.core.run_queue, &victim.run_queue)?;
        self.count_stolen(1 + self.slot().run_queue.len().saturating_sub(before));
        Some(task)
    }

    /// Nobody else fills this worker's queues: what is there now and was not before was stolen.
    fn count_stolen(&self, tasks: usize) {
        if tasks > 0 {
            self.counters().steals.add(1);
            self.counters().stolen_tasks.add(tasks as u64);
        }
    }
}
