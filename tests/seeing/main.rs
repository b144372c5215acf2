//! `Handle::tasks`: what it tells of the tasks of a runtime, and that it does so whatever these do meanwhile.

// Nobody is forked here while a thread waits.
#![allow(clippy::disallowed_types)]

mod list;
mod storm;
mod waits;

use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;

use parking_lot::{Condvar, Mutex};
use rt::runtime::{Builder, Handle, Runtime, TaskInfo};
use rt::task::JoinHandle;

/// A runtime of either kind. That of one thread is to be driven by the caller.
fn runtimes() -> [Runtime; 2] {
    [multi(2), Builder::new_current_thread().enable_all().record_tasks().build().unwrap()]
}

fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().record_tasks().build().unwrap()
}

/// The one task of this handle.
fn info<T>(runtime: &Handle, task: &JoinHandle<T>) -> Option<TaskInfo> {
    let mut found: Vec<_> = runtime.tasks().into_iter().filter(|info| info.id == task.id()).collect();
    assert!(found.len() <= 1, "listed twice: {found:?}");
    found.pop()
}

/// Lets tasks run until this one looks so.
async fn until<T>(task: &JoinHandle<T>, looks_so: impl Fn(&TaskInfo) -> bool) -> TaskInfo {
    loop {
        let seen = info(&Handle::current(), task);
        if let Some(seen) = seen.filter(&looks_so) {
            return seen;
        }
        rt::task::yield_now().await;
    }
}

/// A poll that blocks its thread until it is told to go on.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<(u32, bool)>, Condvar)>);

impl Gate {
    fn block(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock();
        state.0 += 1;
        changed.notify_all();
        changed.wait_while(&mut state, |state| !state.1);
    }

    /// Waits until this number of threads is blocked.
    fn wait_for(&self, blocked: u32) {
        let (state, changed) = &*self.0;
        changed.wait_while(&mut state.lock(), |state| state.0 < blocked);
    }

    fn open(&self) {
        self.0.0.lock().1 = true;
        self.0.1.notify_all();
    }
}

/// Pending for ever, and never woken.
async fn never() {
    poll_fn(|_| Poll::<()>::Pending).await;
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}
