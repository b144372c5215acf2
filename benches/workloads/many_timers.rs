//! A hundred thousand tasks that each sleep once, for durations spread evenly over a span.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use super::p99;
use crate::{Handle, Runtime, Workload, on_worker};

const TASKS: u64 = 100_000;

/// An operation is one task, one sleep and one join, in **processor time** of the whole process. The durations begin at
/// half a second, so that all timers are set when the first fires, and are in no order.
#[derive(Clone, Debug)]
pub struct ManyTimers {
    /// Over which the timers are spread.
    span: Duration,
}

/// What a run of [`ManyTimers`] shows.
#[derive(Clone, Copy, Debug)]
pub struct TimersOutcome {
    /// How late all but the latest 1000 timers were at most: from the due time to the first line after the sleep.
    pub p99_late: Duration,
    /// The processor time of the whole process.
    pub cpu: Duration,
}

impl ManyTimers {
    /// 100 timers a millisecond, for a second.
    pub const STEADY: Self = Self { span: Duration::from_secs(1) };
    /// All within a fifth of a second.
    pub const DENSE: Self = Self { span: Duration::from_millis(200) };

    /// Sleeps 100,000 times.
    pub fn measure<R: Runtime>(&self, runtime: &R) -> TimersOutcome {
        let handle = runtime.handle();
        let span = self.span.as_micros() as u64;
        on_worker(runtime, async move {
            let start = ProcessTime::now();
            let tasks: Vec<_> = (0..TASKS)
                .map(|n| {
                    // A large prime scatters them over the span.
                    let duration = Duration::from_micros(500_000 + n * 7_368_787 % span);
                    handle.spawn(async move {
                        let due = Instant::now() + duration;
                        R::Handle::sleep(duration).await;
                        due.elapsed()
                    })
                })
                .collect();
            let mut late = Vec::with_capacity(TASKS as usize);
            for task in tasks {
                late.push(task.await);
            }
            let cpu = start.elapsed();
            TimersOutcome { p99_late: p99(&mut late), cpu }
        })
    }
}

impl Workload for ManyTimers {
    fn name(&self) -> &'static str {
        "timers/100000_timers"
    }

    fn title(&self) -> &'static str {
        "100,000 timers, CPU a timer"
    }

    fn operations(&self) -> u64 {
        TASKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        (0..rounds).map(|_| self.measure(runtime).cpu).sum()
    }
}
