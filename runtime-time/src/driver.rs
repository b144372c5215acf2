//! The timer driver: what a worker waits in, stacked on whatever else it waits for. For the facade that builds
//! runtimes.
//!
//! It turns the earliest deadline into a limit on the inner driver's wait, and fires what is due after every wait and
//! poll. Which thread does that does not matter to the timers; there is one at a time, which the `&mut` sees to.
//!
//! It must never cut a wait short without a deadline (an idle runtime uses no CPU), never read the clock while no timer
//! is set, and never sleep past a deadline that it could have known of, but for the pause after a crowd of timers:
//! the agreement with those who set timers while it sleeps is in `shared.rs`.
//!
//! # With a paused clock
//!
//! Time then does not pass by waiting. When the runtime has nothing to do, and nobody forbids it
//! ([`Clock::can_auto_advance`]), the driver looks once whether something happens without waiting, and if not moves the
//! clock to the earliest deadline. If it is forbidden, it waits without a limit: the task that moves the clock or lifts
//! the ban has to unpark it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runtime_core::clock::Clock;
use runtime_core::driver::{self, Unpark, WakeSink};

use crate::batch::WakeBatch;
pub use crate::handle::Handle;
use crate::shared::NEVER;
use crate::tick::TICKS_PER_MILLISECOND;

/// The longest single wait asked of the inner driver. Operating systems take a timeout as an `int` of milliseconds, and
/// not every layer on the way there checks that it fits. A runtime idle for longer wakes up once in twelve days.
const LONGEST_WAIT: Duration = Duration::from_millis(1 << 30);

/// How long after a wait that several timers have ended, fired or extended, the next may end for timers, in ticks: a
/// millisecond. To wake a thread costs as much as to fire a hundred timers. So when they come in crowds, a thread that
/// has nothing else to do fires them a few at a time. A timer that was alone, the first after a pause, and those that a
/// busy thread looks after in passing are exact to the tick.
const MIN_TICKS_BETWEEN_WAKES: u64 = TICKS_PER_MILLISECOND;

/// The timer layer's driver: fires what is due, and waits in the inner driver until something is.
pub struct Driver {
    inner: Box<dyn driver::Driver>,
    handle: Arc<Handle>,
    batch: WakeBatch,
    /// When the last wait ended after which timers were taken out of the wheels, if there were several.
    crowd_at: Option<u64>,
    /// Whether timers have fired in the last turn.
    has_fired: bool,
}

impl Driver {
    /// Stacks the timers of a runtime on its other drivers.
    ///
    /// `unpark` ends the wait of `inner`. The runtime should use [`Handle::unpark_handle`] of the result instead.
    /// `slots` is how many worker slots the runtime has at most: `context::worker_index()` is below it. The clock's
    /// present is where ticks are counted from.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::Arc;
    /// use runtime_core::clock::Clock;
    /// use runtime_core::driver::{DriverStack, ThreadDriver};
    ///
    /// let inner = ThreadDriver::new();
    /// let unpark = inner.unpark();
    /// let (driver, handle) = runtime_time::driver::Driver::new(Box::new(inner), unpark, Arc::new(Clock::new()), 2);
    /// let unpark = handle.unpark_handle();
    /// let stack = DriverStack { driver: Box::new(driver), unpark, io: None, time: Some(Box::new(handle)) };
    /// # drop(stack);
    /// ```
    pub fn new(
        inner: Box<dyn driver::Driver>,
        unpark: Arc<dyn Unpark>,
        clock: Arc<Clock>,
        slots: usize,
    ) -> (Self, Arc<Handle>) {
        let handle = Arc::new(Handle::new(clock, unpark, slots));
        let batch = WakeBatch::new();
        (Self { inner, handle: handle.clone(), batch, crowd_at: None, has_fired: false }, handle)
    }

    /// Waits for real: until the next deadline, the limit, or an event.
    fn park_running(&mut self, limit: Option<Duration>, woken: &mut dyn WakeSink) -> bool {
        let shared = self.handle.shared();
        let not_before = self.crowd_at.map_or(0, |crowd_at| crowd_at.saturating_add(MIN_TICKS_BETWEEN_WAKES));
        let next = shared.begin_wait(not_before, || self.handle.earliest());
        let timeout = if next == NEVER {
            limit
        } else {
            // To the nanosecond: the inner driver rounds up to what it can do. Rounding down would have it return just
            // before the deadline, over and over.
            let (now, _) = shared.look_at_clock();
            let until = shared.ticks.until(next, now).min(LONGEST_WAIT);
            Some(limit.map_or(until, |limit| limit.min(until)))
        };
        let delivered = self.inner.park(timeout, woken);
        shared.end_wait();
        delivered
    }

    /// Waits while the clock stands still, or moves it.
    #[cold]
    fn park_paused(&mut self, limit: Option<Duration>, woken: &mut dyn WakeSink) -> bool {
        let shared = self.handle.shared();
        let next = shared.begin_wait(0, || self.handle.earliest());
        let (_, now) = shared.look_at_clock();
        // A caller that gives no time at all only polls, and is not idle.
        let idle = limit != Some(Duration::ZERO);
        let delivered = if next <= now || shared.next_turn.is_awaited() {
            self.inner.park(Some(Duration::ZERO), woken)
        } else if next != NEVER && idle && shared.clock.can_auto_advance() {
            let delivered = self.inner.park(Some(Duration::ZERO), woken);
            // Whatever woke somebody comes first. `next` may be the deadline of a timer that was cancelled: nobody
            // waits for that one.
            if !delivered && !shared.take_was_woken() && shared.clock.can_auto_advance() {
                let exact = self.handle.exact_earliest();
                if exact != NEVER
                    && let Some(then) = shared.ticks.time_of(exact)
                {
                    shared.clock.advance_to(then);
                }
            }
            delivered
        } else {
            self.inner.park(limit, woken)
        };
        shared.end_wait();
        delivered
    }
}

impl driver::Driver for Driver {
    fn park(&mut self, timeout: Option<Duration>, woken: &mut dyn WakeSink) -> bool {
        let delivered = if self.handle.shared().clock.is_paused() {
            self.park_paused(timeout, woken)
        } else {
            self.park_running(timeout, woken)
        };
        let fired = self.handle.fire_due(&mut self.batch, woken);
        self.has_fired = matches!(fired, Some((_, 1..)));
        match fired {
            Some((now, 2..)) => self.crowd_at = Some(now),
            Some((_, 1)) => self.crowd_at = None,
            // It ended for something else.
            Some((_, 0)) | None => {}
        }
        let shared = self.handle.shared();
        if shared.clock.is_paused() {
            shared.next_turn.end(&mut self.batch, woken);
        }
        delivered
    }

    fn poll(&mut self, woken: &mut dyn WakeSink) -> bool {
        // Timers first: the tasks that they wake are to be queued before those that a busy network wakes by the
        // hundred.
        self.has_fired = matches!(self.handle.fire_due(&mut self.batch, woken), Some((_, 1..)));
        let shared = self.handle.shared();
        if shared.clock.is_paused() {
            shared.next_turn.look(&mut self.batch, woken);
        }
        self.inner.poll(woken)
    }

    /// Also if timers have fired: where some were due others are soon, and many at once cost each of them more.
    fn has_left(&self) -> bool {
        self.has_fired || self.inner.has_left()
    }

    /// Closes the timers, then the inner driver. Who waits for a timer is woken, and panics when it polls that again.
    fn shutdown(&mut self, woken: &mut dyn WakeSink) {
        self.handle.close(&mut self.batch, woken);
        self.handle.shared().next_turn.end(&mut self.batch, woken);
        self.inner.shutdown(woken);
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("handle", &self.handle).finish_non_exhaustive()
    }
}
