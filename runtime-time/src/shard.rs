//! A shard of a runtime's timers: one wheel under one lock.
//!
//! Each worker sets its timers in its own shard, so the lock is nearly always free and the memory in the worker's own
//! cache. The driver visits a shard only when its cached `next` says that something is due, and then from whichever
//! thread drives, so that a busy or stuck worker's timers fire all the same.
//!
//! No user code (a waker) runs under the lock, and nobody holds it for longer than it takes to set or cancel a timer,
//! or to fire a batch (`firing.rs`).

use std::fmt;
use std::sync::Arc as StdArc;

use crossbeam_utils::CachePadded;
use runtime_core::driver::DriverCounters;
use runtime_core::metrics::{Histogram, HistogramCells};
use runtime_core::primitive::atomic::{AtomicU64, Ordering};
use runtime_core::primitive::{Mutex, MutexGuard};

use crate::shared::{NEVER, Shared};
use crate::tick::nanos_of;
use crate::wheel::Wheel;

/// One wheel of timers, and what is known of it without its lock.
pub(crate) struct Shard {
    /// A tick that no timer of this shard is earlier than, or [`NEVER`]. Written under the lock, read without.
    ///
    /// Cancelling leaves it alone. It is then too early, and costs the driver one look in vain at that time; but
    /// setting and cancelling a timeout over and over would otherwise wake the driver each time round.
    ///
    /// On a line of its own: the driver reads it every few dozen polls, the lock and the wheel are written all the
    /// time.
    next: CachePadded<AtomicU64>,
    wheel: CachePadded<Guarded>,
    pub(crate) shared: StdArc<Shared>,
}

/// What is written under the lock.
struct Guarded {
    locked: Mutex<Locked>,
    set: Counter,
    fired: Counter,
    cancelled: Counter,
    late: HistogramCells,
}

/// What the lock protects.
pub(crate) struct Locked {
    pub(crate) wheel: Wheel,
    closed: bool,
}

impl Locked {
    /// Whether the driver is gone, so that nothing set now would ever fire.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Nothing is set from now on.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }
}

/// Counts events of which all are under one lock: a plain addition, and readable at any time.
struct Counter(AtomicU64);

impl Counter {
    fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// `&mut Locked` shows that the caller holds the lock.
    #[inline]
    fn add(&self, by: u64, _held: &mut Locked) {
        self.0.store(self.0.load(Ordering::Relaxed) + by, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Shard {
    pub(crate) fn new(shared: StdArc<Shared>) -> Self {
        Self {
            next: CachePadded::new(AtomicU64::new(NEVER)),
            wheel: CachePadded::new(Guarded {
                locked: Mutex::new(Locked { wheel: Wheel::new(), closed: false }),
                set: Counter::new(),
                fired: Counter::new(),
                cancelled: Counter::new(),
                late: HistogramCells::default(),
            }),
            shared,
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Locked> {
        self.wheel.locked.lock()
    }

    /// A tick that no timer of this shard is earlier than, without locking.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        // Relaxed: the fences in `Shared` order this where it matters.
        self.next.load(Ordering::Relaxed)
    }

    /// Counts an insertion. Returns true if it is the shard's earliest deadline now: [`Shared::wake_for`] is to be
    /// called after unlocking.
    #[inline]
    pub(crate) fn note_set(&self, held: &mut Locked, when: u64) -> bool {
        self.wheel.set.add(1, held);
        let earlier = when < self.next();
        if earlier {
            self.next.store(when, Ordering::Relaxed);
        }
        earlier
    }

    #[inline]
    pub(crate) fn note_cancelled(&self, held: &mut Locked, count: u64) {
        self.wheel.cancelled.add(count, held);
    }

    pub(crate) fn note_fired(&self, held: &mut Locked, count: u64) {
        self.wheel.fired.add(count, held);
    }

    /// A timer fired this number of ticks after its own.
    pub(crate) fn note_late(&self, _held: &mut Locked, ticks: u64) {
        self.wheel.late.add(nanos_of(ticks), 1);
    }

    /// How late timers fired.
    pub(crate) fn lateness(&self) -> Histogram {
        self.wheel.late.read()
    }

    /// Timers have been taken out of the wheel: what is the earliest now.
    pub(crate) fn note_next(&self, held: &mut Locked) {
        self.next.store(held.wheel.next().unwrap_or(NEVER), Ordering::Relaxed);
    }

    /// The deadline of the shard's earliest timer, not counting cancelled ones, or [`NEVER`]. Locks.
    pub(crate) fn exact_next(&self) -> u64 {
        let mut locked = self.lock();
        let next = locked.wheel.exact_next().unwrap_or(NEVER);
        self.next.store(next, Ordering::Relaxed);
        next
    }

    pub(crate) fn add_counters(&self, to: &mut DriverCounters) {
        to.timers_set += self.wheel.set.get();
        to.timers_fired += self.wheel.fired.get();
        to.timers_cancelled += self.wheel.cancelled.get();
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("next", &self.next()).finish_non_exhaustive()
    }
}
