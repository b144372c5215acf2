//! How a program may ask for histograms in Tokio's words, under `tokio_unstable`.
//!
//! rt's histograms are what they are: 64 buckets by powers of two, so that to count a poll takes one addition. So these
//! types say nothing that would be kept. A program that reads a histogram by the ranges of its buckets, as it has to,
//! reads rt's.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::metrics::Histogram;

/// Which buckets a histogram has, as Tokio is told. rt always has [`Histogram`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramConfiguration {
    _private: (),
}

impl HistogramConfiguration {
    /// Buckets of one width. rt has [`Histogram`]'s all the same.
    pub fn linear(_bucket_width: Duration, _num_buckets: usize) -> Self {
        Self { _private: () }
    }

    /// Buckets that grow. rt has [`Histogram`]'s.
    pub fn log(_configuration: impl Into<LogHistogram>) -> Self {
        Self { _private: () }
    }
}

/// Buckets that grow. rt always has [`Histogram`]'s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
    _private: (),
}

impl LogHistogram {
    /// Begins with Tokio's defaults.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// use rt::runtime::{Builder, HistogramConfiguration, LogHistogram};
    /// let buckets = LogHistogram::builder().max_value(Duration::from_secs(60)).max_error(0.1);
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_time_histogram_configuration(HistogramConfiguration::log(buckets))
    ///     .build()
    ///     .unwrap();
    /// // Powers of two, whatever was asked for.
    /// let metrics = runtime.metrics();
    /// let widths: Vec<_> = (8..10).map(|bucket| metrics.poll_time_histogram_bucket_range(bucket)).collect();
    /// assert_eq!(widths[1].end, 2 * widths[0].end);
    /// ```
    pub fn builder() -> LogHistogramBuilder {
        LogHistogramBuilder::default()
    }

    /// The longest duration that is told from longer ones, in nanoseconds.
    pub fn max_value(&self) -> u64 {
        Histogram::bucket_range(Histogram::NUM_BUCKETS - 2).end.as_nanos() as u64
    }
}

impl From<LogHistogramBuilder> for LogHistogram {
    fn from(builder: LogHistogramBuilder) -> Self {
        builder.build()
    }
}

/// Makes a [`LogHistogram`]. Its methods take what Tokio's take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogHistogramBuilder {
    _private: (),
}

impl LogHistogramBuilder {
    /// How much a value may differ from its bucket, as a part of it.
    ///
    /// # Panics
    ///
    /// Unless it lies between zero and one.
    #[track_caller]
    pub fn max_error(self, max_error: f64) -> Self {
        assert!(max_error > 0.0 && max_error < 1.0, "max_error lies between 0 and 1, and is {max_error}");
        self
    }

    /// The same, as a power of two: a part in `2^p`.
    ///
    /// # Panics
    ///
    /// If it is above ten.
    #[track_caller]
    pub fn precision_exact(self, p: u32) -> Self {
        assert!(p <= 10, "the precision is 10 at most, and is {p}");
        self
    }

    /// The least duration that is told from none.
    pub fn min_value(self, _duration: Duration) -> Self {
        self
    }

    /// The longest duration that is told from longer ones.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_value(self, duration: Duration) -> Self {
        assert!(!duration.is_zero(), "max_value must be above zero");
        self
    }

    /// Builds it.
    ///
    /// # Errors
    ///
    /// None: nothing depends on the number. (In Tokio it is one if more buckets would be needed.)
    pub fn max_buckets(&mut self, _max_buckets: usize) -> Result<LogHistogram, InvalidHistogramConfiguration> {
        Ok(self.build())
    }

    /// Builds it.
    pub fn build(&self) -> LogHistogram {
        LogHistogram { _private: () }
    }
}

/// A histogram cannot be as it was asked for. (In rt it never is as it was asked for, and there is no such error.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidHistogramConfiguration {
    /// It has more buckets than there may be.
    TooManyBuckets {
        /// How many it has.
        required_bucket_count: usize,
    },
}

impl fmt::Display for InvalidHistogramConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::TooManyBuckets { required_bucket_count } = self;
        write!(f, "the histogram has {required_bucket_count} buckets, which is more than there may be")
    }
}

impl Error for InvalidHistogramConfiguration {}

/// Buckets of one width, or ones that grow. rt always has [`Histogram`]'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramScale {
    /// Of one width.
    Linear,
    /// Each twice as wide as the one before.
    Log,
}
