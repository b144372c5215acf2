//! A million timers at once, none of which fires.

use std::time::{Duration, Instant};

use futures_lite::future;

use crate::{Handle, Measure, Runtime, on_worker};

const TIMERS: u64 = 1_000_000;
const HOUR: u64 = 3_600_000;

/// One task sets a million boxed timers, for moments spread over the second hour from now and in no order, and then
/// drops them in the order in which it set them. The figures are nanoseconds for setting one, its box included, and for
/// dropping one.
///
/// It shows how the cost of a timer grows with their number, and whether taking one out has to look for it: beside
/// [`SetAndCancel`](super::SetAndCancel), which has one timer at a time, it is a matter of cache misses too. The task
/// has no budget, and holds its worker for as long as it takes.
#[derive(Clone, Debug)]
pub struct MillionTimers;

impl Measure for MillionTimers {
    fn titles(&self) -> Vec<String> {
        vec!["a million timers: set one, ns".into(), "a million timers: cancel one, ns".into()]
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let driver = async {
            let mut timers = Vec::with_capacity(TIMERS as usize);
            let start = Instant::now();
            for n in 0..TIMERS {
                // A large prime scatters them.
                let due = Duration::from_millis(HOUR + n * 7_368_787 % HOUR);
                let mut timer = Box::pin(R::Handle::sleep(due));
                assert!(future::poll_once(timer.as_mut()).await.is_none());
                timers.push(timer);
            }
            let set = start.elapsed();
            let start = Instant::now();
            drop(timers);
            (set, start.elapsed())
        };
        let (set, cancelled) = on_worker(runtime, async { R::Handle::unconstrained(driver).await });
        [set, cancelled].map(|time| time.as_nanos() as f64 / TIMERS as f64).into()
    }
}
