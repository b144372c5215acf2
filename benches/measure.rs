//! [`Measure`]: where the figures of one or more rows come from.

use std::time::{Duration, Instant};

use crate::runtime::Runtime;
use crate::workload::{Reference, Workload};

/// About what a run of a [`PerOperation`] measures.
const RUN: Duration = Duration::from_millis(100);

/// Something that yields figures, less of which is better. Workloads whose figure is other than the time of an
/// operation (percentiles, bytes, counts) implement it themselves; [`PerOperation`] makes one of every other workload.
pub trait Measure: Send + Sync + 'static {
    /// The rows, each with its unit after the last comma.
    fn titles(&self) -> Vec<String>;

    /// How many runs the median is of.
    fn runs(&self) -> usize {
        5
    }

    /// Warms the runtime up, so that nothing that happens once is in a figure. What it returns is given to each run:
    /// how much work makes a run of a good length, where that depends on the runtime.
    fn prepare<R: Runtime>(&self, runtime: &R) -> u64 {
        self.run(runtime, 0);
        0
    }

    /// One run: a figure for each row.
    fn run<R: Runtime>(&self, runtime: &R, prepared: u64) -> Vec<f64>;

    /// Something else to compare the first row with, warmed up.
    fn reference(&self, _threads: usize) -> Option<Reference<(), f64>> {
        None
    }
}

/// Nanoseconds an operation of a workload.
#[derive(Clone, Debug)]
pub struct PerOperation<W>(pub W);

impl<W: Workload> PerOperation<W> {
    fn nanos(operations: u64, rounds: u64, elapsed: Duration) -> f64 {
        elapsed.as_nanos() as f64 / (rounds * operations) as f64
    }
}

impl<W: Workload> Measure for PerOperation<W> {
    fn titles(&self) -> Vec<String> {
        vec![format!("{}, ns", self.0.title())]
    }

    fn runs(&self) -> usize {
        9
    }

    fn prepare<R: Runtime>(&self, runtime: &R) -> u64 {
        rounds_that_fill(RUN, |rounds| self.0.run(runtime, rounds))
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Vec<f64> {
        vec![Self::nanos(self.0.operations(), rounds, self.0.run(runtime, rounds))]
    }

    fn reference(&self, threads: usize) -> Option<Reference<(), f64>> {
        let Reference { name, run } = self.0.reference(threads)?;
        let operations = self.0.operations();
        let rounds = rounds_that_fill(RUN, &run);
        Some(Reference { name, run: Box::new(move |()| Self::nanos(operations, rounds, run(rounds))) })
    }
}

/// Finds the number of rounds whose figure is about that long, by doubling. What a run does besides, to make a thousand
/// connections or to wait for timers, may take some times that; beyond it a shorter figure has to do.
pub(crate) fn rounds_that_fill(time: Duration, run: impl Fn(u64) -> Duration) -> u64 {
    const BESIDES: u32 = 4;
    const AT_MOST: u32 = 20;
    let mut rounds = 1;
    loop {
        let start = Instant::now();
        let figure = run(rounds);
        let besides = start.elapsed() / if figure >= time / BESIDES { BESIDES } else { AT_MOST };
        let spent = figure.max(besides);
        if spent >= time / 2 {
            let fill = time.as_secs_f64() / spent.as_secs_f64();
            return ((rounds as f64 * fill) as u64).max(1);
        }
        rounds *= 2;
    }
}
