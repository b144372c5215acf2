//! [`Moment`]: a time by the system's clock, in one word.
//!
//! For all that rt measures of itself: how long polls take, how long tasks wait, how long it takes to wake a thread. A
//! worker notes several times between two readings of the clock, and compares them. With an `Instant`, which keeps
//! seconds and nanoseconds apart, each comparison is some thirty instructions; with a `Moment` it is a subtraction, and
//! it fits into an atomic cell. What timers go by is an `Instant`, of a clock that may be
//! [paused](super::Clock::pause). (That a task waits for a timer is noted with a `Moment`, and told as an `Instant`.)

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use super::Clock;
use crate::primitive::OnceLock;

/// Nanoseconds since the first moment of the process, and one more, so that zero is free. A time before the first
/// moment counts as that, and one that is centuries later as the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    /// The present.
    #[inline]
    pub(crate) fn now() -> Self {
        Self::of(Clock::real())
    }

    #[inline]
    pub(crate) fn of(time: Instant) -> Self {
        let nanos = time.saturating_duration_since(first()).as_nanos();
        Self(NonZeroU64::MIN.saturating_add(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// `None` if the system's clock has no such time.
    pub(crate) fn instant(self) -> Option<Instant> {
        first().checked_add(Duration::from_nanos(self.0.get() - 1))
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

fn first() -> Instant {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    *FIRST.get_or_init(Clock::real)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_as_far_from_another_as_their_times() {
        let (earlier, step) = (first(), Duration::from_nanos(1_500_000_001));
        let (one, other) = (Moment::of(earlier), Moment::of(earlier + step));
        assert_eq!((other.since(one), other.nanos_since(one)), (step, 1_500_000_001));
        assert_eq!(one.since(other), Duration::ZERO);
        assert_eq!(one + step, other);
        assert!(one < other);
    }

    #[test]
    fn a_word_is_the_moment_and_zero_is_none() {
        let now = Clock::real();
        let moment = Moment::of(now);
        assert_eq!(Moment::from_word(moment.word()), Some(moment));
        assert_eq!(moment.instant(), Some(now.max(first())));
        assert_eq!(Moment::from_word(0), None);
    }

    #[test]
    fn what_is_too_early_or_too_late_is_the_first_or_the_last() {
        assert_eq!(Moment::of(first()).word(), 1);
        if let Some(before) = first().checked_sub(Duration::from_secs(1)) {
            assert_eq!(Moment::of(before).word(), 1);
        }
        assert_eq!((Moment::now() + Duration::MAX).word(), u64::MAX);
        if let Some(late) = first().checked_add(Duration::from_secs(u64::MAX / 1_000_000_000 * 2)) {
            assert_eq!(Moment::of(late).word(), u64::MAX);
        }
    }
}
