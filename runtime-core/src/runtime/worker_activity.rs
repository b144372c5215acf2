//! [`WorkerActivity`]: what a worker does at this moment, for those who look on.

use std::panic::Location;

use super::RuntimeMetrics;
use crate::scheduler::Scheduler;
use crate::task::Id;

/// What a worker is doing. From [`RuntimeMetrics::worker_activity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerActivity {
    /// It sleeps: until there is work, or in the drivers until there is an event. Also a worker without a thread.
    Asleep,
    /// It has no task in hand: it looks for one, or sees to the drivers.
    Searching,
    /// It polls a task.
    Polling(PolledTask),
    /// It polls a task that is in [`block_in_place`](crate::block_in_place).
    BlockingInPlace(PolledTask),
    /// It calls a hook of the program, or a waker that is not of the runtime's own.
    OutsideTasks,
    /// It is awake, and more is not known: a current-thread runtime notes no more than that.
    Awake,
}

/// The task that a worker polls. See [`WorkerActivity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolledTask {
    /// Which task.
    pub id: Id,
    /// What it was called, if it was given a name.
    pub name: Option<&'static str>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
}

impl PolledTask {
    pub(crate) fn new(id: Id, name: Option<&'static str>, spawned_at: &'static Location<'static>) -> Self {
        Self { id, name, spawned_at }
    }
}

impl RuntimeMetrics {
    /// What a worker is doing at this moment. `None` if there is no such worker.
    ///
    /// The worker is not stopped for it, and writes what is read here without any lock. For one that stays in the same
    /// poll the answer is exact. For one that polls many tasks a second it may be a mixture of two that followed each
    /// other: the identifier of one, and the place of the other.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::runtime::WorkerActivity;
    /// use std::sync::mpsc;
    /// let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let (begun, has_begun) = mpsc::channel();
    /// let (end, ended) = mpsc::channel::<()>();
    /// let task = runtime.spawn(async move {
    ///     begun.send(()).unwrap();
    ///     ended.recv().unwrap(); // blocks its worker
    /// });
    /// has_begun.recv().unwrap();
    /// match runtime.metrics().worker_activity(0) {
    ///     Some(WorkerActivity::Polling(polled)) => assert_eq!(polled.id, task.id()),
    ///     other => panic!("{other:?}"),
    /// }
    /// end.send(()).unwrap();
    /// ```
    pub fn worker_activity(&self, worker: usize) -> Option<WorkerActivity> {
        match &self.inner.scheduler {
            Scheduler::Multi(shared) => shared.worker_activity(worker),
            Scheduler::Current(_) => {
                let counts = self.worker(worker)?;
                let is_asleep = counts.parks > counts.unparks;
                Some(if is_asleep { WorkerActivity::Asleep } else { WorkerActivity::Awake })
            }
        }
    }
}
