//! A hundred thousand tasks that each sleep once, for durations spread evenly over a span.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use crate::{Handle, Measure, Percentiles, Runtime, Workload, on_worker};

const TASKS: u64 = 100_000;

/// An operation is one task, one sleep and one join, in **processor time** of the whole process. The durations begin at
/// half a second, so that all timers are set when the first fires, and are in no order.
///
/// As a [`Measure`] it tells the lateness, too: from the due time to the first line after the sleep.
#[derive(Clone, Debug)]
pub struct ManyTimers {
    /// Over which the timers are spread.
    span: Duration,
}

impl ManyTimers {
    /// 100 timers a millisecond, for a second.
    pub const STEADY: Self = Self { span: Duration::from_secs(1) };
    /// All within a fifth of a second.
    pub const DENSE: Self = Self { span: Duration::from_millis(200) };

    /// Sleeps 100,000 times: how late each was, and the processor time.
    fn sleep_all<R: Runtime>(&self, runtime: &R) -> (Vec<Duration>, Duration) {
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
        let mut titles = Percentiles::titles("100,000 timers within a second, late by");
        titles.push("100,000 timers within a second: CPU, ms".into());
        titles
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let (late, cpu) = self.sleep_all(runtime);
        let mut figures = Percentiles::new(late).micros();
        figures.push(cpu.as_secs_f64() * 1e3);
        figures
    }
}
