//! Ten thousand tasks that sleep, again and again.

use std::time::Duration;

use cpu_time::ProcessTime;

use crate::{Handle, Runtime, Workload, on_worker};

const TASKS: u64 = 10_000;

/// An operation is one sleep of a millisecond. The figure is **processor time** of the whole process, not time on the
/// clock: what setting a timer, firing it, and waking its task cost when many do it at once.
///
/// The tasks are spawned once, and their spawns and joins are in the figure. How late the timers are is not: see
/// [`ManyTimers`](super::ManyTimers).
#[derive(Clone, Debug)]
pub struct Sleepers;

impl Workload for Sleepers {
    fn name(&self) -> &'static str {
        "timers/10000_sleepers"
    }

    fn title(&self) -> &'static str {
        "10,000 tasks sleeping 1 ms in a loop, CPU a sleep"
    }

    fn operations(&self) -> u64 {
        TASKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let start = ProcessTime::now();
            let sleeper = || async move {
                for _ in 0..rounds {
                    R::Handle::sleep(Duration::from_millis(1)).await;
                }
            };
            let sleepers: Vec<_> = (0..TASKS).map(|_| handle.spawn(sleeper())).collect();
            for sleeper in sleepers {
                sleeper.await;
            }
            start.elapsed()
        })
    }
}
