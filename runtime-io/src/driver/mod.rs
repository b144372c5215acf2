//! The I/O driver: the poller that the runtime's idle workers wait in.
//!
//! A runtime has one [`Driver`], which one worker at a time holds, and one [`Handle`], which all threads share and
//! through which objects are registered, also while the driver waits. The parts:
//!
//! - [`table`]: the readiness of each registration, in slots. A [`token`] tells which slot an event is for.
//! - [`registry`]: puts descriptors into the poller and takes them out.
//! - [`wait`]: waits in the poller. [`unpark`]: ends that wait from another thread.
//!
//! Each driver also listens for the signals of the process, which belong to no registration (`signal`).
//!
//! Descriptors are registered once, edge-triggered: the system reports each change once,
//! [`readiness`](crate::readiness) remembers it, and operations try before they wait.
//!
//! A turn of the driver waits for events, stores each in its slot, and collects the wakers that it concerns. At the
//! end it gives them to the scheduler, in the order of the events and with no lock held. It never calls a waker.
//!
//! A turn takes a limited number of events, for what it leaves is there for another worker. But many events concern
//! nobody: after each datagram, and each write to a Unix stream, the system reports that the socket can be written to,
//! which it could before. So a turn that got as many as it can take at a time, and has woken somebody by half of them
//! or fewer, takes as many again, once.

#[cfg_attr(not(all(unix, not(loom))), path = "describe/not.rs")]
mod describe;
mod registry;
#[cfg_attr(not(all(unix, feature = "signal", not(loom))), path = "signals/absent.rs")]
mod signals;
mod table;
mod token;
mod unpark;
mod wait;

#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::io;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runtime_core::context;
use runtime_core::driver::{DriverCounters, Service, Unpark, WakeAtOnce, WakeSink};
use runtime_core::task::WaitsFor;

use crate::readiness::WakeBatch;
use crate::ready::Ready;

pub(crate) use registry::Numbered;
use registry::Registry;
use table::Shard;
pub(crate) use table::Slot;
use token::{Address, MAX_SHARDS, SIGNALS, TIMER, WAKE};
use unpark::{ParkState, Unparker};

/// The upper bound of how many events are taken from the system at a time. The memory for them (three quarters of a
/// megabyte for this number) is allocated when the driver is made.
const MAX_EVENTS: usize = 1 << 16;

/// Waits for events of the operating system and delivers them to the registrations. One worker at a time holds it.
pub struct Driver {
    poll: mio::Poll,
    timer: wait::Timer,
    events: mio::Events,
    /// For turns that do not wait, if these are to take fewer.
    busy_events: Option<mio::Events>,
    /// Empty between turns; kept for its memory.
    wakes: WakeBatch,
    handle: Arc<Handle>,
    /// Whether the last turn took as many events as it could.
    has_left: bool,
    /// Until the shutdown.
    signals: Option<signals::Member>,
    closed: bool,
}

/// The shared side of the driver: objects are registered here. It outlives the [`Driver`].
pub struct Handle {
    /// One for each worker, and one for all other threads.
    shards: Box<[Arc<Shard>]>,
    /// How many events have been delivered. Only the thread that holds the driver writes it.
    events: AtomicU64,
    unparker: Arc<Unparker>,
}

impl Driver {
    /// Makes a driver for a runtime of `slots` worker slots, which takes at most `events` events from the system at a
    /// time.
    ///
    /// # Errors
    ///
    /// What the operating system says: it is out of file descriptors, for example.
    pub fn new(slots: usize, events: usize) -> io::Result<(Driver, Arc<Handle>)> {
        let poll = mio::Poll::new()?;
        let shards = slots.saturating_add(1).min(MAX_SHARDS);
        let registry = Arc::new(Registry::new(poll.registry(), shards)?);
        let waker = mio::Waker::new(poll.registry(), WAKE)?;
        let timer = wait::Timer::new(poll.registry())?;
        let handle = Arc::new(Handle {
            shards: (0..shards).map(|number| Arc::new(Shard::new(number, registry.clone()))).collect(),
            events: AtomicU64::new(0),
            unparker: Arc::new(Unparker { state: ParkState::new(), waker }),
        });
        let signals = Some(signals::Member::join(&handle)?);
        let driver = Driver {
            signals,
            poll,
            timer,
            events: events_for(events),
            busy_events: None,
            wakes: WakeBatch::new(),
            handle: handle.clone(),
            has_left: false,
            closed: false,
        };
        Ok((driver, handle))
    }

    /// Has turns that do not wait take `events` at a time at most.
    pub fn limit_busy_events(&mut self, events: usize) {
        self.busy_events = Some(events_for(events));
    }

    /// Waits for events, for `timeout` at most, and delivers them. Returns whether there were any.
    fn turn(&mut self, timeout: Option<Duration>, woken: &mut dyn WakeSink) -> bool {
        let (mut delivered, most) = self.take_events(timeout);
        if self.has_left && self.wakes.len() <= most / 2 {
            delivered += self.take_events(Some(Duration::ZERO)).0;
        }
        if delivered > 0 {
            let counter = &self.handle.events;
            counter.store(counter.load(Ordering::Relaxed) + delivered, Ordering::Relaxed);
            self.wakes.give_to(woken);
        }
        delivered > 0
    }

    /// Waits for events, for `timeout` at most, and collects the wakers that they concern. Returns how many there were
    /// that are not the driver's own, and how many it takes at most.
    fn take_events(&mut self, timeout: Option<Duration>) -> (u64, usize) {
        self.has_left = false;
        let events = match &mut self.busy_events {
            Some(busy) if timeout == Some(Duration::ZERO) => busy,
            _ => &mut self.events,
        };
        match self.timer.wait(&mut self.poll, events, timeout) {
            Ok(()) => {}
            // A signal ended the wait before any event came. The worker looks for work and parks again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return (0, events.capacity()),
            // The poller's descriptor is broken. Were this to return, the worker would spin in silence.
            Err(error) => panic!("the I/O driver cannot wait for events any more: {error}"),
        }
        let (mut delivered, mut taken) = (0, 0);
        for event in &*events {
            taken += 1;
            match event.token() {
                WAKE | TIMER => {}
                SIGNALS => {
                    delivered += 1;
                    signals::deliver(&mut self.wakes);
                }
                token => {
                    delivered += 1;
                    self.handle.deliver(Address::of(token), Ready::from_mio(event), &mut self.wakes);
                }
            }
        }
        self.has_left = taken == events.capacity();
        (delivered, events.capacity())
    }
}

/// Memory for this number of events, within limits.
fn events_for(number: usize) -> mio::Events {
    mio::Events::with_capacity(number.clamp(1, MAX_EVENTS))
}

impl runtime_core::driver::Driver for Driver {
    fn park(&mut self, timeout: Option<Duration>, woken: &mut dyn WakeSink) -> bool {
        // The poller rounds a timeout up, so the wait is never too short. If the driver was unparked already, it still
        // delivers what is ready.
        let timeout = if self.handle.unparker.state.enter() { timeout } else { Some(Duration::ZERO) };
        let delivered = self.turn(timeout, woken);
        self.handle.unparker.state.leave();
        delivered
    }

    fn poll(&mut self, woken: &mut dyn WakeSink) -> bool {
        self.turn(Some(Duration::ZERO), woken)
    }

    fn has_left(&self) -> bool {
        self.has_left
    }

    fn shutdown(&mut self, woken: &mut dyn WakeSink) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.signals = None;
        for shard in &self.handle.shards {
            shard.close(|io| io.shut_down(&mut self.wakes));
        }
        self.wakes.give_to(woken);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Nobody may be left waiting for a driver that was dropped without a shutdown.
        runtime_core::driver::Driver::shutdown(self, &mut WakeAtOnce);
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("handle", &self.handle).field("closed", &self.closed).finish_non_exhaustive()
    }
}

// For the same reason as a [`Shard`].
impl RefUnwindSafe for Handle {}

impl Handle {
    /// What ends the driver's wait.
    pub fn unpark_handle(&self) -> Arc<dyn Unpark> {
        self.unparker.clone()
    }

    /// Claims a slot for a new registration: in the shard of the calling worker, or if that is full in any other.
    ///
    /// # Errors
    ///
    /// If the driver is gone, or millions of descriptors are registered.
    pub(crate) fn claim(&self) -> io::Result<Slot> {
        let own = context::worker_index().unwrap_or(self.shards.len() - 1) % self.shards.len();
        let (before, from) = self.shards.split_at(own);
        for shard in from.iter().chain(before) {
            if let Some(slot) = shard.claim()? {
                return Ok(slot);
            }
        }
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, "more descriptors than the I/O driver can register"))
    }

    fn deliver(&self, to: Address, ready: Ready, wakes: &mut WakeBatch) {
        // An event can be for a registration that is gone: the poller goes on reporting a descriptor that was closed
        // without being taken out, as long as a copy of it is open.
        if let Some(io) = self.shards.get(to.shard).and_then(|shard| shard.get(to.slot)) {
            io.deliver(to.generation, ready, wakes);
        }
    }
}

impl Service for Handle {
    fn describe(&self, number: u64) -> WaitsFor {
        describe::describe(number)
    }

    fn counters(&self) -> DriverCounters {
        let mut counters = DriverCounters::default();
        counters.io_events = self.events.load(Ordering::Relaxed);
        for (registered, registrations) in self.shards.iter().map(|shard| shard.counts()) {
            counters.io_registered += registered as u64;
            counters.io_registrations += registrations;
        }
        counters
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}
