//! Ticks at a steady period: [`interval`](interval()), [`interval_at`] and [`Interval`].
//!
//! An interval is one [`Sleep`] that is set again after every tick. What it does when ticks were missed is the user's
//! choice, [`MissedTickBehavior`]; all of them keep to the period as long as ticks are taken in time.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::{Instant, Sleep, sleep_until};

/// A tick that is taken no later than this after its time counts as taken in time: timers and schedulers are never
/// exact, and an interval should not skip or shift because of that.
const SKIP_TOLERANCE: Duration = Duration::from_millis(5);

/// Ticks now, and then once every period.
///
/// # Panics
///
/// Panics if the period is zero, when called outside a runtime, or in one without timers.
///
/// # Example
///
/// ```
/// use rt::time::{Duration, Instant, interval};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let mut interval = interval(Duration::from_millis(2));
///     let first = interval.tick().await; // at once
///     let second = interval.tick().await;
///     assert_eq!(second - first, Duration::from_millis(2));
///     assert!(Instant::now() >= second);
/// });
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert_period(period);
    let now = Instant::now();
    let mut delay = Box::pin(sleep_until(now));
    delay.as_mut().rest_until(now, now);
    Interval::new(delay, period)
}

/// Ticks at `start`, and then once every period.
///
/// # Panics
///
/// As [`interval`](interval()).
///
/// # Example
///
/// ```
/// use rt::time::{Duration, Instant, interval_at};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let start = Instant::now() + Duration::from_millis(3);
///     let mut interval = interval_at(start, Duration::from_millis(2));
///     assert_eq!(interval.tick().await, start);
///     assert_eq!(interval.tick().await, start + Duration::from_millis(2));
/// });
/// ```
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert_period(period);
    Interval::new(Box::pin(sleep_until(start)), period)
}

#[track_caller]
fn assert_period(period: Duration) {
    assert!(!period.is_zero(), "the period of an interval must not be zero");
}

/// What an [`Interval`] does after a tick was taken more than 5 ms late.
///
/// # Example
///
/// ```
/// use rt::time::{Duration, MissedTickBehavior, interval};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let mut heartbeat = interval(Duration::from_millis(2));
///     heartbeat.set_missed_tick_behavior(MissedTickBehavior::Skip);
///     heartbeat.tick().await;
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// The missed ticks come at once, one after the other, until the interval has caught up. The number of ticks is
    /// right in the long run. This is the default.
    #[default]
    Burst,
    /// The next tick comes one period after the late one was taken: ticks are never closer together than a period.
    Delay,
    /// The missed ticks are left out: the next one comes at the next whole number of periods after the late one's time.
    Skip,
}

impl MissedTickBehavior {
    /// When to tick next, after the tick that was due at `due` was taken late, at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            Self::Burst => due.saturating_add(period),
            Self::Delay => now.saturating_add(period),
            Self::Skip => {
                let into_period = (now - due).as_nanos() % period.as_nanos();
                // Less than the period, so it is a duration, however long that is.
                let into_period =
                    Duration::new((into_period / 1_000_000_000) as u64, (into_period % 1_000_000_000) as u32);
                now.saturating_add(period - into_period)
            }
        }
    }
}

/// Ticks at a steady period. Made by [`interval`](interval()) and [`interval_at`].
///
/// It can be turned into a stream with the help of [`Interval::poll_tick`].
#[derive(Debug)]
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
}

impl Interval {
    /// `delay` ends at the first tick.
    pub(crate) fn new(delay: Pin<Box<Sleep>>, period: Duration) -> Self {
        Self { delay, period, missed_tick_behavior: MissedTickBehavior::default() }
    }

    /// Waits for the next tick, and returns when it was due.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a tick is taken only when this future is ready. One that is dropped before takes none.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::time::{Duration, interval};
    ///
    /// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    ///     let mut interval = interval(Duration::from_millis(1));
    ///     for _ in 0..3 {
    ///         interval.tick().await;
    ///     }
    /// });
    /// ```
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        Tick { interval: self, _pinned: PhantomPinned }
    }

    /// Looks whether the next tick is due, and takes it if so: returns when it was due. Otherwise the task is woken
    /// then; only the last task that polled is.
    #[track_caller]
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.delay.as_mut().poll_once(cx));
        let due = self.delay.deadline();
        let now = self.delay.now();
        let next = if now > due.saturating_add(SKIP_TOLERANCE) {
            self.missed_tick_behavior.next(due, now, self.period)
        } else {
            due.saturating_add(self.period)
        };
        // Not `reset`: the timer is set when somebody waits for it. A missed tick is ready at once.
        self.delay.as_mut().rest_until(next, now);
        Poll::Ready(due)
    }

    /// Makes the next tick come one period from now.
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// Makes the next tick come now.
    pub fn reset_immediately(&mut self) {
        self.reset_after(Duration::ZERO);
    }

    /// Makes the next tick come after a duration. The period does not change.
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(self.delay.now().saturating_add(after));
    }

    /// Makes the next tick come at a point in time. The period does not change.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::time::{Duration, Instant, interval};
    ///
    /// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    ///     let mut interval = interval(Duration::from_secs(3600));
    ///     interval.tick().await;
    ///     let soon = Instant::now() + Duration::from_millis(1);
    ///     interval.reset_at(soon);
    ///     assert_eq!(interval.tick().await, soon);
    /// });
    /// ```
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// What happens after a late tick.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Chooses what happens after a late tick.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// The time from one tick to the next.
    pub fn period(&self) -> Duration {
        self.period
    }
}

pin_project! {
    /// The future of [`Interval::tick`]. Not an `async fn`, so that a panic has the place of the `.await`.
    struct Tick<'a> {
        interval: &'a mut Interval,
        // As that of an `async fn`.
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl Future for Tick<'_> {
    type Output = Instant;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Instant> {
        self.project().interval.poll_tick(cx)
    }
}
