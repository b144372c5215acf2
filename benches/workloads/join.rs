//! A task on a worker spawns an empty task, waits for it, and goes on to the next.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is one spawn and join: allocating a task, queueing it, polling it once, and waking who waits for it.
///
/// There is never more than one task to run, so neither stealing nor contention is in it, unless a runtime sends an
/// idle worker for that one task.
#[derive(Clone, Debug)]
pub struct Join;

impl Workload for Join {
    fn name(&self) -> &'static str {
        "spawn/join"
    }

    fn title(&self) -> &'static str {
        "spawn a task on a worker and join it"
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let start = Instant::now();
            for _ in 0..rounds {
                handle.spawn(async {}).await;
            }
            start.elapsed()
        })
    }
}
