//! [`BusyTime`]: for how long a worker has had work.
//!
//! It is added up where the worker reads the clock anyway: when it runs out of work, when it has been woken, and at its
//! maintenance.

use std::cell::Cell;
use std::time::Instant;

use crate::metrics::WorkerCounters;

/// See the module. It goes with the worker's core.
#[derive(Debug, Default)]
pub(super) struct BusyTime {
    /// The time from then on was not counted yet; `None` while the worker has no work.
    since: Cell<Option<Instant>>,
}

impl BusyTime {
    /// The worker looks for work from now on.
    pub(super) fn begin(&self, now: Instant) {
        self.since.set(Some(now));
    }

    /// It goes on, and what has passed is counted.
    pub(super) fn count(&self, now: Instant, counters: &WorkerCounters) {
        if let Some(since) = self.since.replace(Some(now)) {
            counters.busy_nanos.add(now.saturating_duration_since(since).as_nanos() as u64);
        }
    }

    /// It has found none.
    pub(super) fn end(&self, now: Instant, counters: &WorkerCounters) {
        self.count(now, counters);
        self.since.set(None);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_the_time_with_work_counts() {
        let (busy, counters) = (BusyTime::default(), WorkerCounters::default());
        let start = Instant::now();
        let at = |nanos| start + Duration::from_nanos(nanos);
        busy.begin(at(10));
        busy.count(at(13), &counters);
        busy.end(at(18), &counters);
        assert_eq!(counters.busy_nanos.get(), 8);
        busy.begin(at(100));
        busy.end(at(101), &counters);
        assert_eq!(counters.busy_nanos.get(), 9);
    }
}
