//! What takes processor time while something else is measured: tasks that keep the workers busy, another process.

use std::hint;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_lite::future;

use crate::{Handle, Runtime, Task};

const YIELDERS_A_WORKER: usize = 2;

/// Tasks that yield for ever, enough of them that no worker runs out of work.
pub(super) struct Yielders<R: Runtime> {
    stop: Arc<AtomicBool>,
    tasks: Vec<Task<R, ()>>,
}

impl<R: Runtime> Yielders<R> {
    /// Spawns them from outside.
    pub(super) fn start(runtime: &R) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let yielder = |stop: Arc<AtomicBool>| async move {
            while !stop.load(Ordering::Relaxed) {
                R::Handle::yield_now().await;
            }
        };
        let number = YIELDERS_A_WORKER * runtime.workers();
        let tasks = (0..number).map(|_| runtime.spawn(yielder(Arc::clone(&stop)))).collect();
        Self { stop, tasks }
    }

    /// Waits until they are done.
    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        future::block_on(async {
            for task in self.tasks {
                task.await;
            }
        });
    }
}

/// How a hog lets others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hogs {
    /// By the runtime's `yield_now`.
    Yield,
    /// By waking its own waker, as futures do that know no runtime.
    WakeThemselves,
}

/// Until told to stop, burns processor time and then lets others run.
pub(super) async fn hog<R: Runtime>(kind: Hogs, burn: Duration, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        while start.elapsed() < burn {
            hint::spin_loop();
        }
        match kind {
            Hogs::Yield => R::Handle::yield_now().await,
            // It is pending once, no more.
            Hogs::WakeThemselves => future::yield_now().await,
        }
    }
}

/// A process that takes one processor all the while, until this is dropped.
pub(super) struct Neighbour(Child);

impl Neighbour {
    pub(super) fn start() -> Self {
        Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("there is a shell"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // It cannot have ended by itself.
        self.0.kill().and_then(|()| self.0.wait()).expect("the neighbour ends");
    }
}
