//! What a runtime's timer shards share: the clock, and how an early deadline reaches a driver that waits.
//!
//! The driver sleeps until the earliest deadline it knows. A thread that sets a timer which is due before that must end
//! the sleep, and nobody else should pay for it. This file is that agreement; the shards and the driver are its two
//! sides.
//!
//! # The protocol
//!
//! `parked_until` is the tick the driver may sleep to. It is 0 while the driver is not about to sleep, so that no
//! deadline is earlier: setting a timer then costs no system call on any thread.
//!
//! - The **driver** ([`Shared::begin_wait`]) stores into `parked_until` the earliest of the shards' `next`, *fences*,
//!   and reads them all again. It sleeps until the earlier of what it stored and what it read. It must not sleep longer
//!   than it told: somebody may have set a timer in between, found it later than what was stored, and gone away.
//! - The **setter** ([`Shared::wake_for`]) has lowered its shard's `next`; then it *fences* and reads `parked_until`.
//!   If its own deadline is earlier, it exchanges `parked_until` for 0 and unparks the driver; with the 0 it tells
//!   other setters that the driver has been called already.
//!
//! The two fences are `SeqCst` and pair with each other. One of them comes first in their common order: if the driver's
//! does, the setter sees the stored `parked_until`; if the setter's does, the driver's second look sees the lowered
//! `next`. They cannot both miss.
//!
//! A sleep that is not to end before some tick, and that will end then because a deadline comes before, is announced to
//! nobody: `parked_until` stays 0.
//!
//! If the setter's exchange fails, there is nothing left to do. Either the value is 0: the driver has been called, or
//! is awake and will look before it sleeps. Or it is that of a later wait: the setter's load did not see it, so the
//! setter's fence comes before that wait's, and that wait's second look saw the lowered `next`. The exchange may also
//! hit a later wait that happens to have the same value: that costs one wait that ends without cause.
//!
//! A setter that does not lower its shard's `next` has nothing to tell: the setter that lowered it to where it is
//! tells, or has told, of a deadline that is at least as early.
//!
//! The loom models whose names speak of a driver check this.

use std::fmt;
use std::sync::Arc as StdArc;
use std::time::Instant;

use crossbeam_utils::CachePadded;
use runtime_core::clock::Clock;
use runtime_core::driver::Unpark;
use runtime_core::primitive::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use crate::tick::Ticks;
use crate::turn::NextTurn;

/// In a shard's `next`, in `parked_until`: no deadline at all.
pub(crate) const NEVER: u64 = u64::MAX;

/// What all shards of a runtime share: the clock, and the wait of the driver that a setter may have to end.
pub(crate) struct Shared {
    pub(crate) ticks: Ticks,
    pub(crate) clock: StdArc<Clock>,
    pub(crate) next_turn: NextTurn,
    unpark: StdArc<dyn Unpark>,
    wait: CachePadded<Wait>,
}

/// What the driver writes while others read, on a line of its own.
struct Wait {
    parked_until: AtomicU64,
    /// A tick that is known to have passed, because somebody read the clock for other reasons.
    seen: AtomicU64,
    /// Whether somebody unparked the runtime's drivers since the driver last asked. Kept only while the clock is
    /// paused.
    was_woken: AtomicBool,
}

impl Shared {
    pub(crate) fn new(clock: StdArc<Clock>, unpark: StdArc<dyn Unpark>) -> Self {
        let wait = Wait { parked_until: AtomicU64::new(0), seen: AtomicU64::new(0), was_woken: AtomicBool::new(false) };
        let ticks = Ticks::starting_at(clock.now());
        Self { ticks, clock, next_turn: NextTurn::new(), unpark, wait: CachePadded::new(wait) }
    }

    /// Driver: announces a sleep, and says until which tick it may last. `earliest` looks at all shards. The sleep does
    /// not end for a timer before the tick `not_before`; 0 for no such limit.
    pub(crate) fn begin_wait(&self, not_before: u64, earliest: impl Fn() -> u64) -> u64 {
        let told = earliest();
        if told <= not_before {
            // `parked_until` stays 0: no deadline would end this sleep sooner.
            return not_before;
        }
        self.wait.parked_until.store(told, Ordering::Relaxed);
        // Pairs with the fence in `wake_for`.
        fence(Ordering::SeqCst);
        told.min(earliest()).max(not_before)
    }

    /// Driver: the sleep is over.
    pub(crate) fn end_wait(&self) {
        // Relaxed: a setter that still sees the old value unparks once too often, no more.
        self.wait.parked_until.store(0, Ordering::Relaxed);
    }

    /// Setter: after lowering the `next` of a shard to `when`, ends a wait that would last longer than that.
    #[inline]
    pub(crate) fn wake_for(&self, when: u64) {
        // Pairs with the fence in `begin_wait`.
        fence(Ordering::SeqCst);
        let parked_until = &self.wait.parked_until;
        let until = parked_until.load(Ordering::Relaxed);
        if when < until && parked_until.compare_exchange(until, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.unpark.unpark();
        }
    }

    /// Makes the driver look at the clock again, after that was paused, moved or resumed.
    pub(crate) fn clock_changed(&self) {
        self.unpark.unpark();
    }

    /// A tick that has certainly passed; lags behind the clock, but costs less to read.
    #[inline]
    pub(crate) fn seen(&self) -> u64 {
        self.wait.seen.load(Ordering::Relaxed)
    }

    /// Reads the clock, and leaves the tick for others to see.
    pub(crate) fn look_at_clock(&self) -> (Instant, u64) {
        let now = self.clock.now();
        let tick = self.ticks.passed(now);
        // Two threads may overtake each other here and store the older tick last. Any tick that has passed will do.
        // (A model must take the same steps each time, whatever the clock shows.)
        if cfg!(loom) || tick > self.seen() {
            self.wait.seen.store(tick, Ordering::Relaxed);
        }
        (now, tick)
    }

    /// Driver: whether the runtime was unparked since this was last asked.
    pub(crate) fn take_was_woken(&self) -> bool {
        self.wait.was_woken.swap(false, Ordering::Acquire)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("ticks", &self.ticks).field("seen", &self.seen()).finish_non_exhaustive()
    }
}

/// The unpark that the runtime uses: forwards, and while the clock is paused leaves a note that there was work, so that
/// the driver does not take the runtime for idle and move the clock.
pub(crate) struct NotedUnpark(pub(crate) StdArc<Shared>);

impl Unpark for NotedUnpark {
    fn unpark(&self) {
        if self.0.clock.is_paused() {
            self.0.wait.was_woken.store(true, Ordering::Release);
        }
        self.0.unpark.unpark();
    }
}
