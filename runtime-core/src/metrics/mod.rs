//! What a runtime counts: [`Counts`] for the reader, `WorkerCounters` for the worker that counts.
//!
//! Always on. Each worker has its own counters and is their only writer, so counting costs a load and a store, relaxed,
//! in a cache line that nobody else writes; remote threads share one block. Reading sums up
//! ([`RuntimeMetrics`](crate::runtime::RuntimeMetrics)).

mod counters;

pub use self::counters::Counts;
pub(crate) use self::counters::{Counter, WorkerCounters};
