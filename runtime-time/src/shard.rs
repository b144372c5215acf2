//! A shard of a runtime's timers: one wheel under one lock.
//!
//! Each worker sets its timers in its own shard, so the lock is nearly always free and the memory in the worker's own
//! cache. The driver visits a shard only when its cached `next` says that something is due, and then from whichever
//! thread drives, so that a busy or stuck worker's timers fire all the same.
//!
//! A shard never runs foreign code (wakers) under its lock, and never makes a thread wait for anything but the few
//! instructions of another set, cancel, or batch of firing.

use std::fmt;
use std::sync::{Arc as StdArc, OnceLock};
use std::task::Waker;

use crossbeam_utils::CachePadded;
use runtime_core::context::Station;
use runtime_core::driver::DriverCounters;
use runtime_core::primitive::atomic::{AtomicU64, Ordering};
use runtime_core::primitive::{Mutex, MutexGuard};

use crate::batch::WakeBatch;
use crate::entry::{Entry, State};
use crate::pad::Pad;
use crate::shard_ref::Kept;
use crate::shared::{NEVER, Shared};
use crate::wheel::Wheel;

/// So many entries that were put off are filed again under one hold of the lock, at most.
const FILED_AGAIN: usize = 64;

/// See the module.
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
    own: CachePadded<Own>,
    pub(crate) shared: StdArc<Shared>,
    /// Whose shard it is, once that is known.
    station: OnceLock<Station>,
}

/// What is written under the lock.
struct Guarded {
    locked: Mutex<Locked>,
    set: Counter,
    fired: Counter,
    cancelled: Counter,
}

/// What its worker writes with each timer, and others seldom touch.
pub(crate) struct Own {
    pub(crate) pad: Pad,
    pub(crate) kept: Kept,
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
            }),
            own: CachePadded::new(Own { pad: Pad::new(), kept: Kept::new() }),
            shared,
            station: OnceLock::new(),
        }
    }

    /// Whether this is the shard of that station, whose it becomes if it is nobody's yet. (It is another's if somebody gives one
    /// driver's handle to two runtimes.)
    #[inline]
    pub(crate) fn is_of(&self, station: Station) -> bool {
        *self.station.get_or_init(|| station) == station
    }

    /// Whether the calling thread is the worker whose shard this is.
    #[inline]
    pub(crate) fn is_at_home(&self) -> bool {
        self.station.get().is_some_and(|station| station.is_here())
    }

    #[inline]
    pub(crate) fn own(&self) -> &Own {
        &self.own
    }

    /// A poll ends, with timers on the pad that are to wake its task.
    ///
    /// # Safety
    ///
    /// The calling thread is the worker whose shard this is.
    pub(crate) unsafe fn file_notes(&self, waker: &Waker) {
        for number in 0..self.own.pad.len() {
            if self.own.pad.is_struck_out(number) {
                continue;
            }
            let waker = waker.clone();
            let mut locked = self.lock();
            let Some(entry) = self.own.pad.take(number, &mut locked) else {
                // A stranger was quicker.
                drop(locked);
                continue;
            };
            // SAFETY: it was noted until now, and the lock is held. Its owner cannot have freed it.
            unsafe { Entry::file(entry, self, locked, waker) };
        }
        self.own.pad.clear();
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
    pub(crate) fn note_cancelled(&self, held: &mut Locked) {
        self.wheel.cancelled.add(1, held);
    }

    pub(crate) fn note_fired(&self, held: &mut Locked, count: u64) {
        self.wheel.fired.add(count, held);
    }

    /// Fires everything that is due, in order (what was put off to a tick that has passed as well comes in its old place),
    /// and wakes it a batch at a time without the lock.
    pub(crate) fn fire(&self, now: u64, batch: &mut WakeBatch) {
        while self.expire_some(now, State::Fired, batch) {}
    }

    /// Ends all waits and refuses new ones.
    pub(crate) fn close(&self, batch: &mut WakeBatch) {
        self.lock().closed = true;
        while self.expire_some(u64::MAX, State::Closed, batch) {}
    }

    /// Expires one batch of entries and wakes their tasks. True if there may be more.
    fn expire_some(&self, now: u64, to: State, batch: &mut WakeBatch) -> bool {
        let mut locked = self.lock();
        let mut count = 0;
        let mut more = true;
        // Those that go back into the wheel take as long as those that fire.
        let mut filed_again = 0;
        while !batch.is_full() && filed_again < FILED_AGAIN {
            let Some(node) = locked.wheel.pop_due(now) else {
                more = false;
                break;
            };
            // SAFETY: the node was in the wheel, so its entry was `Waiting`; the lock is held.
            match unsafe { Entry::expire(Entry::of_node(node), to, now) } {
                Ok(waker) => {
                    batch.push(waker);
                    count += 1;
                }
                Err(later) => {
                    filed_again += 1;
                    // SAFETY: its entry still waits: it is pinned, and stays until it has been taken out.
                    let filed = unsafe { locked.wheel.insert(node, later) };
                    filed.expect("the wheel's time is not past the present");
                }
            }
        }
        match to {
            State::Fired => self.note_fired(&mut locked, count),
            _ => self.wheel.cancelled.add(count, &mut locked),
        }
        self.next.store(locked.wheel.next().unwrap_or(NEVER), Ordering::Relaxed);
        drop(locked);
        batch.wake_all();
        more
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
