//! What [`RuntimeMetrics`] counts, by the names that it has in Tokio, stable and unstable: for programs that were
//! written for those. Only what means the same. Buckets of histograms are always those of [`Histogram`]
//! (`histogram_configuration.rs`).
//!
//! In Tokio all polls are some worker's, and programs add up what the workers have counted. So each spare worker counts
//! as one with some worker here, but for the time that it is busy, and where a number tells whether the worker sleeps.

use std::ops::Range;
use std::thread::ThreadId;
use std::time::Duration;

use super::RuntimeMetrics;
use crate::metrics::{Counts, Histogram, WorkerTimes};
use crate::scheduler::{Scheduler, multi};

impl RuntimeMetrics {
    /// What there is of a multi-thread runtime.
    fn shared(&self) -> Option<&multi::Shared> {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => Some(shared),
            Scheduler::Current(_) => None,
        }
    }

    /// What the worker has counted, and the spare workers that count with it.
    #[track_caller]
    pub(super) fn worker_with_spares(&self, worker: usize) -> Counts {
        let mut counts = self.existing_worker(worker);
        self.shared().into_iter().flat_map(|shared| shared.spare_counts(worker)).for_each(|spare| counts += spare);
        counts
    }

    fn bucket_count(&self, worker: usize, count: impl Fn(&WorkerTimes) -> u64) -> u64 {
        let of_spares = self.shared().into_iter().flat_map(|shared| shared.spare_times(worker));
        self.times_of(worker).into_iter().chain(of_spares).map(count).sum()
    }

    /// As [`num_alive_tasks`](Self::num_alive_tasks).
    #[doc(hidden)]
    pub fn active_tasks_count(&self) -> usize {
        self.num_alive_tasks()
    }

    /// As [`global_queue_depth`](Self::global_queue_depth).
    #[doc(hidden)]
    pub fn injection_queue_depth(&self) -> usize {
        self.global_queue_depth()
    }

    /// As [`worker_queue_depth`](Self::worker_queue_depth), of a worker that there is.
    ///
    /// # Panics
    ///
    /// As [`worker_park_count`](Self::worker_park_count), as do all below that take the number of a worker.
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        self.existing_worker(worker);
        let of_spares = self.shared().map_or(0, |shared| shared.spare_queue_depth(worker));
        self.worker_queue_depth(worker).unwrap_or(0) + of_spares
    }

    /// Tasks spawned, on any thread.
    pub fn spawned_tasks_count(&self) -> u64 {
        self.totals().spawns
    }

    /// Tasks queued from outside of the workers. (A thread in `block_on` is none, on a multi-thread runtime.)
    pub fn remote_schedule_count(&self) -> u64 {
        let in_block_on = self.shared().map_or(0, |shared| shared.schedules_in_block_on());
        self.totals().injector_schedules + in_block_on
    }

    /// How often a task had used its budget up and was made to yield.
    pub fn budget_forced_yield_count(&self) -> u64 {
        self.totals().budget_yields
    }

    /// How often a worker woke up and went to sleep again without having polled a task.
    #[track_caller]
    pub fn worker_noop_count(&self, worker: usize) -> u64 {
        self.worker_with_spares(worker).idle_wakes
    }

    /// Tasks that a worker took from others.
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.worker_with_spares(worker).stolen_tasks
    }

    /// How often a worker took tasks from another.
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.worker_with_spares(worker).steals
    }

    /// Polls of tasks by a worker.
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        self.worker_with_spares(worker).polls
    }

    /// Tasks queued on a worker's own queues.
    #[track_caller]
    pub fn worker_local_schedule_count(&self, worker: usize) -> u64 {
        self.worker_with_spares(worker).local_schedules
    }

    /// How often a worker's queue was full: never, as it grows.
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.existing_worker(worker);
        0
    }

    /// How long a poll by a worker took of late, averaged. Zero if `Builder::metrics_histograms` is switched off.
    #[track_caller]
    pub fn worker_mean_poll_time(&self, worker: usize) -> Duration {
        self.existing_worker(worker);
        Duration::from_nanos(self.times_of(worker).map_or(0, |times| times.mean_poll()))
    }

    /// Whether [`poll_times`](Self::poll_times) are measured.
    pub fn poll_time_histogram_enabled(&self) -> bool {
        self.measures_polls()
    }

    /// [`Histogram::NUM_BUCKETS`], or zero if nothing is measured.
    pub fn poll_time_histogram_num_buckets(&self) -> usize {
        if self.measures_polls() { Histogram::NUM_BUCKETS } else { 0 }
    }

    /// As [`Histogram::bucket_range`].
    ///
    /// # Panics
    ///
    /// If there is no such bucket.
    #[track_caller]
    pub fn poll_time_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        Histogram::bucket_range(bucket)
    }

    /// What one bucket of a worker's [poll times](Self::worker_poll_times) has counted.
    ///
    /// # Panics
    ///
    /// If there is no such worker or bucket.
    #[track_caller]
    pub fn poll_time_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        self.existing_worker(worker);
        self.bucket_count(worker, |times| times.polls.read().buckets()[bucket])
    }

    /// Whether [`wake_to_poll_times`](Self::wake_to_poll_times) are measured.
    pub fn schedule_latency_histogram_enabled(&self) -> bool {
        self.measures_polls()
    }

    /// [`Histogram::NUM_BUCKETS`], or zero if nothing is measured.
    pub fn schedule_latency_histogram_num_buckets(&self) -> usize {
        self.poll_time_histogram_num_buckets()
    }

    /// As [`Histogram::bucket_range`].
    ///
    /// # Panics
    ///
    /// If there is no such bucket.
    #[track_caller]
    pub fn schedule_latency_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        Histogram::bucket_range(bucket)
    }

    /// What one bucket of a worker's [times from wake to poll](Self::worker_wake_to_poll_times) has counted.
    ///
    /// # Panics
    ///
    /// If there is no such worker or bucket.
    #[track_caller]
    pub fn schedule_latency_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        self.existing_worker(worker);
        self.bucket_count(worker, |times| times.wake_to_poll.read().buckets()[bucket])
    }

    /// As [`poll_time_histogram_enabled`](Self::poll_time_histogram_enabled).
    #[doc(hidden)]
    pub fn poll_count_histogram_enabled(&self) -> bool {
        self.poll_time_histogram_enabled()
    }

    /// As [`poll_time_histogram_num_buckets`](Self::poll_time_histogram_num_buckets).
    #[doc(hidden)]
    pub fn poll_count_histogram_num_buckets(&self) -> usize {
        self.poll_time_histogram_num_buckets()
    }

    /// As [`poll_time_histogram_bucket_range`](Self::poll_time_histogram_bucket_range).
    #[doc(hidden)]
    #[track_caller]
    pub fn poll_count_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        self.poll_time_histogram_bucket_range(bucket)
    }

    /// As [`poll_time_histogram_bucket_count`](Self::poll_time_histogram_bucket_count).
    #[doc(hidden)]
    #[track_caller]
    pub fn poll_count_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        self.poll_time_histogram_bucket_count(worker, bucket)
    }

    /// The thread of a worker: the one that has its queues, or had them last. `None` if there was none yet.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// assert_eq!(runtime.metrics().worker_thread_id(0), None);
    /// runtime.block_on(async {});
    /// assert_eq!(runtime.metrics().worker_thread_id(0), Some(std::thread::current().id()));
    /// ```
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<ThreadId> {
        self.existing_worker(worker);
        self.times_of(worker)?.thread()
    }

    /// How often a file descriptor was registered.
    pub fn io_driver_fd_registered_count(&self) -> u64 {
        self.drivers().io_registrations
    }

    /// How often one was taken out again.
    pub fn io_driver_fd_deregistered_count(&self) -> u64 {
        let drivers = self.drivers();
        drivers.io_registrations - drivers.io_registered
    }

    /// Readiness events that the operating system delivered.
    pub fn io_driver_ready_count(&self) -> u64 {
        self.drivers().io_events
    }
}
