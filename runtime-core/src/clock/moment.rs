//! [`Moment`]: a time by the system's clock, in one word.
//!
//! For all that rt measures of itself: how long polls take, how long tasks wait, how long it takes to wake a thread. A
//! worker notes several times between two readings of the clock, and compares them. With an `Instant`, which keeps
//! seconds and nanoseconds apart, each comparison is some thirty instructions; with a `Moment` it is a subtraction, and
//! it fits into an atomic cell. What timers go by is an `Instant`, of a clock that may be
//! [paused](super::Clock::pause). (That a task waits for a timer is noted with a `Moment`, and told as an `Instant`.)
//!
//! On Linux a moment is what the clock says, in nanoseconds; elsewhere it is the time since a first `Instant`. In
//! either case one time is known as both ([`Origin`]), and all others are told by how far they are from it.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use super::Clock;
use crate::primitive::OnceLock;

/// Nanoseconds by the system's monotonic clock, or since a first moment. Never zero, so that zero is free. A time
/// before the clock's zero counts as its first nanosecond, and one that is centuries later as the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    /// The present.
    #[inline]
    pub(crate) fn now() -> Self {
        Self::from_nanos(self::clock::nanos())
    }

    #[inline]
    fn from_nanos(nanos: u64) -> Self {
        Self(NonZeroU64::new(nanos).unwrap_or(NonZeroU64::MIN))
    }

    /// A time by the same clock.
    pub(crate) fn of(time: Instant) -> Self {
        let origin = Origin::get();
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self::from_nanos(match time.checked_duration_since(origin.instant) {
            Some(since) => origin.nanos.saturating_add(nanos(since)),
            None => origin.nanos.saturating_sub(nanos(origin.instant.saturating_duration_since(time))),
        })
    }

    /// `None` if the system's clock has no such time.
    pub(crate) fn instant(self) -> Option<Instant> {
        let origin = Origin::get();
        match self.0.get().checked_sub(origin.nanos) {
            Some(since) => origin.instant.checked_add(Duration::from_nanos(since)),
            None => origin.instant.checked_sub(Duration::from_nanos(origin.nanos - self.0.get())),
        }
    }

    /// For an atomic cell. Never zero.
    #[inline]
    pub(crate) fn word(self) -> u64 {
        self.0.get()
    }

    /// What such a cell has. Zero: there is none.
    #[inline]
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        NonZeroU64::new(word).map(Self)
    }

    /// Nanoseconds since an earlier moment; none since a later one.
    #[inline]
    pub(crate) fn nanos_since(self, earlier: Self) -> u64 {
        self.0.get().saturating_sub(earlier.0.get())
    }

    /// The moment that is this number of nanoseconds later; the last one, if there is none so late.
    #[inline]
    pub(crate) fn plus_nanos(self, nanos: u64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// The time since an earlier moment; none since a later one.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }
}

#[cfg(test)]
impl std::ops::Add<Duration> for Moment {
    type Output = Self;

    /// The last moment, if there is none so late.
    #[inline]
    fn add(self, duration: Duration) -> Self {
        self.plus_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
impl std::ops::AddAssign<Duration> for Moment {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

/// A time as an `Instant`, and by the clock of moments.
#[derive(Clone, Copy)]
struct Origin {
    instant: Instant,
    nanos: u64,
}

impl Origin {
    fn get() -> Self {
        static ORIGIN: OnceLock<Origin> = OnceLock::new();
        *ORIGIN.get_or_init(self::clock::origin)
    }
}

/// Read without a detour by `Instant`.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(loom)))]
mod clock {
    use super::{Clock, Origin};
    pub(super) use crate::os::monotonic_nanos as nanos;

    /// The two clocks are one, but they are read one after the other: as close as three attempts come.
    pub(super) fn origin() -> Origin {
        let attempt = |_| {
            let (before, instant) = (nanos(), Clock::real());
            let took = nanos().saturating_sub(before);
            (took, Origin { instant, nanos: before + took / 2 })
        };
        let (_, origin) = (0..3).map(attempt).min_by_key(|(took, _)| *took).expect("there are three attempts");
        origin
    }
}

#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(loom))))]
mod clock {
    use super::{Clock, Moment, Origin};

    pub(super) fn nanos() -> u64 {
        Moment::of(Clock::real()).word()
    }

    /// The first moment.
    pub(super) fn origin() -> Origin {
        Origin { instant: Clock::real(), nanos: 1 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_as_far_from_another_as_their_times() {
        let (earlier, step) = (Origin::get().instant, Duration::from_nanos(1_500_000_001));
        let (one, other) = (Moment::of(earlier), Moment::of(earlier + step));
        assert_eq!((other.since(one), other.nanos_since(one)), (step, 1_500_000_001));
        assert_eq!(one.since(other), Duration::ZERO);
        assert_eq!(one + step, other);
        assert!(one < other);
    }

    #[test]
    fn the_present_is_between_the_times_before_and_after() {
        // The two clocks agree to some ten nanoseconds: see `clock::origin`.
        let tolerance = Duration::from_millis(1);
        let _ = Origin::get();
        let before = Clock::real();
        let moment = Moment::now();
        let after = Clock::real();
        let told = moment.instant().unwrap();
        assert!(told + tolerance >= before && told <= after + tolerance, "{before:?} {told:?} {after:?}");
        assert!(Moment::now() >= moment);
    }

    #[test]
    fn a_word_is_the_moment_and_zero_is_none() {
        let now = Origin::get().instant + Duration::from_nanos(12_345);
        let moment = Moment::of(now);
        assert_eq!(Moment::from_word(moment.word()), Some(moment));
        assert_eq!(moment.instant(), Some(now));
        assert_eq!(Moment::from_word(0), None);
    }

    #[test]
    fn times_before_the_origin_are_told_as_well() {
        let origin = Origin::get();
        let before = Moment(NonZeroU64::new(origin.nanos - origin.nanos / 2).unwrap());
        if let Some(instant) = before.instant() {
            assert_eq!(Moment::of(instant), before);
        }
    }

    #[test]
    fn what_is_too_early_or_too_late_is_the_first_or_the_last() {
        let origin = Origin::get();
        if let Some(early) = origin.instant.checked_sub(Duration::from_nanos(origin.nanos) + Duration::from_secs(1)) {
            assert_eq!(Moment::of(early).word(), 1);
        }
        assert_eq!((Moment::now() + Duration::MAX).word(), u64::MAX);
        if let Some(late) = origin.instant.checked_add(Duration::from_secs(u64::MAX / 1_000_000_000 * 2)) {
            assert_eq!(Moment::of(late).word(), u64::MAX);
        }
    }
}
