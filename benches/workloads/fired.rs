//! Timers that one task sets and waits for.

use std::time::Duration;

use cpu_time::ProcessTime;
use futures_lite::future;

use crate::{Handle, Runtime, Workload, on_worker};

const TIMERS: u64 = 1000;

/// An operation is one boxed timer that is set and fires: a thousand of them, spread evenly from two to three
/// milliseconds, are set at once by one task, which then waits for one after the other. The figure is **processor
/// time** of the whole process.
///
/// It differs from [`Sleepers`](super::Sleepers) in that one task is woken, not one for each timer: it is the timers'
/// own cost, and that of waiting until the next is due. rt and Tokio fire a tick's timers together; smol wakes
/// up for each. The task has no budget: see [`SetAndCancel`](super::SetAndCancel).
#[derive(Clone, Debug)]
pub struct Fired;

impl Workload for Fired {
    fn name(&self) -> &'static str {
        "timers/fired"
    }

    fn title(&self) -> &'static str {
        "1,000 timers of 2 to 3 ms set and fired in one task, CPU a timer"
    }

    fn operations(&self) -> u64 {
        TIMERS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let driver = async move {
            let mut timers = Vec::with_capacity(TIMERS as usize);
            let start = ProcessTime::now();
            for _ in 0..rounds {
                for n in 0..TIMERS {
                    // A prime scatters them over the millisecond.
                    let mut timer = Box::pin(R::Handle::sleep(Duration::from_micros(2000 + n * 367 % TIMERS)));
                    // On a machine that is busy with something else 2 ms may not be enough to set them all.
                    if future::poll_once(timer.as_mut()).await.is_none() {
                        timers.push(timer);
                    }
                }
                for timer in timers.drain(..) {
                    timer.await;
                }
            }
            start.elapsed()
        };
        on_worker(runtime, async { R::Handle::unconstrained(driver).await })
    }
}
