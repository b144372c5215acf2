//! The future in `block_on` spawns tasks and joins them.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload};

/// An operation is one spawn and join, from where a program's `main` runs: on a thread that is no worker. One at a
/// time, as in [`Join`](super::Join), or a thousand spawned and then joined, as in [`FromOutside`](super::FromOutside).
///
/// smol's caller runs tasks itself while it waits; rt's and Tokio's hands each to a worker. So one at a time measures
/// two wakes between threads on the latter, and none on the former; a burst measures throughput.
#[derive(Clone, Debug)]
pub struct InBlockOn {
    burst: u64,
}

impl InBlockOn {
    /// One at a time.
    pub const SINGLE: Self = Self { burst: 1 };
    /// A thousand at a time.
    pub const BURST: Self = Self { burst: 1000 };
}

impl Workload for InBlockOn {
    fn name(&self) -> &'static str {
        if self.burst == 1 { "spawn/in_block_on" } else { "spawn/in_block_on_burst" }
    }

    fn title(&self) -> &'static str {
        if self.burst == 1 {
            "spawn a task in `block_on` and join it"
        } else {
            "spawn in `block_on` and join, in bursts of 1000"
        }
    }

    fn operations(&self) -> u64 {
        self.burst
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        let burst = self.burst;
        runtime.block_on(async move {
            let mut tasks = Vec::with_capacity(burst as usize);
            let start = Instant::now();
            for _ in 0..rounds {
                tasks.extend((0..burst).map(|_| handle.spawn(async {})));
                for task in tasks.drain(..) {
                    task.await;
                }
            }
            start.elapsed()
        })
    }
}
