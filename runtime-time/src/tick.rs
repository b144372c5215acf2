//! Between points in time and the wheel's ticks: the only place that converts, and the one that rounds.
//!
//! A tick is a 32nd of a millisecond; ticks are counted since the runtime's timers started. A deadline is rounded
//! **up** to a tick and the present is rounded **down**, so that "the deadline's tick has passed" implies that the
//! deadline has: no timer fires early. The price is that a timer may be up to a tick late. (A poller that counts in
//! milliseconds adds up to one of those, when the thread slept until then.)

use std::time::{Duration, Instant};

use crate::wheel::MAX_TICK;

const NANOS_PER_TICK: u32 = 31_250;
const TICKS_PER_SECOND: u64 = 1_000_000_000 / NANOS_PER_TICK as u64;
pub(crate) const TICKS_PER_MILLISECOND: u64 = TICKS_PER_SECOND / 1000;

/// Where tick 0 is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticks {
    start: Instant,
}

impl Ticks {
    pub(crate) fn starting_at(start: Instant) -> Self {
        Self { start }
    }

    /// The first tick that is not before a deadline; 0 if that was before the start.
    #[inline]
    pub(crate) fn not_before(self, deadline: Instant) -> u64 {
        let since = deadline.saturating_duration_since(self.start);
        let whole = since.as_secs().saturating_mul(TICKS_PER_SECOND);
        whole.saturating_add(u64::from(since.subsec_nanos().div_ceil(NANOS_PER_TICK))).min(MAX_TICK)
    }

    /// The last tick that has passed at a time.
    #[inline]
    pub(crate) fn passed(self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.start);
        let whole = since.as_secs().saturating_mul(TICKS_PER_SECOND);
        whole.saturating_add(u64::from(since.subsec_nanos() / NANOS_PER_TICK)).min(MAX_TICK)
    }

    /// How long it is from a time until a tick; zero if it has passed.
    #[inline]
    pub(crate) fn until(self, tick: u64, now: Instant) -> Duration {
        since_start(tick).saturating_sub(now.saturating_duration_since(self.start))
    }

    /// When a tick is; `None` if the operating system's clock cannot express that.
    pub(crate) fn time_of(self, tick: u64) -> Option<Instant> {
        self.start.checked_add(since_start(tick))
    }
}

/// How long ticks take, in nanoseconds.
pub(crate) fn nanos_of(ticks: u64) -> u64 {
    ticks.saturating_mul(NANOS_PER_TICK.into())
}

fn since_start(tick: u64) -> Duration {
    let (seconds, ticks) = (tick / TICKS_PER_SECOND, tick % TICKS_PER_SECOND);
    Duration::new(seconds, ticks as u32 * NANOS_PER_TICK)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;
    use runtime_core::clock::Clock;

    use super::*;

    proptest! {
        #[test]
        fn a_passed_tick_means_a_passed_deadline(
            start_ns in 0..10_000_000_000_u64,
            deadline_ns in 0..20_000_000_000_u64,
            now_ns in 0..30_000_000_000_u64,
        ) {
            let zero = Clock::real();
            let at = |ns| zero + Duration::from_nanos(ns);
            let ticks = Ticks::starting_at(at(start_ns));
            let (when, deadline, now) = (ticks.not_before(at(deadline_ns)), at(deadline_ns), at(now_ns));
            if deadline > at(start_ns) {
                prop_assert!(ticks.time_of(when).unwrap() >= deadline, "rounded down");
                prop_assert!(ticks.time_of(when).unwrap() - deadline < since_start(1), "rounded too far");
            }
            if now >= at(start_ns) && when <= ticks.passed(now) {
                prop_assert!(deadline <= now, "early");
            }
            prop_assert_eq!(ticks.until(when, now).is_zero(), when <= ticks.passed(now));
        }
    }

    #[test]
    fn the_end_of_time_fits() {
        let start = Clock::real();
        let mut far = start;
        // The operating system's own end of time, to within a factor of two.
        let mut step = Duration::from_secs(1);
        while let (Some(later), Some(longer)) = (far.checked_add(step), step.checked_mul(2)) {
            (far, step) = (later, longer);
        }
        let ticks = Ticks::starting_at(start);
        assert_eq!(ticks.not_before(far), MAX_TICK);
        assert!(ticks.until(MAX_TICK, start) > Duration::from_secs(1 << 46));
    }
}
