//! Medians of runs, and percentiles of what was observed within a run.

use std::time::Duration;

/// Durations of one run, sorted.
#[derive(Clone, Debug)]
pub struct Percentiles {
    sorted: Vec<Duration>,
}

impl Percentiles {
    /// Sorts the durations.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(mut durations: Vec<Duration>) -> Self {
        assert!(!durations.is_empty(), "percentiles of nothing");
        durations.sort_unstable();
        Self { sorted: durations }
    }

    /// The duration that `percent` of them do not exceed, by the nearest rank.
    pub fn at(&self, percent: f64) -> Duration {
        let rank = (self.sorted.len() as f64 * percent / 100.0).ceil() as usize;
        self.sorted[rank.clamp(1, self.sorted.len()) - 1]
    }

    /// The 50th, 99th and 99.9th in microseconds: the figures of every row that is about latency.
    pub fn micros(&self) -> Vec<f64> {
        Self::TOLD.iter().map(|&percent| self.at(percent).as_secs_f64() * 1e6).collect()
    }

    /// The titles that go with [`micros`](Self::micros).
    pub fn titles(of: &str) -> Vec<String> {
        Self::TOLD.iter().map(|percent| format!("{of}: p{percent}, us")).collect()
    }

    const TOLD: [f64; 3] = [50.0, 99.0, 99.9];
}

/// One figure of several runs.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    sorted: Vec<f64>,
}

impl Runs {
    /// Adds a run.
    pub fn push(&mut self, figure: f64) {
        let position = self.sorted.partition_point(|other| other.total_cmp(&figure).is_lt());
        self.sorted.insert(position, figure);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The middle one; of an even number the mean of the two in the middle.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn median(&self) -> f64 {
        let (low, high) = ((self.sorted.len() - 1) / 2, self.sorted.len() / 2);
        (self.sorted[low] + self.sorted[high]) / 2.0
    }

    /// The figures between which the middle half of the runs lies. Of three runs these are all of them.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn middle_half(&self) -> (f64, f64) {
        let beyond = self.sorted.len() / 4;
        (self.sorted[beyond], self.sorted[self.sorted.len() - 1 - beyond])
    }

    /// The smallest and the largest.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn range(&self) -> (f64, f64) {
        (self.sorted[0], self.sorted[self.sorted.len() - 1])
    }
}
