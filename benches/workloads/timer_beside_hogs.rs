//! A short timer on a busy runtime.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_lite::future;

use super::p99;
use crate::{Handle, Runtime, on_worker};

const HOGS: usize = 8;
const BURN: Duration = Duration::from_micros(100);
const TIMER: Duration = Duration::from_millis(2);
const TIMERS: usize = 250;

/// One task sleeps 2 ms, 250 times, while eight others burn 100 us of processor time and let others run, for ever. They
/// do so by the runtime's `yield_now`, or by waking themselves, as futures do that know no runtime. Runtimes may treat
/// the two differently.
///
/// It measures how soon busy workers look at the timers, and how soon a task that a timer woke gets its turn. With two
/// workers, whoever queues behind all hogs waits 400 us; with more workers than hogs it says nothing. Up to a
/// millisecond of the figure is the tick of rt's and Tokio's timers, which are never early; smol's timers have none.
#[derive(Clone, Debug)]
pub struct TimerBesideHogs {
    wake_themselves: bool,
}

impl TimerBesideHogs {
    /// The hogs call `yield_now`.
    pub const YIELD: Self = Self { wake_themselves: false };
    /// The hogs wake themselves.
    pub const WAKE_THEMSELVES: Self = Self { wake_themselves: true };

    /// The row in the table.
    pub fn title(&self) -> &'static str {
        if self.wake_themselves {
            "2 ms timer beside 8 tasks that burn 100 us and wake themselves: p99 late"
        } else {
            "2 ms timer beside 8 tasks that burn 100 us and yield: p99 late"
        }
    }

    /// How late all but the latest 1 % of the timers were at most.
    pub fn p99_late<R: Runtime>(&self, runtime: &R) -> Duration {
        let handle = runtime.handle();
        let wake_themselves = self.wake_themselves;
        on_worker(runtime, async move {
            let stop = Arc::new(AtomicBool::new(false));
            let hogs: Vec<_> = (0..HOGS).map(|_| handle.spawn(hog::<R>(Arc::clone(&stop), wake_themselves))).collect();
            let timers = handle.spawn(async {
                let mut late = Vec::with_capacity(TIMERS);
                for _ in 0..TIMERS {
                    let due = Instant::now() + TIMER;
                    R::Handle::sleep(TIMER).await;
                    late.push(due.elapsed());
                }
                late
            });
            let mut late = timers.await;
            stop.store(true, Ordering::Relaxed);
            for hog in hogs {
                hog.await;
            }
            p99(&mut late)
        })
    }
}

async fn hog<R: Runtime>(stop: Arc<AtomicBool>, wakes_itself: bool) {
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        while start.elapsed() < BURN {
            hint::spin_loop();
        }
        if wakes_itself {
            // It wakes its waker and is pending once, no more.
            future::yield_now().await;
        } else {
            R::Handle::yield_now().await;
        }
    }
}
