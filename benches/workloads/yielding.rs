//! Tasks that do nothing but yield.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is one yield of one task: putting itself at the end of a queue and coming back from it.
///
/// One task has nobody to yield to, and should come back at once; 200 keep all workers' queues filled, and measure the
/// bare loop of the scheduler. The tasks are spawned once, and their spawns and joins are in the figure.
#[derive(Clone, Debug)]
pub struct Yielding {
    tasks: u64,
}

impl Yielding {
    /// One task, alone.
    pub const ONE: Self = Self { tasks: 1 };
    /// 200 tasks.
    pub const MANY: Self = Self { tasks: 200 };
}

impl Workload for Yielding {
    fn name(&self) -> &'static str {
        if self.tasks == 1 { "yielding/1_task" } else { "yielding/200_tasks" }
    }

    fn title(&self) -> &'static str {
        if self.tasks == 1 { "yield, 1 task" } else { "yield, 200 tasks" }
    }

    fn operations(&self) -> u64 {
        self.tasks
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        let others = self.tasks - 1;
        on_worker(runtime, async move {
            let start = Instant::now();
            let others: Vec<_> = (0..others).map(|_| handle.spawn(yields::<R>(rounds))).collect();
            yields::<R>(rounds).await;
            for other in others {
                other.await;
            }
            start.elapsed()
        })
    }
}

async fn yields<R: Runtime>(times: u64) {
    for _ in 0..times {
        R::Handle::yield_now().await;
    }
}
