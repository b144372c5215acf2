//! Pollers of single workers, for sockets whose packets come in on the processor that the worker runs on.
//!
//! A packet is put into its socket on one processor, and the task that reads it may run on another. Then every message moves
//! the socket, in the kernel, from one processor's cache to the other's, and back when it is answered: that can be half of
//! what a small message costs. Whoever polls the one shared poller gets its events, which are everybody's. So a socket that
//! is much used moves to the poller of the worker on whose processor its packets come in, as the system tells now and then
//! (`SO_INCOMING_CPU`); that worker polls it before the shared one, and its tasks stay where their sockets are.
//!
//! # Nothing but a way round
//!
//! A worker's poller is itself registered with the shared poller, which reports an edge for each event in it. So whoever
//! has the shared driver hears of everything, and the duties are those of the shared driver alone:
//!
//! - Who waits in the shared driver ([`How::Parks`]) looks into each poller that is reported, and before it waits into each
//!   that was passed over.
//! - Who polls it in passing ([`How::Polls`]) passes over the poller of a worker that is *up* and has looked into it less than
//!   [`GRACE`] ago, and notes that; else it looks into it. The next one to come by sees the note.
//! - A worker is up from its first look until it *leaves* ([`Nearby::leave`]), which it does before it sleeps, with a last look.
//!
//! That last look finds what was passed over for its sake (`presence.rs`). Who passes over does: hear of the event; fence
//! (SeqCst); see that the worker is up. The worker does: note that it is not; fence (SeqCst); look. If the first one's fence
//! comes first the event was there at the look. If the second's does, the first one sees that the worker has left. A worker that is stuck
//! in a poll, or has stepped aside, is up and does not look: what was passed over for it waits until somebody comes by the
//! shared driver after the grace, or begins to wait in it.
//!
//! # Which sockets
//!
//! The answer has to be the same twice, so that a thread that is moved to another processor does not take all sockets with
//! it. A worker has a fair share of these sockets at most: where all packets come in on one processor, most sockets stay
//! where they are. And only while more than one worker is up: otherwise there is nobody to keep them from, and one poller
//! is quicker than two.

mod presence;
mod seat;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::unix::SourceFd;
use runtime_core::clock::Clock;
use runtime_core::primitive::{Mutex, OnceLock};

use crate::readiness::WakeBatch;

use super::token;
use presence::Presence;
use seat::Place;
pub(crate) use seat::Raw;
pub(super) use seat::Seat;

/// A worker looks after its own poller at its maintenance, every 200 us or so.
const GRACE: Duration = Duration::from_micros(500);
/// How many events one look takes from a worker's poller at most.
const EVENTS: usize = 256;
/// Processors with the same number, modulo this, are taken for one: a power of two.
const PROCESSORS: usize = 512;
/// So many sockets a worker may have whatever the others have, and then so many hundredths of a fair share.
const SOME: usize = 8;
const SHARE: usize = 125;

/// Who looks into a poller of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A thread that is about to wait in the shared driver, or has.
    Parks,
    /// A thread that has work to do, and comes by.
    Polls,
}

/// All of them. See the module.
pub(super) struct Nearby {
    workers: Box<[Worker]>,
    /// One more than the number of the worker that was last seen there.
    on_processor: Box<[AtomicU16]>,
    /// How many are up.
    up: AtomicUsize,
    /// How many pollers were passed over.
    passed_over: AtomicUsize,
    /// How many sockets are with any.
    sockets: AtomicUsize,
    started: Instant,
    shared: mio::Registry,
}

/// One worker, and its poller if it ever needed one. On lines of its own.
#[repr(align(128))]
struct Worker {
    presence: Presence,
    is_passed_over: AtomicBool,
    /// When it last looked, in microseconds since the start.
    seen: AtomicU64,
    sockets: AtomicUsize,
    near: OnceLock<Near>,
}

impl Worker {
    fn new() -> Self {
        Self {
            presence: Presence::new(),
            is_passed_over: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            sockets: AtomicUsize::new(0),
            near: OnceLock::new(),
        }
    }
}

struct Near {
    registry: mio::Registry,
    poller: Mutex<Poller>,
    /// How many events there were. Written under the lock.
    delivered: AtomicU64,
}

struct Poller {
    poll: mio::Poll,
    events: mio::Events,
    /// Empty between looks; kept for its memory.
    wakes: WakeBatch,
}

impl Nearby {
    /// For so many workers; one that is alone has no use for it.
    pub(super) fn new(workers: usize, shared: mio::Registry) -> Self {
        let workers = if workers > 1 { workers.min(token::MAX_NEAR) } else { 0 };
        let processors = if workers > 0 { PROCESSORS } else { 0 };
        Self {
            workers: (0..workers).map(|_| Worker::new()).collect(),
            on_processor: (0..processors).map(|_| AtomicU16::new(0)).collect(),
            up: AtomicUsize::new(0),
            passed_over: AtomicUsize::new(0),
            sockets: AtomicUsize::new(0),
            started: Clock::real(),
            shared,
        }
    }

    pub(super) fn is_enabled(&self) -> bool {
        !self.workers.is_empty()
    }

    fn now(&self) -> u64 {
        Clock::real().saturating_duration_since(self.started).as_micros() as u64
    }

    /// A worker comes by, and looks into its own poller.
    pub(super) fn look(&self, worker: usize, deliver: impl FnMut(&Event, &mut WakeBatch)) {
        let Some(own) = self.workers.get(worker) else { return };
        if own.presence.come() {
            self.up.fetch_add(1, Relaxed);
        }
        own.seen.store(self.now(), Relaxed);
        self.note_processor(worker);
        if let Some(near) = own.near.get()
            // Else somebody is just looking.
            && let Some(mut poller) = near.poller.try_lock()
        {
            self.drain(own, near, &mut poller, deliver);
            poller.wakes.wake_all();
        }
    }

    /// A worker is going to sleep, and looks into its own poller for the last time.
    pub(super) fn leave(&self, worker: usize, deliver: impl FnMut(&Event, &mut WakeBatch)) {
        let Some(own) = self.workers.get(worker) else { return };
        if !own.presence.go() {
            return;
        }
        self.up.fetch_sub(1, Relaxed);
        if let Some(near) = own.near.get() {
            let mut poller = near.poller.lock();
            self.drain(own, near, &mut poller, deliver);
            poller.wakes.wake_all();
        }
    }

    fn note_processor(&self, worker: usize) {
        let on_it = &self.on_processor[rustix::thread::sched_getcpu() % PROCESSORS];
        let worker = worker as u16 + 1;
        if on_it.load(Relaxed) != worker {
            on_it.store(worker, Relaxed);
        }
    }

    /// For who has the shared driver: a worker's poller was reported.
    pub(super) fn attend(&self, worker: usize, how: How, deliver: impl FnMut(&Event, &mut WakeBatch)) {
        let Some(worker) = self.workers.get(worker) else { return };
        let Some(near) = worker.near.get() else { return };
        let poller = match how {
            How::Parks => Some(near.poller.lock()),
            How::Polls if self.is_about(worker) => None,
            How::Polls => near.poller.try_lock(),
        };
        match poller {
            Some(mut poller) => {
                self.drain(worker, near, &mut poller, deliver);
                poller.wakes.wake_all();
            }
            None => self.pass_over(worker),
        }
    }

    /// For who has the shared driver: what was passed over.
    pub(super) fn attend_passed_over(&self, how: How, mut deliver: impl FnMut(&Event, &mut WakeBatch)) {
        // Relaxed: it was counted by a thread that has had the shared driver since, or been the worker.
        if self.passed_over.load(Relaxed) > 0 {
            for (number, worker) in self.workers.iter().enumerate() {
                if worker.is_passed_over.load(Relaxed) {
                    self.attend(number, how, &mut deliver);
                }
            }
        }
    }

    /// Whether a worker will soon look for itself.
    fn is_about(&self, worker: &Worker) -> bool {
        worker.presence.is_up() && self.now().saturating_sub(worker.seen.load(Relaxed)) < GRACE.as_micros() as u64
    }

    fn pass_over(&self, worker: &Worker) {
        if !worker.is_passed_over.swap(true, Relaxed) {
            self.passed_over.fetch_add(1, Relaxed);
        }
    }

    fn drain(
        &self,
        worker: &Worker,
        near: &Near,
        poller: &mut Poller,
        mut deliver: impl FnMut(&Event, &mut WakeBatch),
    ) {
        // Before the look: what is passed over during it may come too late for it.
        if worker.is_passed_over.swap(false, Relaxed) {
            self.passed_over.fetch_sub(1, Relaxed);
        }
        loop {
            match poller.poll.poll(&mut poller.events, Some(Duration::ZERO)) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => panic!("a worker's poller does not tell its events any more: {error}"),
            }
        }
        let mut delivered = 0;
        for event in &poller.events {
            deliver(event, &mut poller.wakes);
            delivered += 1;
        }
        if delivered > 0 {
            near.delivered.store(near.delivered.load(Relaxed) + delivered, Relaxed);
        }
        if delivered as usize == EVENTS {
            // There may be more, of which nobody will be told.
            self.pass_over(worker);
        }
    }

    /// How many events the workers' pollers have had.
    pub(super) fn delivered(&self) -> u64 {
        self.workers.iter().filter_map(|worker| worker.near.get()).map(|near| near.delivered.load(Relaxed)).sum()
    }

    /// Where a socket should be whose packets come in on that processor, and that is here now.
    fn place_for(&self, processor: usize, now: Place) -> Place {
        let worker = usize::from(self.on_processor[processor % PROCESSORS].load(Relaxed));
        if worker == 0 || self.up.load(Relaxed) < 2 {
            return Place::SHARED;
        }
        let place = Place(worker as u16);
        let share = SOME + self.sockets.load(Relaxed) * SHARE / 100 / self.workers.len();
        if place != now && self.workers[worker - 1].sockets.load(Relaxed) >= share { now } else { place }
    }

    /// The registry of a place, made if need be.
    fn registry(&self, place: Place) -> io::Result<&mio::Registry> {
        let Some(number) = place.worker() else { return Ok(&self.shared) };
        let near = &self.workers[number].near;
        if near.get().is_none() {
            let new = Near::new()?;
            let poller = new.poller.lock().poll.as_raw_fd();
            self.shared.register(&mut SourceFd(&poller), token::near(number), mio::Interest::READABLE)?;
            if let Err(new) = near.set(new) {
                // Somebody was quicker. Should it stay registered, then only until it is closed, now.
                let _ = self.shared.deregister(&mut SourceFd(&poller));
                drop(new);
            }
        }
        Ok(&near.get().expect("just made").registry)
    }

    fn count(&self, place: Place, up: bool) {
        let Some(worker) = place.worker() else { return };
        for count in [&self.workers[worker].sockets, &self.sockets] {
            if up {
                count.fetch_add(1, Relaxed)
            } else {
                count.fetch_sub(1, Relaxed)
            };
        }
    }
}

impl Near {
    fn new() -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let poller = Poller { poll, events: mio::Events::with_capacity(EVENTS), wakes: WakeBatch::new() };
        Ok(Self { registry, poller: Mutex::new(poller), delivered: AtomicU64::new(0) })
    }
}

impl fmt::Debug for Nearby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nearby")
            .field("workers", &self.workers.len())
            .field("sockets", &self.sockets)
            .finish_non_exhaustive()
    }
}
