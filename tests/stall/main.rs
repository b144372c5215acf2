//! `Builder::report_stalls`: tasks that can never go on are reported, once, and no others are.

mod found;
mod not_found;

use std::future::{pending, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::task::Poll;
use std::time::Duration;

use rt::runtime::{Builder, Runtime, Stall};
use rt::sync::Mutex;
use rt::task::{Id, JoinHandle};
use rt_test_util::watchdog;

/// A runtime that is looked at all the time, and what is reported of it.
struct Watched {
    runtime: Runtime,
    reports: Receiver<Stall>,
    /// A task that goes on whenever it is asked to: so it is never so that no task can.
    _open: JoinHandle<()>,
}

fn watched() -> Watched {
    let (report, reports) = channel();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().report_stalls(Duration::from_millis(2));
    let runtime = builder.on_stall(move |stall| drop(report.send(stall.clone()))).build().unwrap();
    let _open = runtime.spawn(pending());
    Watched { runtime, reports, _open }
}

impl Watched {
    /// Makes a ring, and waits until that is reported. Returns its number, and what was reported before.
    fn sentinel(&self) -> Vec<Stall> {
        let id = self.runtime.spawn(wait_for_itself()).id();
        let mut before = Vec::new();
        loop {
            match self.reports.recv().unwrap() {
                Stall::Ring { tasks, .. } if tasks[0].id == id => return before,
                other => before.push(other),
            }
        }
    }

    /// What is reported of all that stands still now. (The second ring is found by a later look than the first, so all
    /// reports of the look that has found the first have come.)
    fn reported(&self) -> Vec<Stall> {
        let mut reports = self.sentinel();
        reports.extend(self.sentinel());
        reports
    }
}

/// A task that waits for itself, detached.
async fn wait_for_itself() {
    let lock = Mutex::new(());
    let _once = lock.lock().await;
    let _twice = lock.lock().await;
}

/// Pending for ever, with nothing to wake it.
async fn never() {
    poll_fn(|_| Poll::<()>::Pending).await;
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}
