//! A task on a worker spawns a thousand tasks that nobody joins.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use parking_lot::Mutex;

use crate::{Handle, Runtime, Workload, on_worker};

const TASKS: u64 = 1000;

/// An operation is one of the tasks, from the first spawn to the end of the last task, divided by their number. Each
/// counts down one shared number, which is part of the figure.
///
/// Here the workers share the work: it measures how a burst spreads, and what the queues cost when they are long.
#[derive(Clone, Debug)]
pub struct Detached;

struct Countdown {
    left: AtomicU64,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

impl Countdown {
    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let done = self.done.lock().take().expect("the last is last once");
            let _ = done.send(());
        }
    }
}

impl Workload for Detached {
    fn name(&self) -> &'static str {
        "spawn/detached"
    }

    fn title(&self) -> &'static str {
        "spawn detached, in bursts of 1000"
    }

    fn operations(&self) -> u64 {
        TASKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let start = Instant::now();
            for _ in 0..rounds {
                let (done, all_done) = oneshot::channel();
                let countdown = Arc::new(Countdown { left: AtomicU64::new(TASKS), done: Some(done).into() });
                for _ in 0..TASKS {
                    let countdown = Arc::clone(&countdown);
                    handle.spawn_detached(async move { countdown.count() });
                }
                all_done.await.expect("the last task says so");
            }
            start.elapsed()
        })
    }
}
