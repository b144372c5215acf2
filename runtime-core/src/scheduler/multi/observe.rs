//! What those read of the scheduler that look into the runtime: metrics, the list of tasks, and those that wait for the
//! end of all tasks. On any thread, at any time; the workers take no notice.

use super::{Shared, Slot};
use crate::clock::Moment;
use crate::metrics::{Counts, WorkerCounters, WorkerTimes};
use crate::runtime::WorkerActivity;
use crate::scheduler::ends;
#[cfg(not(loom))]
use crate::task::{Id, Snapshot};

impl Shared {
    /// Reads every task that is not over.
    #[cfg(not(loom))]
    pub(crate) fn inspect_tasks(&self, into: &mut Vec<Snapshot>) {
        self.arenas().for_each(|arena| arena.inspect(into));
    }

    /// The tasks in whose polls workers are, and since when ([`WorkerTimes::read_clock_at`]).
    #[cfg(not(loom))]
    pub(crate) fn polls_that_go_on(&self) -> impl Iterator<Item = (Id, Moment)> {
        self.all_slots().filter_map(Slot::poll_that_goes_on)
    }

    pub(crate) fn counters(&self) -> impl Iterator<Item = &WorkerCounters> {
        self.all_slots()
            .map(|slot| &slot.counters)
            .chain(self.remote_spawns.iter().flat_map(|remote| remote.counters()))
    }

    /// Whether all tasks have ended. See `ends.rs`.
    pub(crate) fn have_all_ended(&self) -> bool {
        ends::are_equal(self.all_slots().map(|slot| &slot.ended), self.counters())
    }

    pub(crate) fn num_spare_threads(&self) -> usize {
        self.spares.num_threads()
    }

    pub(crate) fn blocked(&self) -> u64 {
        self.monitor.blocked()
    }

    pub(crate) fn num_workers(&self) -> usize {
        self.workers
    }

    /// What a worker has counted, by the time it is.
    pub(crate) fn worker_counts(&self, worker: usize) -> Option<Counts> {
        self.worker_slots().get(worker).map(|slot| self.counts_of(slot))
    }

    /// Tasks that threads in `block_on` have queued: by way of the injector.
    pub(crate) fn schedules_in_block_on(&self) -> u64 {
        self.slots[self.workers..].iter().map(|slot| slot.counters.local_schedules.get()).sum()
    }

    /// The spare workers that count as one with this worker, by their numbers: each does with one.
    fn spares_of(&self, worker: usize) -> impl Iterator<Item = &Slot> {
        self.spares.slots().skip(worker).step_by(self.workers)
    }

    /// What they have counted.
    pub(crate) fn spare_counts(&self, worker: usize) -> impl Iterator<Item = Counts> {
        self.spares_of(worker).map(|slot| self.counts_of(slot))
    }

    pub(crate) fn spare_times(&self, worker: usize) -> impl Iterator<Item = &WorkerTimes> {
        self.spares_of(worker).map(|slot| &slot.times)
    }

    pub(crate) fn spare_queue_depth(&self, worker: usize) -> usize {
        self.spares_of(worker).map(|slot| slot.run_queue.len()).sum()
    }

    fn counts_of(&self, slot: &Slot) -> Counts {
        slot.times.read(&slot.counters, Moment::now())
    }

    /// What all have counted: workers, `block_on` threads, spare workers, and remote threads.
    pub(crate) fn all_counts(&self) -> impl Iterator<Item = Counts> {
        let remote = self.remote_spawns.iter().flat_map(|remote| remote.counters());
        self.all_slots().map(|slot| self.counts_of(slot)).chain(remote.map(WorkerCounters::read))
    }

    pub(crate) fn worker_times(&self, worker: usize) -> Option<&WorkerTimes> {
        self.worker_slots().get(worker).map(|slot| &slot.times)
    }

    /// Those of the workers, of `block_on` threads, and of all spare workers that there ever were.
    pub(crate) fn all_times(&self) -> impl Iterator<Item = &WorkerTimes> {
        self.all_slots().map(|slot| &slot.times)
    }

    pub(crate) fn worker_queue_depth(&self, worker: usize) -> Option<usize> {
        Some(self.worker_slots().get(worker)?.run_queue.len())
    }

    pub(crate) fn worker_activity(&self, worker: usize) -> Option<WorkerActivity> {
        Some(self.worker_slots().get(worker)?.activity.describe())
    }

    pub(crate) fn injector_depth(&self) -> usize {
        self.injector.len() + self.quarantine.quarantined()
    }
}
