//! A timer that is put off again and again.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures_lite::future;

use crate::{Handle, Runtime, Timer, Workload, on_worker};

/// An operation is one reset of a timer that is set: to ten seconds from now, as a connection does with its idle
/// timeout whenever a message comes. It reads the clock once. rt's and Tokio's `Sleep::reset`, and smol's
/// `Timer::set_after`.
///
/// The new deadline is always later than the old one, which a runtime may make use of: Tokio notes it, and looks again
/// when the old one has come. Nothing else is in the wheel.
#[derive(Clone, Debug)]
pub struct Reset;

impl Workload for Reset {
    fn name(&self) -> &'static str {
        "timers/reset"
    }

    fn title(&self) -> &'static str {
        "put off a timer that is set"
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        on_worker(runtime, async move {
            let later = Duration::from_secs(10);
            let mut timer = pin!(R::Handle::timer(later));
            assert!(future::poll_once(timer.as_mut()).await.is_none());
            let start = Instant::now();
            for _ in 0..rounds {
                timer.as_mut().reset(later);
            }
            start.elapsed()
        })
    }
}
