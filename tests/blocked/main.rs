//! I7: blocked workers strand no task, timer or socket. And `block_in_place`, by which a task says beforehand that it
//! will block.
//!
//! The tests block for as long as it takes others to do what needs a free worker: without spare workers they would never
//! end.

mod computing;
mod crowds;
mod in_place;
mod limits;
mod not_waited_for;
mod processors;
mod reports;
mod rescue;

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
