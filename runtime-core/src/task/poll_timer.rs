//! [`PollTimer`]: how long the polls of a worker take, for the records of its tasks.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use super::current;

/// Says how long the polls of a worker take, to the record of each task.
///
/// Reading the clock takes longer than to poll a task that just yields. So the worker reads it after each poll only as
/// long as polls take some [microseconds](PollTimer::WORTH_A_READING) each; after sleep it begins with that. Where they
/// are shorter, each counts as the average that the worker has measured in its last interval (`poll_interval.rs`). A
/// long one among those is noticed by the monitor, which has the worker read the clock at its end.
#[derive(Debug, Default)]
pub(crate) struct PollTimer {
    reads_clock: AtomicBool,
    /// In nanoseconds.
    average: AtomicU64,
    /// When the worker last knew the time, by `clock::nanos_since_epoch`; zero if it is asleep.
    known: AtomicU64,
}

impl PollTimer {
    /// A poll of at least this length, in nanoseconds, is worth a reading of the clock, which takes less than one in a
    /// hundred parts of it.
    const WORTH_A_READING: u64 = 4_000;

    /// A poll has ended. How long it took, in nanoseconds.
    #[inline]
    pub(super) fn end_poll(&self) -> u64 {
        if self.reads_clock.load(Relaxed) { self.measure() } else { self.average.load(Relaxed) }
    }

    #[cold]
    fn measure(&self) -> u64 {
        let before = self.known.load(Relaxed);
        let now = current::read_time_here();
        self.known.store(now, Relaxed);
        let took = if before == 0 { 0 } else { now.saturating_sub(before) };
        self.reads_clock.store(took >= Self::WORTH_A_READING, Relaxed);
        took
    }

    /// The worker knows the time, and how long its last polls took on average; zero if it does not know. For its thread.
    pub(crate) fn adapt(&self, now: Instant, average: Duration) {
        self.resume(now);
        let average = u64::try_from(average.as_nanos()).unwrap_or(u64::MAX);
        if average > 0 {
            self.average.store(average, Relaxed);
            self.reads_clock.store(average >= Self::WORTH_A_READING, Relaxed);
        }
    }

    /// The worker did something else until now, and does not know how long the next polls will take. For its thread.
    pub(crate) fn restart(&self, now: Instant) {
        self.resume(now);
        self.reads_clock.store(true, Relaxed);
    }

    /// The worker did something else until now. For its thread.
    pub(crate) fn resume(&self, now: Instant) {
        self.known.store(current::set_time_here(now), Relaxed);
    }

    /// The worker is about to sleep. For its thread.
    pub(crate) fn pause(&self) {
        self.known.store(0, Relaxed);
        current::forget_time_here();
    }

    /// When the poll that the worker is in began, or, if polls are short, one of the last before it: by
    /// `clock::nanos_since_epoch`. For any thread.
    #[cfg(not(loom))]
    pub(crate) fn began(&self) -> Option<u64> {
        Some(self.known.load(Relaxed)).filter(|known| *known != 0)
    }

    /// The poll that the worker is in takes long. For any thread.
    pub(crate) fn watch(&self) {
        self.reads_clock.store(true, Relaxed);
    }
}
