//! [`Workload`]: one row.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use crate::runtime::Runtime;

/// Some work that is measured on every runtime. It is done in rounds, and a round consists of operations: a round of a
/// workload of 64 connections is one message on each of them.
pub trait Workload: fmt::Debug + Clone + Send + Sync + 'static {
    /// The criterion group: `file/row`.
    fn name(&self) -> &'static str;

    /// The row in the report: what an operation is.
    fn title(&self) -> &'static str;

    /// How many operations are in a round.
    fn operations(&self) -> u64 {
        1
    }

    /// Does the work, and says how long it took: on the clock, unless the workload says that it measures processor
    /// time.
    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration;

    /// The same work done by a library that is not a runtime, with that many threads.
    fn reference(&self, _threads: usize) -> Option<Reference<u64, Duration>> {
        None
    }
}

/// Something to compare with that is not a runtime.
pub struct Reference<Input, Output> {
    /// As it is called in reports.
    pub name: &'static str,
    /// One run.
    pub run: Box<dyn Fn(Input) -> Output>,
}

impl<Input, Output> fmt::Debug for Reference<Input, Output> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Runs a driver as a task on a worker, while the calling thread waits outside of the runtime.
pub fn on_worker<R, F>(runtime: &R, driver: F) -> F::Output
where
    R: Runtime,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    futures_lite::future::block_on(runtime.spawn(driver))
}
