//! A thread that is not part of the runtime spawns a thousand tasks, and then joins them.

use std::time::{Duration, Instant};

use futures_lite::future;

use crate::{Runtime, Workload};

const TASKS: u64 = 1000;

/// An operation is one spawn and join, from the first spawn to the last join, divided by the number of tasks.
///
/// It measures the way into the runtime while the workers run: the shared queue, and waking them. The thread waits with
/// futures-lite's `block_on`, which does nothing but park, and does so a few times at most in a thousand tasks.
#[derive(Clone, Debug)]
pub struct FromOutside;

impl Workload for FromOutside {
    fn name(&self) -> &'static str {
        "spawn/from_outside"
    }

    fn title(&self) -> &'static str {
        "spawn from outside and join, in bursts of 1000"
    }

    fn operations(&self) -> u64 {
        TASKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let mut tasks = Vec::with_capacity(TASKS as usize);
        let start = Instant::now();
        for _ in 0..rounds {
            tasks.extend((0..TASKS).map(|_| runtime.spawn(async {})));
            future::block_on(async {
                for task in tasks.drain(..) {
                    task.await;
                }
            });
        }
        start.elapsed()
    }
}
