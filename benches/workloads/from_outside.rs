//! A thread that is not part of the runtime spawns a thousand tasks, and then joins them.

use std::time::{Duration, Instant};

use futures_lite::future;

use super::company::Yielders;
use crate::{Runtime, Workload};

const TASKS: u64 = 1000;

/// An operation is one spawn and join, from the first spawn to the last join, divided by the number of tasks.
///
/// It measures the way into the runtime while the workers run: the shared queue, and waking them. The thread waits with
/// futures-lite's `block_on`, which does nothing but park, and does so a few times at most in a thousand tasks.
///
/// A busy runtime has two tasks a worker that do nothing but yield, so that no worker ever sleeps. Nobody need be
/// woken, but new work has to be noticed among other work, and how soon it is, is a choice: a runtime that looks at its
/// shared queue more often does better here, and worse where there is nothing in it.
#[derive(Clone, Debug)]
pub struct FromOutside {
    busy: bool,
}

impl FromOutside {
    /// Into a runtime that has nothing else to do.
    pub const IDLE: Self = Self { busy: false };
    /// Into a runtime whose workers are busy.
    pub const BUSY: Self = Self { busy: true };
}

impl Workload for FromOutside {
    fn name(&self) -> &'static str {
        if self.busy { "spawn/from_outside_busy" } else { "spawn/from_outside" }
    }

    fn title(&self) -> &'static str {
        if self.busy {
            "spawn from outside, busy runtime, join, in bursts of 1000"
        } else {
            "spawn from outside and join, in bursts of 1000"
        }
    }

    fn operations(&self) -> u64 {
        TASKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let company = self.busy.then(|| Yielders::start(runtime));
        let start = Instant::now();
        spawn_and_join(runtime, TASKS, rounds);
        let elapsed = start.elapsed();
        if let Some(company) = company {
            company.stop();
        }
        elapsed
    }
}

/// Spawns that many tasks and joins them, again and again.
pub(super) fn spawn_and_join<R: Runtime>(runtime: &R, burst: u64, times: u64) {
    let mut tasks = Vec::with_capacity(burst as usize);
    for _ in 0..times {
        tasks.extend((0..burst).map(|_| runtime.spawn(async {})));
        future::block_on(async {
            for task in tasks.drain(..) {
                task.await;
            }
        });
    }
}
