//! Empty closures for the blocking pool.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is one closure: handed to the pool, run by one of its threads, and joined by a task on a worker. One at
/// a time, or sixteen at a time.
///
/// One at a time measures two wakes of a thread, the pool's and the worker's, and is mostly the operating system's.
/// With sixteen it counts how many threads a pool wakes, and how they contend. smol's pool belongs to the process; it
/// has 500 threads at most, and the other two 512.
#[derive(Clone, Debug)]
pub struct Blocking {
    batch: u64,
}

impl Blocking {
    /// One at a time.
    pub const SINGLE: Self = Self { batch: 1 };
    /// Sixteen at a time.
    pub const BATCH: Self = Self { batch: 16 };
}

impl Workload for Blocking {
    fn name(&self) -> &'static str {
        if self.batch == 1 { "blocking/single" } else { "blocking/batch_of_16" }
    }

    fn title(&self) -> &'static str {
        if self.batch == 1 { "`spawn_blocking`, one at a time" } else { "`spawn_blocking`, batches of 16" }
    }

    fn operations(&self) -> u64 {
        self.batch
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        let batch = self.batch;
        on_worker(runtime, async move {
            let mut jobs = Vec::with_capacity(batch as usize);
            let start = Instant::now();
            for _ in 0..rounds {
                jobs.extend((0..batch).map(|_| handle.spawn_blocking(|| ())));
                for job in jobs.drain(..) {
                    job.await;
                }
            }
            start.elapsed()
        })
    }
}
