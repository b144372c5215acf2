//! Many timers, each in a task of its own.

use std::sync::Arc;

use rt::time::{Duration, Instant, sleep_until};

use crate::distribution::Distribution;
use crate::failure::{Failure, finished};
use crate::progress::Progress;
use crate::random::Random;

const TIMERS: u64 = 10_000;
const LONGEST_MS: u64 = 1_000;
const SEED: u64 = 10_000;

/// Runs all timers; the result is how late they fired.
pub(crate) async fn run(progress: Arc<Progress>) -> Result<Distribution, Failure> {
    progress.timers.expect(TIMERS);
    let mut random = Random::new(SEED);
    let timers: Vec<_> = (0..TIMERS)
        .map(|_| Duration::from_millis(random.between(1, LONGEST_MS)))
        .map(|duration| rt::spawn(timer(duration, Arc::clone(&progress))))
        .collect();
    let mut lateness = Vec::new();
    for timer in timers {
        lateness.push(finished(timer).await?);
    }
    Ok(Distribution::new(lateness))
}

/// Sleeps; the result is for how much too long.
async fn timer(duration: Duration, progress: Arc<Progress>) -> Result<Duration, Failure> {
    let deadline = Instant::now() + duration;
    sleep_until(deadline).await;
    let now = Instant::now();
    progress.timers.advance();
    now.checked_duration_since(deadline)
        .ok_or_else(|| Failure::check(format!("a timer of {duration:?} fired {:?} early", deadline - now)))
}
