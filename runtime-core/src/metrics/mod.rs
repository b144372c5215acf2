//! What a runtime counts: [`Counts`] and [`Histogram`] for the reader, `WorkerCounters` and `WorkerTimes` for the
//! worker that counts.
//!
//! Always on. Each worker has its own counters and is their only writer, so counting costs a load and a store, relaxed,
//! in a cache line that nobody else writes; remote threads share one block. Reading sums up
//! ([`RuntimeMetrics`](crate::runtime::RuntimeMetrics)). What is measured by the clock, and when the clock is read, is
//! in `poll_times.rs` and `scheduler/followed.rs`.

mod counters;
mod histogram;
mod poll_times;
mod stopwatch;
mod watch;
mod worker_times;

pub use self::counters::Counts;
pub(crate) use self::counters::{Counter, WorkerCounters};
pub use self::histogram::{Histogram, HistogramCells};
pub(crate) use self::poll_times::PollTimes;
pub use self::worker_times::WorkerState;
pub(crate) use self::worker_times::WorkerTimes;
