//! Short timers on a busy runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::company::{Hogs, hog};
use crate::{Handle, Measure, Percentiles, Runtime, on_worker};

const HOGS: usize = 8;
const BURN: Duration = Duration::from_micros(100);

/// Not in the figures.
const WARM_UP: usize = 10;

/// Tasks sleep 2 ms again and again, while eight others burn 100 us of processor time and let others run, for ever.
/// They do so by the runtime's `yield_now`, or by waking themselves, as futures do that know no runtime. Runtimes may
/// treat the two differently. One task sleeps, or two hundred, which are then also in each other's way.
///
/// It measures how soon busy workers look at the timers, and how soon a task that a timer woke gets its turn. With two
/// workers, a task that queues behind all hogs waits 400 us; with more workers than hogs it says nothing. rt's and
/// Tokio's timers tick and are never early, so a part of the figure is that: up to a 32nd of a millisecond on rt, and
/// up to a whole one on Tokio. smol's timers have no tick.
#[derive(Clone, Debug)]
pub struct TimerBesideHogs {
    hogs: Hogs,
    sleepers: usize,
    sleeps: usize,
    title: &'static str,
}

impl TimerBesideHogs {
    /// One timer; the hogs call `yield_now`.
    pub const YIELD: Self =
        Self { hogs: Hogs::Yield, sleepers: 1, sleeps: 1000, title: "2 ms timer beside 8 yielding hogs, late by" };
    /// One timer; the hogs wake themselves.
    pub const WAKE_THEMSELVES: Self = Self {
        hogs: Hogs::WakeThemselves,
        sleepers: 1,
        sleeps: 1000,
        title: "2 ms timer beside 8 self-waking hogs, late by",
    };
    /// Two hundred timers at a time; the hogs call `yield_now`.
    pub const MANY: Self = Self {
        hogs: Hogs::Yield,
        sleepers: 200,
        sleeps: 200,
        title: "200 timers of 2 ms beside 8 yielding hogs, late by",
    };
}

impl Measure for TimerBesideHogs {
    fn titles(&self) -> Vec<String> {
        Percentiles::titles(self.title)
    }

    fn runs(&self) -> usize {
        3
    }

    /// Each run leaves out its own beginning.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let handle = runtime.handle();
        let Self { hogs: kind, sleepers, sleeps, .. } = *self;
        let late = on_worker(runtime, async move {
            let stop = Arc::new(AtomicBool::new(false));
            let hogs: Vec<_> = (0..HOGS).map(|_| handle.spawn(hog::<R>(kind, BURN, Arc::clone(&stop)))).collect();
            let sleepers: Vec<_> = (0..sleepers).map(|_| handle.spawn(sleep_often::<R>(sleeps))).collect();
            let mut late = Vec::new();
            for sleeper in sleepers {
                late.extend(sleeper.await);
            }
            stop.store(true, Ordering::Relaxed);
            for hog in hogs {
                hog.await;
            }
            late
        });
        Percentiles::new(late).micros()
    }
}

async fn sleep_often<R: Runtime>(times: usize) -> Vec<Duration> {
    let timer = Duration::from_millis(2);
    let mut late = Vec::with_capacity(times);
    for n in 0..WARM_UP + times {
        let due = Instant::now() + timer;
        R::Handle::sleep(timer).await;
        if n >= WARM_UP {
            late.push(due.elapsed());
        }
    }
    late
}
