//! [`Histogram`]: how often which duration came, for the reader; [`HistogramCells`], for the one thread that counts.
//!
//! Bucket `i` has the durations from `2^i` to `2^(i+1)` nanoseconds, and the first one also zero. So any duration has a
//! bucket, finding it is one instruction, and the bound of a bucket is wrong by a factor of two at most.

use std::fmt;
use std::ops::{AddAssign, Range};
use std::time::Duration;

use super::Counter;

/// How often which duration came, in 64 buckets by powers of two.
///
/// Bucket `i` counts durations of `2^i` nanoseconds and more, but less than `2^(i+1)`. The first one counts zero, too.
///
/// # Example
///
/// ```
/// let runtime = rt::runtime::Runtime::new().unwrap();
/// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
/// let polls = runtime.metrics().poll_times();
/// if let Some(longest) = polls.percentile(100.0) {
///     println!("{} polls, and none took longer than {longest:?}", polls.count());
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; Self::NUM_BUCKETS],
}

impl Histogram {
    /// How many buckets there are.
    pub const NUM_BUCKETS: usize = 64;

    /// What each bucket has counted.
    pub fn buckets(&self) -> &[u64; Self::NUM_BUCKETS] {
        &self.buckets
    }

    /// What all buckets together have counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Which durations a bucket counts. The last one counts all that are longer, too.
    ///
    /// # Panics
    ///
    /// If there is no such bucket.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::runtime::Histogram;
    /// use std::time::Duration;
    /// let range = Histogram::bucket_range(10);
    /// assert_eq!(range, Duration::from_nanos(1024)..Duration::from_nanos(2048));
    /// assert_eq!(Histogram::bucket_range(0).start, Duration::ZERO);
    /// ```
    #[track_caller]
    pub fn bucket_range(bucket: usize) -> Range<Duration> {
        assert!(bucket < Self::NUM_BUCKETS, "a histogram has no bucket {bucket}: they are {}", Self::NUM_BUCKETS);
        let start = if bucket == 0 { 0 } else { 1 << bucket };
        let end = 2_u64.checked_pow(bucket as u32 + 1).unwrap_or(u64::MAX);
        Duration::from_nanos(start)..Duration::from_nanos(end)
    }

    /// A duration that `percent` of those counted are below: the upper bound of the bucket in which the longest of
    /// these lies. `None` if nothing was counted.
    ///
    /// What is below 0 counts as that, and what is above 100, or is no number, as 100.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        let count = self.count();
        let share = if percent.is_nan() { 1.0 } else { percent.clamp(0.0, 100.0) / 100.0 };
        let wanted = ((count as f64 * share).ceil() as u64).clamp(1, count.max(1));
        let mut so_far = 0;
        let bucket = self.buckets.iter().position(|&bucket| {
            so_far += bucket;
            so_far >= wanted
        })?;
        Some(Self::bucket_range(bucket).end)
    }

    /// Counts a duration `times` times: for what is not counted by a worker.
    pub fn add(&mut self, duration: Duration, times: u64) {
        self.buckets[bucket_of(nanos(duration))] += times;
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [0; Self::NUM_BUCKETS] }
    }
}

impl AddAssign for Histogram {
    fn add_assign(&mut self, other: Self) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(to, more)| *to += more);
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.buckets.iter().enumerate().filter(|&(_, &count)| count > 0);
        f.debug_map().entries(counted.map(|(bucket, count)| (Self::bucket_range(bucket), count))).finish()
    }
}

/// A duration in nanoseconds, or the most there can be.
#[inline]
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[inline]
fn bucket_of(nanos: u64) -> usize {
    (nanos | 1).ilog2() as usize
}

/// A histogram with one writer at a time and any number of readers.
#[derive(Debug)]
pub struct HistogramCells([Counter; Histogram::NUM_BUCKETS]);

impl HistogramCells {
    /// Counts a duration `times` times. Only for the thread that the histogram belongs to.
    #[inline]
    pub fn add(&self, nanos: u64, times: u64) {
        self.0[bucket_of(nanos)].add(times);
    }

    /// What it has counted.
    pub fn read(&self) -> Histogram {
        Histogram { buckets: self.0.each_ref().map(Counter::get) }
    }
}

impl Default for HistogramCells {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_in_the_range_of_its_bucket() {
        for nanos in (0..64).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]).chain([u64::MAX]) {
            let range = Histogram::bucket_range(bucket_of(nanos));
            let duration = Duration::from_nanos(nanos);
            assert!(range.contains(&duration) || nanos == u64::MAX, "{duration:?} is not in {range:?}");
        }
        for bucket in 1..Histogram::NUM_BUCKETS {
            let (before, this) = (Histogram::bucket_range(bucket - 1), Histogram::bucket_range(bucket));
            assert_eq!(before.end, this.start, "there is no gap before {bucket}");
        }
        assert_eq!(nanos(Duration::MAX), u64::MAX);
    }

    #[test]
    fn percentiles_are_upper_bounds() {
        let cells = HistogramCells::default();
        assert_eq!(cells.read().percentile(50.0), None);
        cells.add(100, 90);
        cells.add(1_000, 9);
        cells.add(1_000_000, 1);
        let histogram = cells.read();
        assert_eq!(histogram.count(), 100);
        for (percent, bound) in [(0.0, 128), (90.0, 128), (90.5, 1024), (99.0, 1024), (99.1, 1 << 20), (100.0, 1 << 20)]
        {
            assert_eq!(histogram.percentile(percent), Some(Duration::from_nanos(bound)), "{percent}");
        }
        assert_eq!(histogram.percentile(-1.0), histogram.percentile(0.0));
        assert_eq!(histogram.percentile(f64::NAN), histogram.percentile(100.0));
    }

    #[test]
    fn histograms_add_up() {
        let mut sum = Histogram::default();
        sum.add(Duration::from_nanos(3), 2);
        let mut other = Histogram::default();
        other.add(Duration::from_nanos(2), 1);
        other.add(Duration::MAX, 1);
        sum += other;
        assert_eq!((sum.buckets()[1], sum.buckets()[63], sum.count()), (3, 1, 4));
    }
}
