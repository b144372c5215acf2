//! A timer that is set and dropped long before it is due.

use std::time::{Duration, Instant};

use futures_lite::future;

use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is one boxed timer of ten seconds: made, polled once, dropped. This is what every timeout around fast
/// work costs.
///
/// Nothing else is in the wheel, and one task does it all: contention on the timers is not in it. The box is, on every
/// runtime: Tokio's timer must not move once polled, and a program that keeps timers keeps them in boxes. The task has
/// no budget: with one, Tokio's timers refuse to be set from the 129th in the same poll on, and the row would measure
/// that.
#[derive(Clone, Debug)]
pub struct SetAndCancel;

impl Workload for SetAndCancel {
    fn name(&self) -> &'static str {
        "timers/set_and_cancel"
    }

    fn title(&self) -> &'static str {
        "set, poll once and cancel a boxed timer"
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let driver = async move {
            let start = Instant::now();
            for _ in 0..rounds {
                let mut timer = Box::pin(R::Handle::sleep(Duration::from_secs(10)));
                assert!(future::poll_once(timer.as_mut()).await.is_none());
            }
            start.elapsed()
        };
        on_worker(runtime, async { R::Handle::unconstrained(driver).await })
    }
}
