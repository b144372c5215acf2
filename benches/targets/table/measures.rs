//! [`Measure`]: where the figures of one or two rows come from.

use std::time::{Duration, Instant};

use rt_benches::workloads::{BytesPerTask, ManyTimers, StuckWorkers, TimerBesideHogs};
use rt_benches::{Runtime, Workload};

use crate::allocator::counting;

/// About how long a run of a [`PerOperation`] takes.
const RUN: Duration = Duration::from_millis(100);

/// Something that yields figures, less of which is better.
pub(crate) trait Measure {
    /// The rows, each with its unit.
    fn titles(&self) -> Vec<String>;

    /// How many runs the median is of.
    fn runs(&self) -> usize {
        9
    }

    /// Warms the runtime up. What it returns is given to each run: how much work makes a run of a good length.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    /// One run: a figure for each row.
    fn run<R: Runtime>(&self, runtime: &R, workers: usize, prepared: u64) -> Vec<f64>;
}

/// Nanoseconds an operation of a workload.
pub(crate) struct PerOperation<W>(pub(crate) W);

impl<W: Workload> Measure for PerOperation<W> {
    fn titles(&self) -> Vec<String> {
        vec![format!("{}, ns", self.0.title())]
    }

    /// Finds the number of rounds that fill the time, by doubling.
    fn prepare<R: Runtime>(&self, runtime: &R) -> u64 {
        let mut rounds = 1;
        loop {
            let start = Instant::now();
            self.0.run(runtime, rounds);
            let elapsed = start.elapsed();
            if elapsed >= RUN / 2 {
                let fill = RUN.as_secs_f64() / elapsed.as_secs_f64();
                return ((rounds as f64 * fill) as u64).max(1);
            }
            rounds *= 2;
        }
    }

    fn run<R: Runtime>(&self, runtime: &R, _workers: usize, rounds: u64) -> Vec<f64> {
        let elapsed = self.0.run(runtime, rounds);
        vec![elapsed.as_nanos() as f64 / (rounds * self.0.operations()) as f64]
    }
}

impl Measure for ManyTimers {
    fn titles(&self) -> Vec<String> {
        vec!["100,000 timers within a second: p99 late, us".into(), "100,000 timers within a second: CPU, ms".into()]
    }

    fn runs(&self) -> usize {
        5
    }

    fn run<R: Runtime>(&self, runtime: &R, _workers: usize, _prepared: u64) -> Vec<f64> {
        let outcome = self.measure(runtime);
        vec![outcome.p99_late.as_secs_f64() * 1e6, outcome.cpu.as_secs_f64() * 1e3]
    }
}

impl Measure for TimerBesideHogs {
    fn titles(&self) -> Vec<String> {
        vec![format!("{}, us", self.title())]
    }

    fn runs(&self) -> usize {
        5
    }

    fn run<R: Runtime>(&self, runtime: &R, _workers: usize, _prepared: u64) -> Vec<f64> {
        vec![self.p99_late(runtime).as_secs_f64() * 1e6]
    }
}

/// It makes runtimes of its own.
impl Measure for BytesPerTask {
    fn titles(&self) -> Vec<String> {
        vec!["memory of a parked task, bytes".into(), "memory of a sleeping task, bytes".into()]
    }

    fn runs(&self) -> usize {
        3
    }

    fn run<R: Runtime>(&self, _runtime: &R, workers: usize, _prepared: u64) -> Vec<f64> {
        let bytes = counting(|allocated| self.measure::<R>(workers, allocated));
        vec![bytes.parked, bytes.sleeping]
    }
}

impl Measure for StuckWorkers {
    fn titles(&self) -> Vec<String> {
        vec!["every worker blocked 500 ms: wait of the next task, ms".into()]
    }

    fn runs(&self) -> usize {
        5
    }

    fn run<R: Runtime>(&self, runtime: &R, workers: usize, _prepared: u64) -> Vec<f64> {
        vec![self.wait_of_next(runtime, workers).as_secs_f64() * 1e3]
    }
}
