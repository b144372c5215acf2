//! [`RuntimeMetrics`]: how to read what a runtime counts (`metrics/`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Inner;
use crate::driver::DriverCounters;
use crate::metrics::{Counts, WorkerCounters};
use crate::scheduler::Scheduler;

/// A view of what a runtime counts, from [`Handle::metrics`](crate::runtime::Handle::metrics).
///
/// Every method reads the counters as they are at that moment. The runtime does not stop for it, so two counts may be a
/// few events apart.
///
/// # Example
///
/// ```
/// let runtime = rt::runtime::Runtime::new().unwrap();
/// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
/// let metrics = runtime.handle().metrics();
/// assert_eq!(metrics.totals().spawns, 1);
/// assert_eq!(metrics.num_alive_tasks(), 0);
/// ```
#[derive(Clone)]
pub struct RuntimeMetrics {
    inner: Arc<Inner>,
}

impl RuntimeMetrics {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// The number of worker threads; 1 on a current-thread runtime.
    pub fn num_workers(&self) -> usize {
        self.inner.num_workers()
    }

    /// What one worker has counted. `None` if there is no such worker.
    pub fn worker(&self, worker: usize) -> Option<Counts> {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.worker_counters(worker).map(WorkerCounters::read),
            Scheduler::Current(shared) => (worker == 0).then(|| shared.own_counters().read()),
        }
    }

    /// How often a worker has gone to sleep.
    ///
    /// # Panics
    ///
    /// If there is no such worker: they are numbered from 0 to [`num_workers`](Self::num_workers), exclusive.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.existing_worker(worker).parks
    }

    /// How often a worker has gone to sleep and come back, both counted: the number is odd while it sleeps.
    ///
    /// # Panics
    ///
    /// As [`worker_park_count`](Self::worker_park_count).
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let counts = self.existing_worker(worker);
        counts.parks + counts.unparks
    }

    /// For how long a worker has been at work: neither asleep nor waiting for something to do.
    ///
    /// The time is added up when the worker runs out of work, and about every millisecond while it has some.
    ///
    /// # Panics
    ///
    /// As [`worker_park_count`](Self::worker_park_count).
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let metrics = runtime.metrics();
    /// let before = metrics.worker_total_busy_duration(0);
    /// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    /// assert!(metrics.worker_total_busy_duration(0) >= before);
    /// ```
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        Duration::from_nanos(self.existing_worker(worker).busy_nanos)
    }

    #[track_caller]
    fn existing_worker(&self, worker: usize) -> Counts {
        match self.worker(worker) {
            Some(counts) => counts,
            None => panic!("there is no worker {worker}: the runtime has {}", self.num_workers()),
        }
    }

    /// What the whole runtime has counted: the workers, callers of `block_on`, and remote threads.
    pub fn totals(&self) -> Counts {
        let mut totals = Counts::default();
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.counters().for_each(|counters| totals += counters.read()),
            Scheduler::Current(shared) => {
                shared.counters().for_each(|counters| totals += counters.read());
            }
        }
        totals
    }

    /// Tasks that were spawned and are not complete.
    pub fn num_alive_tasks(&self) -> usize {
        let totals = self.totals();
        totals.spawns.saturating_sub(totals.completions) as usize
    }

    /// Tasks queued on one worker. `None` if there is no such worker.
    pub fn worker_queue_depth(&self, worker: usize) -> Option<usize> {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.worker_queue_depth(worker),
            Scheduler::Current(shared) => (worker == 0).then(|| shared.queue_depth()),
        }
    }

    /// Tasks queued in the global queue (the injector), where those go that come from outside the workers.
    pub fn global_queue_depth(&self) -> usize {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.injector_depth(),
            Scheduler::Current(shared) => shared.injector_depth(),
        }
    }

    /// How often a worker was blocked: it was in one poll for longer than `Builder::blocked_threshold` while tasks,
    /// timers or sockets waited. Always zero on a current-thread runtime.
    pub fn blocked_count(&self) -> u64 {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.blocked(),
            Scheduler::Current(_) => 0,
        }
    }

    /// Reports that were to be made, of blocked tasks and of blocking jobs for which there was no thread, and were
    /// dropped: too many waited for a hook (`Builder::on_blocked`) or for stderr, or there was no thread to make them.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// assert_eq!(runtime.metrics().dropped_reports(), 0);
    /// ```
    pub fn dropped_reports(&self) -> u64 {
        self.inner.reporter.dropped()
    }

    /// Threads of spare workers: those that stand in for blocked workers, and those that have and wait to do so again.
    pub fn num_spare_threads(&self) -> usize {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.num_spare_threads(),
            Scheduler::Current(_) => 0,
        }
    }

    /// Threads of the blocking pool.
    pub fn num_blocking_threads(&self) -> usize {
        self.inner.blocking.counts().0
    }

    /// Threads of the blocking pool that wait for work.
    pub fn num_idle_blocking_threads(&self) -> usize {
        self.inner.blocking.counts().1
    }

    /// Jobs that wait for a thread of the blocking pool.
    pub fn blocking_queue_depth(&self) -> usize {
        self.inner.blocking.counts().2
    }

    /// What the drivers have counted: I/O events, timers.
    pub fn drivers(&self) -> DriverCounters {
        let mut sum = DriverCounters::default();
        for service in [&self.inner.drivers.io, &self.inner.drivers.time].into_iter().flatten() {
            sum.merge(service.counters());
        }
        sum
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics")
            .field("totals", &self.totals())
            .field("drivers", &self.drivers())
            .finish_non_exhaustive()
    }
}
