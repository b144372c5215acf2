//! A hundred thousand tasks that each sleep once, for durations spread evenly over a span.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use crate::{Handle, Measure, Percentiles, Runtime, Workload, on_worker};

const TASKS: u64 = 100_000;

/// An operation is one task, one sleep and one join, in **processor time** of the whole process. The durations are in
/// no order. They begin at nothing, so that the first timers fire while others are still being set, or at half a
/// second: then all are set before, and nobody has anything to do but to wait for the next.
///
/// As a [`Measure`] it tells the lateness, too: from the due time to the first line after the sleep.
#[derive(Clone, Debug)]
pub struct ManyTimers {
    /// The shortest duration.
    from: Duration,
    /// Over which the timers are spread.
    span: Duration,
    title: &'static str,
}

/// Enough to set them all, on each of the runtimes.
const HEAD_START: Duration = Duration::from_millis(500);

impl ManyTimers {
    /// 100 timers a millisecond, for a second, while the first of that second are still being set.
    pub const BUSY: Self =
        Self { from: Duration::ZERO, span: Duration::from_secs(1), title: "100,000 timers within a second" };
    /// The same, when all are set.
    pub const STEADY: Self = Self {
        from: HEAD_START,
        span: Duration::from_secs(1),
        title: "100,000 timers within a second, all set before",
    };
    /// All within a fifth of a second, when all are set.
    pub const DENSE: Self =
        Self { from: HEAD_START, span: Duration::from_millis(200), title: "100,000 timers within 200 ms" };

    /// Sleeps 100,000 times: how late each was, and the processor time.
    fn sleep_all<R: Runtime>(&self, runtime: &R) -> (Vec<Duration>, Duration) {
        let handle = runtime.handle();
        let (from, span) = (self.from, self.span.as_micros() as u64);
        on_worker(runtime, async move {
            let start = ProcessTime::now();
            let tasks: Vec<_> = (0..TASKS)
                .map(|n| {
                    // A large prime scatters them over the span.
                    let duration = from + Duration::from_micros(n * 7_368_787 % span);
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
            (late, start.elapsed())
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
        (0..rounds).map(|_| self.sleep_all(runtime).1).sum()
    }
}

impl Measure for ManyTimers {
    fn titles(&self) -> Vec<String> {
        let mut titles = Percentiles::titles(&format!("{}, late by", self.title));
        titles.push(format!("{}: CPU, ms", self.title));
        titles
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let (late, cpu) = self.sleep_all(runtime);
        let mut figures = Percentiles::new(late).micros();
        figures.push(cpu.as_secs_f64() * 1e3);
        figures
    }
}
