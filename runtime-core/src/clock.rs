//! The only source of time.
//!
//! Nothing else in the workspace calls `std::time::Instant::now()`. Each runtime has one [`Clock`]; while it runs it
//! is the operating system's monotonic clock, while it is paused it stands still and moves only when told to. That
//! is what makes timers testable and, later, whole programs replayable.
//!
//! The timer driver is the caller that moves a paused clock on its own ([`Clock::advance_to`]): it does so when nothing
//! else can run, and not while [`Clock::inhibit_auto_advance`] is in force (a blocking task is running, whose time is
//! real).

mod moment;
mod ticks;

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub(crate) use self::moment::Moment;
pub(crate) use self::ticks::Ticks;

/// A runtime's clock, which can be paused and moved.
#[derive(Debug)]
pub struct Clock {
    /// What follows from `state`, and is asked all the time. Written under its lock.
    pace: AtomicU8,
    state: Mutex<State>,
    /// How many parties forbid the timer driver to move a paused clock.
    inhibitors: AtomicUsize,
}

/// It is in step with the operating system's clock.
const IN_STEP: u8 = 0;
/// It has been paused, and resumed: it runs behind the operating system's clock, or ahead of it.
const SHIFTED: u8 = 1;
/// It stands still.
const PAUSED: u8 = 2;

#[derive(Debug)]
struct State {
    /// Where the clock stands, while it is paused.
    frozen: Option<Instant>,
    /// How much this clock lags behind, or runs ahead of, the real one after it was paused and resumed.
    lag: Lag,
}

#[derive(Debug, Clone, Copy)]
enum Lag {
    Behind(Duration),
    Ahead(Duration),
}

impl Lag {
    const NONE: Lag = Lag::Behind(Duration::ZERO);

    fn apply(self, real: Instant) -> Instant {
        match self {
            // The clock was a real `Instant` once and has not gone back since, so this cannot underflow.
            Lag::Behind(by) => real - by,
            // Only a clock that was moved to the very end of time can run over it; it stops there.
            Lag::Ahead(by) => real.checked_add(by).unwrap_or(real),
        }
    }

    fn between(virtual_now: Instant, real: Instant) -> Self {
        match real.checked_duration_since(virtual_now) {
            Some(by) => Lag::Behind(by),
            None => Lag::Ahead(virtual_now - real),
        }
    }
}

impl Clock {
    /// A running clock, in step with the operating system's.
    #[allow(clippy::new_without_default)] // a clock belongs to a runtime: nobody should get one by accident
    pub fn new() -> Self {
        Self {
            pace: AtomicU8::new(IN_STEP),
            state: Mutex::new(State { frozen: None, lag: Lag::NONE }),
            inhibitors: AtomicUsize::new(0),
        }
    }

    /// The operating system's monotonic time, whatever a runtime's clock shows.
    #[inline]
    pub fn real() -> Instant {
        Instant::now()
    }

    /// The time by this clock.
    #[inline]
    pub fn now(&self) -> Instant {
        // Relaxed: the thread that pauses or moves the clock publishes that by other means to those who must see it.
        if self.pace.load(Ordering::Relaxed) == IN_STEP {
            return Self::real();
        }
        self.now_shifted()
    }

    #[cold]
    fn now_shifted(&self) -> Instant {
        let state = self.state.lock();
        state.frozen.unwrap_or_else(|| state.lag.apply(Self::real()))
    }

    /// Stops the clock. Returns false if it was stopped already.
    pub fn pause(&self) -> bool {
        let mut state = self.state.lock();
        if state.frozen.is_some() {
            return false;
        }
        state.frozen = Some(state.lag.apply(Self::real()));
        self.pace.store(PAUSED, Ordering::Relaxed);
        true
    }

    /// Lets the clock run on from where it stands. Returns false if it was running.
    pub fn resume(&self) -> bool {
        let mut state = self.state.lock();
        let Some(frozen) = state.frozen.take() else { return false };
        state.lag = Lag::between(frozen, Self::real());
        self.pace.store(SHIFTED, Ordering::Relaxed);
        true
    }

    /// Whether the clock stands still.
    #[inline]
    pub fn is_paused(&self) -> bool {
        // Relaxed: as in `now`.
        self.pace.load(Ordering::Relaxed) == PAUSED
    }

    /// Moves a paused clock on. Returns false, and does nothing, if it is running or would overflow.
    #[must_use]
    pub fn advance(&self, by: Duration) -> bool {
        let mut state = self.state.lock();
        match state.frozen.and_then(|now| now.checked_add(by)) {
            Some(later) => {
                state.frozen = Some(later);
                true
            }
            None => false,
        }
    }

    /// Moves a paused clock to a time, unless it is past that already. For the timer driver.
    pub fn advance_to(&self, when: Instant) {
        let mut state = self.state.lock();
        if let Some(now) = state.frozen.as_mut() {
            *now = when.max(*now);
        }
    }

    /// Forbids the timer driver to move a paused clock, until the guard's counterpart
    /// [`allow_auto_advance`](Self::allow_auto_advance).
    pub fn inhibit_auto_advance(&self) {
        self.inhibitors.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one [`inhibit_auto_advance`](Self::inhibit_auto_advance) back.
    pub fn allow_auto_advance(&self) {
        self.inhibitors.fetch_sub(1, Ordering::Release);
    }

    /// Whether the timer driver may move the clock now: it is paused, and nobody forbids it.
    pub fn can_auto_advance(&self) -> bool {
        self.is_paused() && self.inhibitors.load(Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paused_clock_stands_and_moves_only_when_told() {
        let clock = Clock::new();
        assert!(!clock.advance(Duration::from_secs(1)), "a running clock cannot be moved");
        assert!(clock.pause());
        assert!(!clock.pause());
        let before = clock.now();
        assert_eq!(clock.now(), before);
        assert!(clock.advance(Duration::from_secs(3600)));
        assert_eq!(clock.now() - before, Duration::from_secs(3600));
        clock.advance_to(before);
        assert_eq!(clock.now() - before, Duration::from_secs(3600), "it never goes back");
    }

    #[test]
    fn a_resumed_clock_runs_on_from_where_it_stood() {
        let clock = Clock::new();
        clock.pause();
        assert!(clock.advance(Duration::from_secs(3600)));
        let stood = clock.now();
        assert!(clock.resume());
        assert!(!clock.resume());
        assert!(clock.now() >= stood);
        assert!(clock.now() - stood < Duration::from_secs(1800));
        assert!(!clock.is_paused());
    }

    #[test]
    fn an_advance_past_the_end_of_time_is_refused() {
        let clock = Clock::new();
        clock.pause();
        let before = clock.now();
        assert!(!clock.advance(Duration::MAX));
        assert_eq!(clock.now(), before);
    }
}
