//! [`RuntimeMetrics`]: how to read what a runtime counts (`metrics/`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Inner;
use crate::clock::Moment;
use crate::driver::DriverCounters;
use crate::metrics::{Counts, Histogram, WorkerState, WorkerTimes};
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
    pub(super) inner: Arc<Inner>,
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
            Scheduler::Multi(shared) => shared.worker_counts(worker),
            Scheduler::Current(shared) => (worker == 0).then(|| shared.own_counts()),
        }
    }

    /// How often a worker has gone to sleep. Spare workers count with one of the others.
    ///
    /// # Panics
    ///
    /// If there is no such worker: they are numbered from 0 to [`num_workers`](Self::num_workers), exclusive.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.worker_with_spares(worker).parks
    }

    /// How often a worker has gone to sleep and come back, both counted: the number is odd while it sleeps. It is that
    /// worker's own, without any spare worker's.
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

    /// What a worker does, and for how long it has done that. `None` if there is no such worker, or if it has no
    /// thread: on a current-thread runtime, while nobody drives it.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::runtime::WorkerState;
    /// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.worker_state(0), None);
    /// let (state, _) = runtime.block_on(async { metrics.worker_state(0).unwrap() });
    /// assert_eq!(state, WorkerState::Busy);
    /// ```
    pub fn worker_state(&self, worker: usize) -> Option<(WorkerState, Duration)> {
        let (state, since) = self.times_of(worker)?.state()?;
        Some((state, Moment::now().since(since)))
    }

    /// How long polls of tasks took, on all workers.
    ///
    /// The worker reads the clock between polls, but not so often that to measure would take more than about a percent
    /// of its time. So polls of some tens of microseconds and more are measured one by one. Shorter ones are measured
    /// in groups, of which each poll counts as an equal part; if one of a group is much longer than the whole was
    /// expected to be, it counts for itself. What a worker does between two polls counts to the later one, unless it
    /// looks after sockets and timers, looks for work, sleeps, or calls hooks of the runtime. (The main future of a
    /// current-thread runtime is no task; if one of its polls is long that were short, it may count as one of a task,
    /// the first time.)
    ///
    /// Each poll is counted once, when its group has ended: then the counts of all buckets add up to
    /// [`polls`](Counts::polls). Groups end when the worker runs out of work or looks
    /// after sockets and timers, and after some tens of microseconds.
    ///
    /// Empty if `Builder::metrics_histograms` is switched off.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let long = async {
    ///     let began = Instant::now();
    ///     while began.elapsed() < Duration::from_millis(2) {}
    /// };
    /// runtime.block_on(async { rt::spawn(long).await.unwrap() });
    /// let longest = runtime.metrics().poll_times().percentile(100.0).unwrap();
    /// assert!(longest > Duration::from_millis(2));
    /// ```
    pub fn poll_times(&self) -> Histogram {
        self.sum_of_times(|times| times.polls.read())
    }

    /// The same, of one worker. `None` if there is no such worker.
    pub fn worker_poll_times(&self, worker: usize) -> Option<Histogram> {
        self.times_of(worker).map(|times| times.polls.read())
    }

    /// How long tasks waited for their polls, from when they were queued: by a wake, by a spawn, or because they
    /// yielded. Counted where they were polled.
    ///
    /// These are samples: each thread that queues tasks follows one of them at a time, and the next one some
    /// microseconds after it has begun to follow the last one. Each counts for all that the thread has queued since
    /// then, so that times in which tasks wait for long have no less weight than others. The counts of all buckets add
    /// up to the number of tasks that were queued ([`local_schedules`](Counts::local_schedules) and
    /// [`injector_schedules`](Counts::injector_schedules)), without those that nobody counts for yet.
    ///
    /// Empty if `Builder::metrics_histograms` is switched off.
    pub fn wake_to_poll_times(&self) -> Histogram {
        self.sum_of_times(|times| times.wake_to_poll.read())
    }

    /// The same, of one worker. `None` if there is no such worker.
    pub fn worker_wake_to_poll_times(&self, worker: usize) -> Option<Histogram> {
        self.times_of(worker).map(|times| times.wake_to_poll.read())
    }

    fn sum_of_times(&self, read: impl Fn(&WorkerTimes) -> Histogram) -> Histogram {
        let mut sum = Histogram::default();
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.all_times().for_each(|times| sum += read(times)),
            Scheduler::Current(shared) => sum += read(shared.times()),
        }
        sum
    }

    pub(super) fn times_of(&self, worker: usize) -> Option<&WorkerTimes> {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.worker_times(worker),
            Scheduler::Current(shared) => (worker == 0).then(|| shared.times()),
        }
    }

    /// Whether polls are measured.
    pub(super) fn measures_polls(&self) -> bool {
        self.inner.measures_polls
    }

    #[track_caller]
    pub(super) fn existing_worker(&self, worker: usize) -> Counts {
        match self.worker(worker) {
            Some(counts) => counts,
            None => panic!("there is no worker {worker}: the runtime has {}", self.num_workers()),
        }
    }

    /// What the whole runtime has counted: the workers, callers of `block_on`, and remote threads.
    pub fn totals(&self) -> Counts {
        let mut totals = Counts::default();
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.all_counts().for_each(|counts| totals += counts),
            Scheduler::Current(shared) => shared.all_counts().for_each(|counts| totals += counts),
        }
        totals
    }

    /// Tasks that were spawned and are not complete. (Those of a `LocalSet` are the set's own, and in no count here.)
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

    /// Jobs that the blocking pool has run, or is running.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    /// assert_eq!(runtime.metrics().blocking_jobs_run(), 1);
    /// ```
    pub fn blocking_jobs_run(&self) -> u64 {
        self.inner.blocking.jobs_run()
    }

    /// How late timers fired: from a timer's deadline until the runtime looked at the clock and woke its task.
    /// (Deadlines count as rounded up to a 32nd of a millisecond, which is what timers are exact to.) Empty without
    /// timers.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// runtime.block_on(async { rt::time::sleep(Duration::from_millis(1)).await });
    /// assert_eq!(runtime.metrics().timer_lateness().count(), 1);
    /// ```
    pub fn timer_lateness(&self) -> Histogram {
        self.inner.drivers.time.as_ref().map(|service| service.timer_lateness()).unwrap_or_default()
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
