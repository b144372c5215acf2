//! Tests of the crate against fake drivers and a clock that only the test moves.

mod driver;
mod entry;
mod futures;
mod in_task;
mod runtime;
mod stress;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use runtime_core::clock::Clock;
use runtime_core::driver::{Driver as _, DriverCounters, Service, Unpark, WakeAtOnce, WakeSink};
use runtime_core::primitive::Mutex;

use crate::driver::{Driver, Handle};
use crate::entry::State;
use crate::{Instant, Sleep};

const MS: Duration = Duration::from_millis(1);

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Woken {
    fn new() -> (Arc<Self>, Waker) {
        let woken = Arc::new(Self::default());
        (woken.clone(), Waker::from(woken))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What happens while the fake inner driver is parked.
type DuringPark = Box<dyn FnMut() + Send>;

/// An inner driver that returns at once, and notes how it was called.
struct Fake {
    seen: Arc<Seen>,
    during_park: Arc<Mutex<Option<DuringPark>>>,
}

#[derive(Default)]
struct Seen {
    parks: Mutex<Vec<Option<Duration>>>,
    unparks: AtomicUsize,
}

impl runtime_core::driver::Driver for Fake {
    fn park(&mut self, timeout: Option<Duration>, _: &mut dyn WakeSink) -> bool {
        self.seen.parks.lock().push(timeout);
        if let Some(during) = self.during_park.lock().as_mut() {
            during();
        }
        false
    }

    fn poll(&mut self, _: &mut dyn WakeSink) -> bool {
        false
    }

    fn shutdown(&mut self, _: &mut dyn WakeSink) {}
}

impl Unpark for Seen {
    fn unpark(&self) {
        self.unparks.fetch_add(1, Ordering::Relaxed);
    }
}

/// A timer driver on a fake inner one.
struct Rig {
    driver: Driver,
    handle: Arc<Handle>,
    clock: Arc<Clock>,
    seen: Arc<Seen>,
    during_park: Arc<Mutex<Option<DuringPark>>>,
}

impl Rig {
    /// With a clock that stands still, and that only the test moves.
    fn still() -> Self {
        let clock = Clock::new();
        clock.pause();
        clock.inhibit_auto_advance();
        Self::on(clock)
    }

    fn on(clock: Clock) -> Self {
        let (clock, seen, during_park) = (Arc::new(clock), Arc::new(Seen::default()), Arc::default());
        let inner = Fake { seen: seen.clone(), during_park: Arc::clone(&during_park) };
        let (driver, handle) = Driver::new(Box::new(inner), seen.clone(), clock.clone(), 2);
        Self { driver, handle, clock, seen, during_park }
    }

    fn now(&self) -> Instant {
        Instant::from_std(self.clock.now())
    }

    /// A sleep that ends after a duration, in the first worker's shard.
    fn sleep(&self, duration: Duration) -> Pin<Box<Sleep>> {
        self.sleep_until(self.now().saturating_add(duration))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<Sleep>> {
        Box::pin(Sleep::new(self.handle.shard_at(0).clone(), deadline, State::New))
    }

    /// Moves the clock and gives the driver a turn.
    fn pass(&mut self, duration: Duration) {
        assert!(self.clock.advance(duration));
        self.driver.poll(&mut WakeAtOnce);
    }

    /// (set, fired, cancelled)
    fn counts(&self) -> (u64, u64, u64) {
        let DriverCounters { timers_set, timers_fired, timers_cancelled, .. } = self.handle.counters();
        (timers_set, timers_fired, timers_cancelled)
    }

    fn parks(&self) -> Vec<Option<Duration>> {
        std::mem::take(&mut self.seen.parks.lock())
    }

    fn unparks(&self) -> usize {
        self.seen.unparks.load(Ordering::Relaxed)
    }

    fn during_park(&self, f: impl FnMut() + Send + 'static) {
        *self.during_park.lock() = Some(Box::new(f));
    }
}

fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}
