//! A point in time by the runtime's clock.
//!
//! A type of our own in place of the standard library's, so that [`Instant::now`] can show a clock that is paused,
//! advanced, or simulated. It adds no state: converting to and from the standard type costs nothing.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use runtime_core::context;

/// A point in time by the clock of the current runtime. Wraps [`std::time::Instant`].
///
/// # Example
///
/// ```
/// use rt::time::{Duration, Instant};
///
/// let start = Instant::now();
/// let deadline = start + Duration::from_millis(5);
/// assert!(deadline > start);
/// assert_eq!(deadline - start, Duration::from_millis(5));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    std: std::time::Instant,
}

impl Instant {
    /// The present, by the clock of the current runtime, which may be paused; the real time outside any runtime.
    pub fn now() -> Self {
        Self { std: context::now() }
    }

    /// Wraps an instant of the standard library.
    pub const fn from_std(std: std::time::Instant) -> Self {
        Self { std }
    }

    /// The instant of the standard library.
    pub const fn into_std(self) -> std::time::Instant {
        self.std
    }

    /// How long it was from `earlier` to this instant; zero if `earlier` is later.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.std.saturating_duration_since(earlier.std)
    }

    /// How long it was from `earlier` to this instant; `None` if `earlier` is later.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.std.checked_duration_since(earlier.std)
    }

    /// How long it was from `earlier` to this instant; zero if `earlier` is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.std.saturating_duration_since(earlier.std)
    }

    /// How long ago this instant was; zero if it lies ahead.
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// This instant plus a duration; `None` if the operating system's clock cannot express that.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.std.checked_add(duration).map(Self::from_std)
    }

    /// This instant minus a duration; `None` if the operating system's clock cannot express that.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.std.checked_sub(duration).map(Self::from_std)
    }

    /// This instant plus a duration, or one about thirty years ahead if the operating system's clock cannot express
    /// that.
    ///
    /// Thirty years are as good as never, and leave room to add more. Where they do not (only a clock that was moved
    /// gets so near the end of time), nothing is added.
    pub(crate) fn saturating_add(self, duration: Duration) -> Self {
        const THIRTY_YEARS: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
        self.checked_add(duration).or_else(|| self.checked_add(THIRTY_YEARS)).unwrap_or(self)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(std: std::time::Instant) -> Self {
        Self { std }
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        instant.std
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// # Panics
    ///
    /// Panics if the operating system's clock cannot express the result; see [`Instant::checked_add`].
    #[track_caller]
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration).expect("overflow when adding a duration to an instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// # Panics
    ///
    /// Panics if the operating system's clock cannot express the result; see [`Instant::checked_sub`].
    #[track_caller]
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).expect("overflow when subtracting a duration from an instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// As [`Instant::duration_since`]: zero rather than negative.
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.std.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_follows_std() {
        let early = Instant::now();
        let mut late = early + Duration::from_secs(2);
        assert_eq!(late - early, Duration::from_secs(2));
        assert_eq!(early - late, Duration::ZERO);
        assert_eq!(early.checked_duration_since(late), None);
        late -= Duration::from_secs(1);
        late += Duration::from_secs(3);
        assert_eq!(late.saturating_duration_since(early), Duration::from_secs(4));
        assert_eq!(late.checked_sub(Duration::from_secs(4)), Some(early));
        assert_eq!(early.checked_add(Duration::MAX), None);
        assert_eq!(Instant::from(early.into_std()), early);
        assert_eq!(format!("{early:?}"), format!("{:?}", early.into_std()));
    }

    #[test]
    fn adding_too_much_gives_a_far_instant() {
        let now = Instant::now();
        assert!(now.saturating_add(Duration::MAX) - now > Duration::from_secs(29 * 365 * 24 * 60 * 60));
        let day = Duration::from_secs(86400);
        assert_eq!(now.saturating_add(day), now + day);
        // At the very end there is nowhere to go.
        let (mut last, mut step) = (now, Duration::MAX);
        while !step.is_zero() {
            match last.checked_add(step) {
                Some(later) => last = later,
                None => step /= 2,
            }
        }
        assert_eq!(last.saturating_add(day), last);
    }
}
