//! A set of durations, to ask how long most of them are.

use rt::time::Duration;

/// Durations in ascending order.
#[derive(Debug)]
pub(crate) struct Distribution(Vec<Duration>);

impl Distribution {
    pub(crate) fn new(mut samples: Vec<Duration>) -> Self {
        samples.sort_unstable();
        Self(samples)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The shortest duration that at least this share of all does not exceed. Zero if there are none.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    pub(crate) fn max(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }
}
