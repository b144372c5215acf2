//! A timer on a runtime that has nothing else to do.

use std::time::{Duration, Instant};

use crate::{Handle, Measure, Percentiles, Runtime, on_worker};

const SLEEPS: u64 = 300;

/// Not in the figures.
const WARM_UP: u64 = 10;

/// A task sleeps 1 to 8 ms, 300 times, and nothing else happens.
///
/// It measures how late the thread gets up that waits for the timer: the tick of the timers, the accuracy of the
/// system's wait, and how long a sleeping processor takes to wake.
#[derive(Clone, Debug)]
pub struct LoneTimer;

impl Measure for LoneTimer {
    fn titles(&self) -> Vec<String> {
        Percentiles::titles("a timer and nothing else, late by")
    }

    fn runs(&self) -> usize {
        3
    }

    /// Each run leaves out its own beginning.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let late = on_worker(runtime, async {
            let mut late = Vec::with_capacity(SLEEPS as usize);
            for n in 0..WARM_UP + SLEEPS {
                // A prime scatters them over the range.
                let length = Duration::from_micros(1000 + n * 1873 % 7000);
                let due = Instant::now() + length;
                R::Handle::sleep(length).await;
                if n >= WARM_UP {
                    late.push(due.elapsed());
                }
            }
            late
        });
        Percentiles::new(late).micros()
    }
}
