//! [`Handle::tasks`]: what every task of a runtime is doing. How tasks are read while they go on, `task/published.rs`
//! says.

use std::collections::HashMap;
use std::time::Duration;

use super::{Handle, Inner};
use crate::clock::Moment;
use crate::scheduler::Scheduler;
use crate::task::{Id, Snapshot, TaskActivity, TaskInfo, TaskState, WaitsFor, holders};
use crate::{inspect, local_set};

impl Handle {
    /// Every task of the runtime that is not over: where it was spawned, what it is doing, and what it waits for.
    ///
    /// Tasks of a [`LocalSet`](crate::LocalSet) are those of the runtime that has driven the set last. Jobs of
    /// [`spawn_blocking`](crate::spawn_blocking) and the futures of `block_on` are no tasks.
    ///
    /// It may be called at any time, on any thread, of a program in production. No task is polled for it, and no worker
    /// is stopped. It does not need any worker either, so it tells what goes on where all of them are blocked. A worker
    /// that needs new memory for tasks, or gives some back, may have to wait while the call looks at some hundred
    /// tasks, but not for all of them.
    ///
    /// From the first call in a process on, for good, wakes cost a little more: they note when they were.
    ///
    /// A task that is there during the whole call is listed once, and one that begins or ends meanwhile once or not at
    /// all. The order says nothing.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// runtime.block_on(rt::task::yield_now());
    /// for task in runtime.handle().tasks() {
    ///     println!("task {} of {} is {}", task.id, task.spawned_at, task.state);
    ///     assert!(task.state.is_waiting());
    /// }
    /// # drop(task);
    /// ```
    pub fn tasks(&self) -> Vec<TaskInfo> {
        inspect::watch();
        let snapshots = snapshots(&self.inner);
        let running = polls_that_go_on(&self.inner);
        let now = Moment::now();
        let has_been = |since| now.since(since);
        let info = |task: Snapshot| {
            let running_since = running.get(&task.id).copied();
            info(&self.inner, task, running_since, has_been)
        };
        snapshots.into_iter().map(info).collect()
    }
}

/// All tasks as they are.
pub(crate) fn snapshots(runtime: &Inner) -> Vec<Snapshot> {
    let mut snapshots = Vec::new();
    match &runtime.scheduler {
        Scheduler::Multi(shared) => shared.inspect_tasks(&mut snapshots),
        Scheduler::Current(shared) => shared.inspect_tasks(&mut snapshots),
    }
    local_set::inspect_tasks(runtime.id, &mut snapshots);
    snapshots
}

/// The tasks in whose polls workers are, and since when.
fn polls_that_go_on(runtime: &Inner) -> HashMap<Id, Moment> {
    match &runtime.scheduler {
        Scheduler::Multi(shared) => shared.polls_that_go_on().collect(),
        Scheduler::Current(_) => HashMap::new(),
    }
}

fn info(
    runtime: &Inner,
    task: Snapshot,
    running_since: Option<Moment>,
    has_been: impl Fn(Moment) -> Duration,
) -> TaskInfo {
    let recorded = task.recorded;
    let since = recorded.and_then(|recorded| recorded.since).map(&has_been);
    let ended = recorded.map_or(0, |recorded| recorded.polls);
    let own_worker = || match &runtime.scheduler {
        Scheduler::Multi(_) => None,
        Scheduler::Current(shared) => shared.poll_began(),
    };
    let (state, polls, wakes) = match task.activity {
        TaskActivity::Running => {
            let since = running_since.or_else(own_worker).map(&has_been);
            (TaskState::Running { since }, ended + 1, ended)
        }
        // Each poll was for a wake, but for the first.
        TaskActivity::Queued => (TaskState::Queued { since }, ended, ended),
        TaskActivity::Waiting => (TaskState::Waiting { since }, ended, ended.saturating_sub(1)),
    };
    let note = recorded.map(|recorded| recorded.waits_for).filter(|_| state.is_waiting());
    TaskInfo {
        id: task.id,
        name: task.name,
        spawned_at: task.spawned_at,
        state,
        polls,
        total_poll_time: Duration::from_nanos(recorded.map_or(0, |recorded| recorded.total_time)),
        longest_poll: Duration::from_nanos(recorded.map_or(0, |recorded| recorded.longest_poll)),
        wakes,
        spurious_polls: recorded.map_or(0, |recorded| u64::from(recorded.spurious_polls)),
        waits_for: note.map(|note| note.tell(|number| describe(runtime, number), holders::holder)),
        waits_for_others: note.is_some_and(|note| note.has_others()),
    }
}

/// What a descriptor is that a task waits for.
fn describe(runtime: &Inner, number: u64) -> WaitsFor {
    runtime.drivers.io.as_ref().map_or(WaitsFor::Unknown, |io| io.describe(number))
}
