//! A timeout that does not strike.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is one timeout of a second around work that is done at once, or after one yield.
///
/// Around ready work none of the runtimes sets a timer; rt and Tokio read the clock, for the limit counts from
/// the call, and smol's idiom does so only when the work is not ready. Around work that has to wait, a timer is set and
/// cancelled. The yield is in the second figure: see [`Yielding::ONE`](super::Yielding::ONE).
#[derive(Clone, Debug)]
pub struct Timeout {
    yields: bool,
}

impl Timeout {
    /// Around work that is ready.
    pub const READY: Self = Self { yields: false };
    /// Around work that yields once.
    pub const WAITS: Self = Self { yields: true };
}

impl Workload for Timeout {
    fn name(&self) -> &'static str {
        if self.yields { "timers/timeout_around_yield" } else { "timers/timeout_around_ready" }
    }

    fn title(&self) -> &'static str {
        if self.yields { "timeout around work that yields once" } else { "timeout around ready work" }
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let yields = self.yields;
        on_worker(runtime, async move {
            let start = Instant::now();
            for _ in 0..rounds {
                let work = async {
                    if yields {
                        R::Handle::yield_now().await;
                    }
                };
                assert!(R::Handle::timeout(Duration::from_secs(1), work).await.is_some());
            }
            start.elapsed()
        })
    }
}
