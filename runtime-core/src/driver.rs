//! The seam between the schedulers and whatever they wait on: sockets, timers, or just another thread.
//!
//! A worker with nothing to run waits in a [`Driver`]; anybody may end that wait through its [`Unpark`]. The facade
//! stacks the timers on the I/O driver and hands the runtime one object, so this crate knows neither. Calls go through
//! a vtable: once per park or once per several dozen polls, and once for each waker that the driver hands over.
//!
//! A driver must never block in [`Driver::poll`], and never calls a waker: it gives each to the [`WakeSink`] of the
//! thread that has the driver, which decides when to call it. A panic of the driver's own means that the runtime can
//! wait for nothing any more, and ends the process.

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use crossbeam_utils::sync::{Parker, Unparker};

use crate::metrics::Histogram;
use crate::task::{self, WaitsFor};

/// What a worker waits on when it has nothing to run. Only one thread at a time holds it (`&mut self`).
pub trait Driver: Send + 'static {
    /// Waits for events, gives the wakers concerned to `woken`, and returns whether anything came from outside (a timer
    /// that is due does not). Returns early when unparked, also by an [`Unpark::unpark`] that came before this call;
    /// may return early without cause. `None` waits without limit.
    fn park(&mut self, timeout: Option<Duration>, woken: &mut dyn WakeSink) -> bool;

    /// Gives to `woken` the wakers that are concerned by what is ready now, and returns whether any of that came from
    /// outside. Never blocks.
    fn poll(&mut self, woken: &mut dyn WakeSink) -> bool;

    /// Whether the next turn should not be put off: the last `park` or `poll` may have left events with the system,
    /// because it takes a limited number at a time, or something else is likely to be due soon.
    fn has_left(&self) -> bool {
        false
    }

    /// Closes the driver: everything that waits on it is woken and finds an error. Called once, at shutdown; `park`
    /// and `poll` are not called afterwards.
    fn shutdown(&mut self, woken: &mut dyn WakeSink);
}

/// Takes the wakers that a driver would call. The thread that has the driver supplies it.
///
/// A worker queues the tasks of its runtime. Any other waker is somebody else's code, which may block, panic, or call
/// back into the runtime: the worker calls it when it has given the driver back, so that nobody has to do without the
/// driver meanwhile. The one thread of a current-thread runtime calls it at once.
///
/// The driver holds no lock when it calls this, and keeps the order of its events. The functions do not panic, whatever
/// the wakers do.
pub trait WakeSink {
    /// Takes the waker of a task that waited for something from outside, such as a socket.
    fn event(&mut self, waker: Waker);

    /// Takes the waker of a task whose timer is due. A task that asked to run at a certain time should not stand in
    /// line behind a thousand sockets: such tasks have a line of their own, which is served more often than the
    /// others.
    fn timer(&mut self, waker: Waker);
}

/// Calls each waker at once, and contains its panic. For the end of a runtime, a clock that is moved by hand, and
/// tests of drivers.
#[derive(Debug)]
pub struct WakeAtOnce;

impl WakeSink for WakeAtOnce {
    fn event(&mut self, waker: Waker) {
        contain(|| waker.wake());
    }

    fn timer(&mut self, waker: Waker) {
        contain(|| waker.wake());
    }
}

/// A clone of a task's waker, made by counting: it calls nobody, so it may be made under a lock. `None` if the waker is
/// another one, which may be somebody else's code, and while `tracing` is told what becomes of wakers.
pub fn clone_task_waker(waker: &Waker) -> Option<Waker> {
    task::clone_if_plain(waker)
}

/// Runs user code that must not take its caller down: calls a waker, or drops one. A panic of it has been reported by
/// the panic hook, and ends here.
#[inline]
pub fn contain(user_code: impl FnOnce()) {
    task::discard(task::contain(user_code));
}

/// Ends the wait of the thread in [`Driver::park`], or makes the next one return at once.
pub trait Unpark: Send + Sync + 'static {
    /// See the trait.
    fn unpark(&self);
}

/// What a driver offers to the types built on it, kept in the runtime's handle and found again by type
/// ([`crate::context::with_io`], [`crate::context::with_time`]).
pub trait Service: Any + Send + Sync {
    /// What the driver has counted since the runtime started.
    fn counters(&self) -> DriverCounters;

    /// How late timers fired, if this is the service of timers.
    fn timer_lateness(&self) -> Histogram {
        Histogram::default()
    }

    /// A timer, if this is the service of timers. Must be called while it is that of the current runtime.
    fn sleep(&self, _: Duration) -> Option<BoxedSleep> {
        None
    }

    /// What a descriptor is, if this is the service of I/O: for inspection, which has read its number in what a task
    /// waits for. It may be gone by now.
    fn describe(&self, _: u64) -> WaitsFor {
        WaitsFor::Unknown
    }
}

/// A timer whose type is not known.
pub type BoxedSleep = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

impl<T: Service> Service for Arc<T> {
    fn describe(&self, number: u64) -> WaitsFor {
        (**self).describe(number)
    }

    fn counters(&self) -> DriverCounters {
        (**self).counters()
    }

    fn timer_lateness(&self) -> Histogram {
        (**self).timer_lateness()
    }

    fn sleep(&self, duration: Duration) -> Option<BoxedSleep> {
        (**self).sleep(duration)
    }
}

/// A service, and its type at hand: to ask the service for that would be a call of unknown target each time.
pub(crate) struct KnownService {
    service: Box<dyn Service>,
    type_id: TypeId,
}

impl KnownService {
    pub(crate) fn new(service: Box<dyn Service>) -> Self {
        let type_id = (&*service as &dyn Any).type_id();
        Self { service, type_id }
    }

    #[inline]
    pub(crate) fn downcast_ref<T: Service>(&self) -> Option<&T> {
        // SAFETY: it is of this type, and the service neither moves nor changes.
        (self.type_id == TypeId::of::<T>()).then(|| unsafe { &*(&raw const *self.service).cast::<T>() })
    }
}

impl Deref for KnownService {
    type Target = dyn Service;

    fn deref(&self) -> &Self::Target {
        &*self.service
    }
}

/// What drivers count. A driver leaves at zero what is not its business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverCounters {
    /// Readiness events the operating system delivered.
    pub io_events: u64,
    /// File descriptors registered now.
    pub io_registered: u64,
    /// How often a file descriptor was registered.
    pub io_registrations: u64,
    /// Timers set. (A reset of a waiting timer to an earlier deadline counts as one more, and one cancelled.)
    pub timers_set: u64,
    /// Timers that reached their deadline and woke their task.
    pub timers_fired: u64,
    /// Timers cancelled before their deadline.
    pub timers_cancelled: u64,
}

impl DriverCounters {
    /// Adds another driver's counts.
    pub fn merge(&mut self, other: DriverCounters) {
        self.io_events += other.io_events;
        self.io_registered += other.io_registered;
        self.io_registrations += other.io_registrations;
        self.timers_set += other.timers_set;
        self.timers_fired += other.timers_fired;
        self.timers_cancelled += other.timers_cancelled;
    }
}

/// A runtime's drivers, stacked by the facade: the object to wait in, how to end the wait, and what each layer offers.
pub struct DriverStack {
    /// What the workers wait in.
    pub driver: Box<dyn Driver>,
    /// Ends that wait.
    pub unpark: Arc<dyn Unpark>,
    /// The I/O layer's service (an `Arc` of it, boxed), if the runtime has one.
    pub io: Option<Box<dyn Service>>,
    /// The timer layer's service (an `Arc` of it, boxed), if the runtime has one.
    pub time: Option<Box<dyn Service>>,
}

impl DriverStack {
    /// A stack with neither I/O nor timers: its driver just puts the thread to sleep.
    pub fn bare() -> Self {
        let driver = ThreadDriver::new();
        let unpark = driver.unpark();
        Self { driver: Box::new(driver), unpark, io: None, time: None }
    }
}

impl fmt::Debug for DriverStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverStack").field("io", &self.io.is_some()).field("time", &self.time.is_some()).finish()
    }
}

/// The lowest driver of a runtime without I/O: waiting is just sleeping until somebody unparks.
#[derive(Debug)]
pub struct ThreadDriver {
    parker: Parker,
}

impl ThreadDriver {
    /// Makes one.
    // A default would suggest that one is like another. Each is its own place to sleep.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { parker: Parker::new() }
    }

    /// What ends its wait.
    pub fn unpark(&self) -> Arc<dyn Unpark> {
        struct Handle(Unparker);
        impl Unpark for Handle {
            fn unpark(&self) {
                self.0.unpark();
            }
        }
        Arc::new(Handle(self.parker.unparker().clone()))
    }
}

impl Driver for ThreadDriver {
    fn park(&mut self, timeout: Option<Duration>, _woken: &mut dyn WakeSink) -> bool {
        match timeout {
            // Nothing to wait for. (A notification that is there ends the next wait.)
            Some(Duration::ZERO) => {}
            Some(timeout) => self.parker.park_timeout(timeout),
            None => self.parker.park(),
        }
        false
    }

    fn poll(&mut self, _woken: &mut dyn WakeSink) -> bool {
        false
    }

    fn shutdown(&mut self, _woken: &mut dyn WakeSink) {}
}
