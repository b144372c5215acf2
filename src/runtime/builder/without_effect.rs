//! What Tokio's builder can be told, under `tokio_unstable`, and rt has no use for: so that a program that says it
//! compiles, and runs as well without.

use std::time::Duration;

use runtime_core::runtime::{HistogramConfiguration, HistogramScale};

use super::Builder;

/// # Without effect
///
/// Switches of mechanisms that Tokio has, and rt has not or always has.
impl Builder {
    /// In Tokio, has a task that another one wakes wait behind all others of its worker, so that it can be stolen, and
    /// two that wake each other cannot starve the rest. In rt it can be stolen, and the rest have their turns, anyway.
    pub fn disable_lifo_slot(&mut self) -> &mut Self {
        self
    }

    /// In Tokio, enables timers of a kind with less contention. In rt it enables the one kind that there is.
    pub fn enable_alt_timer(&mut self) -> &mut Self {
        self.enable_time()
    }

    /// In Tokio, has a worker that leaves the drivers wake another one to wait in them. In rt busy workers look after
    /// them by themselves, and the monitor sees to it that somebody does.
    pub fn enable_eager_driver_handoff(&mut self) -> &mut Self {
        self
    }

    /// In Tokio, splits the queue of the blocking pool. What rt's takes is in its benchmarks.
    pub fn enable_sharded_blocking_queue(&mut self) -> &mut Self {
        self
    }

    /// In Tokio, enables I/O, and has files read by io_uring where the system has it. In rt it enables I/O, and files
    /// are read without it.
    pub fn enable_io_uring(&mut self) -> &mut Self {
        self.enable_io()
    }

    /// rt's histograms have [buckets of their own](crate::runtime::Histogram).
    pub fn metrics_poll_time_histogram_configuration(&mut self, _: HistogramConfiguration) -> &mut Self {
        self
    }

    /// As [`metrics_poll_time_histogram_configuration`](Self::metrics_poll_time_histogram_configuration).
    pub fn metrics_schedule_latency_histogram_configuration(&mut self, _: HistogramConfiguration) -> &mut Self {
        self
    }

    /// As [`enable_metrics_poll_time_histogram`](Self::enable_metrics_poll_time_histogram): an old name.
    #[doc(hidden)]
    pub fn enable_metrics_poll_count_histogram(&mut self) -> &mut Self {
        self.enable_metrics_poll_time_histogram()
    }

    /// As [`metrics_poll_time_histogram_configuration`](Self::metrics_poll_time_histogram_configuration).
    #[doc(hidden)]
    pub fn metrics_poll_count_histogram_scale(&mut self, _: HistogramScale) -> &mut Self {
        self
    }

    /// As [`metrics_poll_time_histogram_configuration`](Self::metrics_poll_time_histogram_configuration).
    #[doc(hidden)]
    #[track_caller]
    pub fn metrics_poll_count_histogram_resolution(&mut self, resolution: Duration) -> &mut Self {
        assert!(!resolution.is_zero(), "the resolution must be above zero");
        self
    }

    /// As [`metrics_poll_time_histogram_configuration`](Self::metrics_poll_time_histogram_configuration).
    #[doc(hidden)]
    pub fn metrics_poll_count_histogram_buckets(&mut self, _: usize) -> &mut Self {
        self
    }
}
