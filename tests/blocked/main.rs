//! I7: blocked workers strand no task, timer or socket. And `block_in_place`, by which a task says beforehand that it
//! will block.
//!
//! The tests block for as long as it takes others to do what needs a free worker: without spare workers they would never
//! end.

#[path = "../common/mod.rs"]
mod common;

mod computing;
mod crowds;
mod in_place;
mod limits;
mod not_waited_for;
mod processors;
mod reports;
mod rescue;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{BlockedTask, Builder, Runtime};

/// What was reported.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<BlockedTask>>>);

impl Reports {
    fn taken(&self) -> Vec<BlockedTask> {
        std::mem::take(&mut self.0.lock())
    }
}

/// A builder whose runtime reports to a list, and ends the threads of its spare workers at once.
fn builder(workers: usize) -> (Builder, Reports) {
    let (mut builder, reports) = (Builder::new_multi_thread(), Reports::default());
    let list = reports.clone();
    builder
        .worker_threads(workers)
        .enable_all()
        .thread_keep_alive(Duration::ZERO)
        .on_blocked(move |blocked| list.0.lock().push(blocked.clone()));
    (builder, reports)
}

fn runtime(workers: usize) -> Runtime {
    builder(workers).0.build().unwrap()
}
