//! Blocked workers: how they are found, reported and replaced, by the hundred and at the limits. And `block_in_place`,
//! by which a task says beforehand that it will block. (The promise itself, for each way to block: I7 in
//! `tests/invariants`.)
//!
//! The tests block until others have done what needs a free worker. Without spare workers they would never end.

mod computing;
mod crowds;
mod in_place;
mod in_place_outside_of_polls;
mod limits;
mod not_waited_for;
mod processors;
mod reports;

use std::sync::Arc;

use parking_lot::Mutex;
use rt::runtime::{BlockedTask, Builder, Runtime};
use rt_test_util::rescuing;

/// What was reported.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<BlockedTask>>>);

impl Reports {
    fn taken(&self) -> Vec<BlockedTask> {
        std::mem::take(&mut self.0.lock())
    }
}

/// A builder of a runtime with spare workers, and the list that it reports to.
fn builder(workers: usize) -> (Builder, Reports) {
    let (mut builder, reports) = (rescuing(workers), Reports::default());
    let list = reports.clone();
    builder.on_blocked(move |blocked| list.0.lock().push(blocked.clone()));
    (builder, reports)
}

fn runtime(workers: usize) -> Runtime {
    rescuing(workers).build().unwrap()
}
