//! Join sets of tracked tasks: what the set tells of each must be what the task's guard saw.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use rt::task::{AbortHandle, Id, JoinError, JoinSet};

use crate::ledger::{Count, Kind};
use crate::stage::Stage;
use crate::tracked::{End, Record, Target, Tracked, tracked_job};

/// See the module. Dropping it aborts what is left.
pub(crate) struct Group<T> {
    stage: Stage,
    set: JoinSet<T>,
    records: HashMap<Id, Arc<Record>>,
}

impl<T: Send + 'static> Group<T> {
    pub(crate) fn new(stage: &Stage) -> Self {
        Self { stage: stage.clone(), set: JoinSet::new(), records: HashMap::new() }
    }

    fn insert(&mut self, handle: AbortHandle, record: Arc<Record>) -> Target {
        let target = Target::new(handle.clone(), &record);
        self.records.insert(handle.id(), record);
        self.check_len();
        target
    }

    /// Spawns a task that knows its number, from inside the runtime or through its handle.
    pub(crate) fn spawn<F>(&mut self, by_handle: bool, future: impl FnOnce(u64) -> F) -> Target
    where
        F: Future<Output = T> + Send + 'static,
    {
        let record = self.stage.record(Kind::Member);
        let task = Tracked::new(future(record.id), &record);
        let handle = if by_handle { self.set.spawn_on(task, self.stage.handle()) } else { self.set.spawn(task) };
        self.insert(handle, record)
    }

    pub(crate) fn spawn_blocking(&mut self, job: impl FnOnce() -> T + Send + 'static) -> Target {
        let record = self.stage.record(Kind::Member);
        let handle = self.set.spawn_blocking(tracked_job(job, &record));
        self.insert(handle, record)
    }

    pub(crate) async fn join_next(&mut self) -> Option<Result<T, End>> {
        let result = self.set.join_next_with_id().await;
        self.joined(result)
    }

    pub(crate) fn try_join_next(&mut self) -> Option<Result<T, End>> {
        let result = self.set.try_join_next_with_id();
        self.joined(result)
    }

    fn joined(&mut self, result: Option<Result<(Id, T), JoinError>>) -> Option<Result<T, End>> {
        let result = result?;
        let id = match &result {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        self.check_one_less();
        let Some(record) = self.records.remove(&id) else {
            self.stage.ledger().problem("a join set gave a task twice, or one that it never had".into());
            return None;
        };
        self.stage.ledger().count(Count::Joined);
        Some(record.ended(result.map(|(_, output)| output)))
    }

    fn check_one_less(&self) {
        if self.set.len() + 1 != self.records.len() {
            self.stage.ledger().problem(format!("{} tasks are left of {}", self.set.len(), self.records.len()));
        }
    }

    fn check_len(&self) {
        if self.set.len() != self.records.len() {
            self.stage.ledger().problem(format!("a join set has {} of {} tasks", self.set.len(), self.records.len()));
        }
    }

    pub(crate) fn abort_all(&mut self) {
        self.records.values().for_each(|record| record.aborting());
        self.set.abort_all();
    }

    /// Aborts all, and waits for their ends.
    pub(crate) async fn shutdown(mut self) {
        self.records.values().for_each(|record| record.aborting());
        self.set.shutdown().await;
        self.records.clear();
        self.check_len();
    }

    /// Lets them go on, with nobody who waits.
    pub(crate) fn detach_all(mut self) {
        self.set.detach_all();
        self.records.clear();
        self.check_len();
    }
}

impl<T> Drop for Group<T> {
    fn drop(&mut self) {
        self.records.values().for_each(|record| record.aborting());
    }
}
