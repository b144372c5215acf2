//! Pollers of single workers, for sockets whose packets come in on the processor that the worker runs on.
//!
//! A packet is put into its socket on one processor, and the task that reads it may run on another. Then every message moves
//! the socket, in the kernel, from one processor's cache to the other's, and back when it is answered: that can be a third
//! of what a small message costs. Whoever polls the one shared poller gets its events, which are everybody's. So a socket that
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
//!   [`GRACE`] ago, or into which somebody is looking, and notes that; else it looks into it. The next one to come by sees
//!   the note. Nobody passes over who does not have the shared driver.
//! - A worker is up from its first look until it *leaves*, which it does before it sleeps, with a last look.
//!
//! That last look finds what was passed over for its sake (`presence.rs`). Who passes over does: hear of the event; fence
//! (SeqCst); see that the worker is up. The worker does: note that it is not; fence (SeqCst); look. If the first one's fence
//! comes first the event was there at the look. If the second's does, the first one sees that the worker has left.
//!
//! A worker that is stuck in a poll, or has stepped aside, is up and does not look: what was passed over for it waits until
//! somebody comes by the shared driver after the grace, or begins to wait in it. (A worker that leaves its turn to another has
//! no grace.)
//!
//! Two looks into one poller at the same time exclude each other by its lock, but not a look into the shared one, for which the
//! system scans this one too; it may then tell of an event that is gone, which is no harm.
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
use std::ops::DerefMut;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::unix::SourceFd;
use runtime_core::clock::Clock;
use runtime_core::driver::Visit;
use runtime_core::os;
use runtime_core::primitive::{Mutex, OnceLock};

use crate::readiness::WakeBatch;

use super::registry::Registry;
use super::token;
use presence::Presence;
use seat::Place;
pub(crate) use seat::Raw;
pub(super) use seat::Seat;

/// A worker looks after its own poller at its maintenance, every 200 us or so, unless it leaves that to another.
const GRACE: Duration = Duration::from_micros(500);
/// How many events one look takes from a worker's poller at most.
const EVENTS: usize = 256;
/// Processors with the same number, modulo this, are taken for one.
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
    totals: Totals,
    started: Instant,
    /// None if there are no workers.
    shared: Option<Arc<Registry>>,
}

/// Of all workers. On lines of their own, which those that are read by every look are not.
#[repr(align(128))]
struct Totals {
    /// How many are up.
    up: AtomicUsize,
    /// How many pollers were passed over.
    passed_over: AtomicUsize,
    /// How many sockets are with any.
    sockets: AtomicUsize,
}

/// One worker, and its poller if it ever needed one. On lines of its own.
#[repr(align(128))]
struct Worker {
    presence: Presence,
    is_passed_over: AtomicBool,
    /// When it last looked, in microseconds since the start. Zero if it left its last turn to another.
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

    /// Its poller, if there is anything to look for: a socket is counted before it is registered, and what was passed over is
    /// noted.
    fn poller_in_use(&self) -> Option<&Near> {
        let is_used = self.sockets.load(Relaxed) > 0 || self.is_passed_over.load(Relaxed);
        self.near.get().filter(|_| is_used)
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
    pub(super) fn new(workers: usize, shared: &Arc<Registry>) -> Self {
        let workers = if workers > 1 { workers.min(token::MAX_NEAR) } else { 0 };
        let processors = if workers > 0 { PROCESSORS } else { 0 };
        let zero = || AtomicUsize::new(0);
        Self {
            workers: (0..workers).map(|_| Worker::new()).collect(),
            on_processor: (0..processors).map(|_| AtomicU16::new(0)).collect(),
            totals: Totals { up: zero(), passed_over: zero(), sockets: zero() },
            started: Clock::real(),
            shared: (workers > 0).then(|| shared.clone()),
        }
    }

    pub(super) fn is_enabled(&self) -> bool {
        !self.workers.is_empty()
    }

    fn now(&self) -> u64 {
        Clock::real().saturating_duration_since(self.started).as_micros() as u64
    }

    /// A worker comes by.
    pub(super) fn visit(&self, worker: usize, visit: Visit, deliver: impl FnMut(&Event, &mut WakeBatch)) {
        let Some(own) = self.workers.get(worker) else { return };
        match visit {
            Visit::Polls => {
                if own.presence.come() {
                    self.totals.up.fetch_add(1, Relaxed);
                }
                own.seen.store(self.now(), Relaxed);
                self.note_processor(worker);
                if let Some(near) = own.poller_in_use()
                    // Else somebody is just looking.
                    && let Some(poller) = near.poller.try_lock()
                {
                    self.take(own, near, poller, deliver);
                }
            }
            Visit::Skips => own.seen.store(0, Relaxed),
            Visit::Leaves => {
                if own.presence.go() {
                    self.totals.up.fetch_sub(1, Relaxed);
                    if let Some(near) = own.poller_in_use() {
                        self.take(own, near, near.poller.lock(), deliver);
                    }
                }
            }
        }
    }

    fn note_processor(&self, worker: usize) {
        // A system that does not tell has all sockets stay with the shared poller.
        let Some(processor) = os::current_processor() else { return };
        let on_it = &self.on_processor[processor % PROCESSORS];
        let worker = worker as u16 + 1;
        if on_it.load(Relaxed) != worker {
            on_it.store(worker, Relaxed);
        }
    }

    /// For who has the shared driver: a worker's poller was reported. Returns how many events there were.
    pub(super) fn attend(&self, worker: usize, how: How, deliver: impl FnMut(&Event, &mut WakeBatch)) -> u64 {
        let Some(worker) = self.workers.get(worker) else { return 0 };
        let Some(near) = worker.near.get() else { return 0 };
        let poller = match how {
            How::Parks => Some(near.poller.lock()),
            How::Polls if self.is_about(worker) => None,
            How::Polls => near.poller.try_lock(),
        };
        match poller {
            Some(poller) => self.take(worker, near, poller, deliver),
            None => {
                // AcqRel: whoever clears it, and then looks, does so after this thread has heard of the event.
                if !worker.is_passed_over.swap(true, AcqRel) {
                    self.totals.passed_over.fetch_add(1, Relaxed);
                }
                0
            }
        }
    }

    /// For who has the shared driver: what was passed over. Returns how many events there were.
    pub(super) fn attend_passed_over(&self, how: How, mut deliver: impl FnMut(&Event, &mut WakeBatch)) -> u64 {
        // Relaxed: whoever passed over had the shared driver before.
        if self.totals.passed_over.load(Relaxed) == 0 {
            return 0;
        }
        let passed_over = self.workers.iter().enumerate().filter(|(_, worker)| worker.is_passed_over.load(Relaxed));
        passed_over.map(|(number, _)| self.attend(number, how, &mut deliver)).sum()
    }

    /// Whether a worker will soon look for itself.
    fn is_about(&self, worker: &Worker) -> bool {
        let seen = worker.seen.load(Relaxed);
        worker.presence.is_up() && seen > 0 && self.now().saturating_sub(seen) < GRACE.as_micros() as u64
    }

    /// Delivers what is in a poller, and then calls the wakers, without the lock. Returns how many events there were.
    fn take(
        &self,
        worker: &Worker,
        near: &Near,
        mut poller: impl DerefMut<Target = Poller>,
        mut deliver: impl FnMut(&Event, &mut WakeBatch),
    ) -> u64 {
        // Before the look: what is passed over during it may come too late for it. AcqRel: as in `attend`.
        if worker.is_passed_over.swap(false, AcqRel) {
            self.totals.passed_over.fetch_sub(1, Relaxed);
        }
        let mut wakes = std::mem::take(&mut poller.wakes);
        let mut delivered = 0;
        // As often as it takes to have seen all sockets once: of what is left behind nobody would be told again. What
        // comes meanwhile has an edge of its own.
        for _ in 0..=worker.sockets.load(Relaxed) / EVENTS {
            let Poller { poll, events, .. } = &mut *poller;
            poll_now(poll, events);
            let before = delivered;
            for event in &*events {
                deliver(event, &mut wakes);
                delivered += 1;
            }
            if delivered - before < EVENTS as u64 {
                break;
            }
        }
        if delivered > 0 {
            near.delivered.store(near.delivered.load(Relaxed) + delivered, Relaxed);
        }
        drop(poller);
        wakes.wake_all();
        if let Some(mut poller) = near.poller.try_lock() {
            poller.wakes = wakes;
        }
        delivered
    }

    /// How many events the workers' pollers have had.
    pub(super) fn delivered(&self) -> u64 {
        self.workers.iter().filter_map(|worker| worker.near.get()).map(|near| near.delivered.load(Relaxed)).sum()
    }

    /// Whether more than one worker is up.
    fn is_any_other_up(&self) -> bool {
        self.totals.up.load(Relaxed) > 1
    }

    /// Where a socket should be whose packets come in on that processor, and that is here now.
    fn place_for(&self, processor: usize, now: Place) -> Place {
        let place = Place(self.on_processor[processor % PROCESSORS].load(Relaxed));
        let Some(worker) = place.worker().map(|worker| &self.workers[worker]) else { return Place::SHARED };
        if !self.is_any_other_up() || !worker.presence.seems_up() {
            return Place::SHARED;
        }
        let share = SOME + self.totals.sockets.load(Relaxed) * SHARE / 100 / self.workers.len();
        if place != now && worker.sockets.load(Relaxed) >= share { now } else { place }
    }

    fn shared(&self) -> &Registry {
        self.shared.as_ref().expect("sockets move only if there are workers")
    }

    /// Puts a socket into the poller of a place.
    fn register(&self, place: Place, socket: RawFd, token: mio::Token, interest: mio::Interest) -> io::Result<()> {
        let source = &mut SourceFd(&socket);
        match place {
            // It was there before, but since then another may have been noted in its place (`registry.rs`).
            Place::SHARED => self.shared().register(source, socket, token, interest),
            _ => self.registry(place)?.register(source, token, interest),
        }
    }

    /// The registry of a place, made if need be. That of the shared one only to take something out.
    fn registry(&self, place: Place) -> io::Result<&mio::Registry> {
        let shared = self.shared();
        let Some(number) = place.worker() else { return Ok(shared.poller()) };
        let near = &self.workers[number].near;
        if near.get().is_none() {
            let new = Near::new()?;
            let poller = new.poller.lock().poll.as_raw_fd();
            shared.register(&mut SourceFd(&poller), poller, token::near(number), mio::Interest::READABLE)?;
            // If somebody was quicker this one is closed, and so no longer registered.
            near.get_or_init(|| new);
        }
        Ok(&near.get().expect("just made").registry)
    }

    fn count(&self, place: Place, up: bool) {
        let Some(worker) = place.worker() else { return };
        for count in [&self.workers[worker].sockets, &self.totals.sockets] {
            if up {
                count.fetch_add(1, Relaxed)
            } else {
                count.fetch_sub(1, Relaxed)
            };
        }
    }
}

/// What there is in a poller now, without waiting.
fn poll_now(poll: &mut mio::Poll, events: &mut mio::Events) {
    loop {
        match poll.poll(events, Some(Duration::ZERO)) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => panic!("a worker's poller does not tell its events any more: {error}"),
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
            .field("sockets", &self.totals.sockets)
            .finish_non_exhaustive()
    }
}
