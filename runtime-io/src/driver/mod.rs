//! The poller that the runtime's idle workers wait in, and what the sockets need of it.
//!
//! One [`Driver`] a runtime, held by whichever worker waits at the time; one [`Handle`], shared, through which objects
//! are registered, also while the driver waits. Descriptors are registered once, for edges: the system reports each
//! change once, [`readiness`](crate::readiness) remembers it, and operations try before they wait.
//!
//! A poll collects the wakers of all its events and calls them together at the end, in the order the events came. The
//! driver must never call one earlier, hold a lock while it does, or let one that panics take the worker with it.

mod registry;
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
use runtime_core::driver::{DriverCounters, Service, Unpark};

use crate::readiness::{ScheduledIo, WakeBatch};
use crate::ready::Ready;

pub(crate) use registry::Numbered;
use registry::Registry;
use table::Shard;
pub(crate) use table::Slot;
use token::{Address, MAX_SHARDS, WAKE};
use unpark::{ParkState, Unparker};

/// How many events one poll takes from the system at most, unless told otherwise.
pub const DEFAULT_EVENTS: usize = 1024;

/// And at the very most. There is memory for that many from the start (three quarters of a megabyte, at this number), and
/// whoever has no time for more than a thousand events at once has none for more than this either.
const MOST_EVENTS: usize = 1 << 16;

/// The I/O driver: waits for events of the operating system and delivers them. See the module.
pub struct Driver {
    poll: mio::Poll,
    events: mio::Events,
    /// Empty between polls; kept for its memory.
    wakes: WakeBatch,
    handle: Arc<Handle>,
    closed: bool,
}

/// What the runtime keeps of its I/O driver: objects are registered here.
pub struct Handle {
    /// One for each worker, and one for all other threads.
    shards: Box<[Arc<Shard>]>,
    shared: Arc<Shared>,
    unparker: Arc<Unparker>,
}

/// What the driver and all shards have in common.
struct Shared {
    registry: Arc<Registry>,
    /// Written by the thread that holds the driver only.
    events: AtomicU64,
}

impl Driver {
    /// Makes a driver for a runtime of so many worker slots, which takes at most `events` events from one poll.
    ///
    /// # Errors
    ///
    /// What the operating system says: it is out of file descriptors, for example.
    pub fn new(slots: usize, events: usize) -> io::Result<(Driver, Arc<Handle>)> {
        let poll = mio::Poll::new()?;
        let shards = slots.saturating_add(1).min(MAX_SHARDS);
        let registry = Arc::new(Registry::new(poll.registry(), shards)?);
        let shared = Arc::new(Shared { registry, events: AtomicU64::new(0) });
        let waker = mio::Waker::new(poll.registry(), WAKE)?;
        let handle = Arc::new(Handle {
            shards: (0..shards).map(|number| Arc::new(Shard::new(number, shared.clone()))).collect(),
            shared,
            unparker: Arc::new(Unparker { state: Arc::new(ParkState::new()), waker }),
        });
        let driver = Driver {
            poll,
            events: mio::Events::with_capacity(events.clamp(1, MOST_EVENTS)),
            wakes: WakeBatch::new(),
            handle: handle.clone(),
            closed: false,
        };
        Ok((driver, handle))
    }

    /// One look at the poller, at most so long, and everything that follows from it. Returns whether there was an
    /// event.
    fn turn(&mut self, timeout: Option<Duration>) -> bool {
        match wait::wait(&mut self.poll, &mut self.events, timeout) {
            Ok(()) => {}
            // A signal: no further events came. The caller looks around and comes back.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return false,
            // Not a condition of the machine but a broken descriptor. To return would be to spin in silence.
            Err(error) => panic!("the I/O driver cannot wait for events any more: {error}"),
        }
        let mut delivered = 0;
        for event in &self.events {
            match event.token() {
                WAKE => {}
                token => {
                    delivered += 1;
                    self.handle.deliver(Address::of(token), Ready::from_mio(event), &mut self.wakes);
                }
            }
        }
        if delivered > 0 {
            let counter = &self.handle.shared.events;
            counter.store(counter.load(Ordering::Relaxed) + delivered, Ordering::Relaxed);
            self.wakes.wake_all();
        }
        delivered > 0
    }
}

impl runtime_core::driver::Driver for Driver {
    fn park(&mut self, timeout: Option<Duration>) -> bool {
        let unparker = self.handle.unparker.clone();
        // The poller rounds a timeout up to what it can measure, so nobody is sent back before their time. Asked to
        // return, it still takes what is there.
        let timeout = if unparker.state.enter() { timeout } else { Some(Duration::ZERO) };
        let delivered = self.turn(timeout);
        unparker.state.leave();
        delivered
    }

    fn poll(&mut self) -> bool {
        self.turn(Some(Duration::ZERO))
    }

    fn shutdown(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for shard in &self.handle.shards {
            shard.close(|io| io.shut_down(&mut self.wakes));
        }
        self.wakes.wake_all();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A driver that goes without the ceremony must not leave anybody waiting either.
        runtime_core::driver::Driver::shutdown(self);
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("handle", &self.handle).field("closed", &self.closed).finish_non_exhaustive()
    }
}

// As with a [`Shard`], which this has besides a poller and counters.
impl RefUnwindSafe for Handle {}

impl Handle {
    /// What ends the driver's wait.
    pub fn unpark_handle(&self) -> Arc<dyn Unpark> {
        self.unparker.clone()
    }

    /// Claims a slot for a new registration, in the shard of the calling worker unless that one is full.
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
        // A descriptor that was closed behind its registration's back can haunt the poller for as long as a copy of it
        // exists, so a token that nobody has any more is no reason for alarm.
        if let Some(io) = self.find(to) {
            io.deliver(to.generation, ready, wakes);
        }
    }

    fn find(&self, address: Address) -> Option<&ScheduledIo> {
        self.shards.get(address.shard)?.get(address.slot)
    }
}

impl Service for Handle {
    fn counters(&self) -> DriverCounters {
        let mut counters = DriverCounters::default();
        counters.io_events = self.shared.events.load(Ordering::Relaxed);
        counters.io_registered = self.shards.iter().map(|shard| shard.claimed() as u64).sum();
        counters
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}
