//! [`Ticks`]: a clock for those who read it many times a microsecond, in units of its own.
//!
//! For the flight recorder (`trace/`) only. Where Linux itself takes the processor's time stamp counter for its
//! monotonic clock, which it does only if the counters of all processors agree and never stop, a tick is one of that
//! counter: to read it takes a third of a call of the clock. Elsewhere a tick is a nanosecond of the clock.
//!
//! The rate is not asked of anybody. A reader that turns ticks into time compares the two clocks at two moments
//! ([`Ticks::scale`]): what lies between is exact to some ten nanoseconds.

use std::time::{Duration, Instant};

use super::Clock;

/// A source of ticks, and a moment by both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    counts_cycles: bool,
    base: Instant,
    base_ticks: u64,
}

impl Ticks {
    pub(crate) fn new() -> Self {
        let mut ticks = Self { counts_cycles: counter::is_trusted(), base: Clock::real(), base_ticks: 0 };
        (ticks.base_ticks, ticks.base) = ticks.both();
        ticks
    }

    /// The present. Never zero.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        if self.counts_cycles { counter::read() } else { self.nanos() }
    }

    #[cold]
    fn nanos(&self) -> u64 {
        1 + Clock::real().saturating_duration_since(self.base).as_nanos() as u64
    }

    /// The present by both clocks, read as close to each other as three attempts come.
    fn both(&self) -> (u64, Instant) {
        let attempt = || {
            let before = Clock::real();
            let ticks = self.now();
            (Clock::real() - before, ticks, before)
        };
        let (took, ticks, before) =
            (0..3).map(|_| attempt()).min_by_key(|attempt| attempt.0).expect("there are three attempts");
        (ticks, before + took / 2)
    }

    /// What turns ticks from the base to the present into time.
    pub(crate) fn scale(&self) -> Scale {
        if !self.counts_cycles {
            return Scale { base: self.base, base_ticks: 1, nanos_per_tick: 1.0 };
        }
        let (ticks, now) = self.both();
        let (nanos, ticks) = ((now - self.base).as_nanos(), ticks.saturating_sub(self.base_ticks));
        Scale { base: self.base, base_ticks: self.base_ticks, nanos_per_tick: nanos as f64 / ticks.max(1) as f64 }
    }
}

/// See [`Ticks::scale`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    base: Instant,
    base_ticks: u64,
    nanos_per_tick: f64,
}

impl Scale {
    /// A moment by the clock. Moments before the base count as the base.
    pub(crate) fn instant(&self, ticks: u64) -> Instant {
        self.base + self.between(self.base_ticks, ticks)
    }

    /// A number of ticks that does not take more than this time, and little less.
    pub(crate) fn ticks_below(&self, nanos: u64) -> u64 {
        // The quotient may be rounded up by so much.
        ((nanos as f64 / self.nanos_per_tick) as u64).saturating_sub(1)
    }

    /// The time between two moments; none if they are the wrong way round.
    pub(crate) fn between(&self, earlier: u64, later: u64) -> Duration {
        Duration::from_nanos((later.saturating_sub(earlier) as f64 * self.nanos_per_tick) as u64)
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(any(miri, loom))))]
mod counter {
    /// Whether the system keeps its own time by the counter.
    pub(super) fn is_trusted() -> bool {
        let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        source.is_ok_and(|source| source.trim() == "tsc")
    }

    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and the system, which has its own functions in the
        // process use it, permits it.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(any(miri, loom)))))]
mod counter {
    pub(super) fn is_trusted() -> bool {
        false
    }

    pub(super) fn read() -> u64 {
        unreachable!("nobody reads a counter that is not trusted")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_moment_by_ticks_lies_between_the_moments_around_it() {
        for counts_cycles in [false, counter::is_trusted()] {
            let mut ticks = Ticks { counts_cycles, base: Clock::real(), base_ticks: 0 };
            (ticks.base_ticks, ticks.base) = ticks.both();
            let before = Clock::real();
            let at = ticks.now();
            let after = Clock::real();
            while before.elapsed() < Duration::from_millis(20) {}
            // The two clocks were compared to within the shortest of three attempts.
            let slack = Duration::from_millis(1);
            let moment = ticks.scale().instant(at);
            assert!(before <= moment + slack && moment <= after + slack, "{:?}", moment - before);
        }
    }

    #[test]
    fn the_wrong_way_round_there_is_no_time_between() {
        let scale = Scale { base: Clock::real(), base_ticks: 10, nanos_per_tick: 0.5 };
        assert_eq!(scale.between(10, 30), Duration::from_nanos(10));
        assert_eq!(scale.between(30, 10), Duration::ZERO);
        assert_eq!(scale.ticks_below(10), 19);
    }
}
