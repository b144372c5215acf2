//! The bottom of a worker's LIFO lane: a place for the one task that lies there alone.
//!
//! Most of the time a worker has one runnable task: the one that the poll at hand has just woken or spawned. To put
//! that into a deque and take it out again costs a fence and an exchange, because a thief may be after the same task.
//! Here it costs neither: nobody is after it, unless the worker is missing. Then a thief goes to some trouble. The
//! place is part of the lane: what is in it is older than everything in the deque above.
//!
//! # Protocol
//!
//! Two words: the task, which only the worker writes, and a *claim*, which is
//!
//! - `FREE`: nobody is after the task. A thief makes it `LOOKING`, by an exchange, so there is one at a time;
//! - `LOOKING`: a thief wants what is there. It makes that `TAKEN` and has the task, the worker makes it `REFUSED` and
//!   has kept it: an exchange, of which one succeeds. A thief that finds nothing makes it `FREE`;
//! - `REFUSED`: the thief makes it `FREE`, and goes away;
//! - `TAKEN`: the task that is (still) there is the thief's. The worker makes it `FREE` when it has emptied the place;
//! - `CLOSED`: as `FREE`, but a thief that comes may get nothing, because the last one was not given its fence.
//!
//! The worker fills the place when it sees it empty. To take the task it empties the place and *then* looks at the claim:
//! unless that is `FREE` it settles the matter as above. A thief makes the claim and *then* looks for the task. Between
//! their two steps both have a fence, the thief a heavy one (`asymmetric.rs`). So if the worker's look comes before the
//! thief's fence, the thief sees that the place was emptied, or a later task. If it comes after, the worker sees the claim.
//! Nobody waits for anybody: a thief that loses its processor half way is refused, and holds up only other thieves.
//!
//! While the claim is `TAKEN` the place is empty for others, and full for its worker, until that comes by and clears it.
//! It cannot fill it before, so a claim is never about a later task at the same address.
//!
//! The store that fills releases and the thief's look acquires, so the thief sees the task as it was queued. All else is
//! relaxed: the two fences order it, also from one claim to the next. Where the worker has no fence of its own, a machine
//! may let others see that the claim is `FREE` before they see that the place was emptied, and a second thief would find
//! the task that the first one has. The second one's heavy fence rules that out: the worker emptied the place before it
//! wrote what that thief has seen, so it did before it was interrupted. What anybody sees without such a fence is a hint.
//! A thief that sees the place empty while the worker fills it has come too early, as with any queue; who must not come too
//! early looks after a fence (`idle/`).
//!
//! # If the system refuses
//!
//! the fence, which it had granted, a thief cannot take anything. It leaves the claim `CLOSED`, and the worker, which fills
//! the place only while the claim is `FREE`, puts its tasks into the deque from then on. (That it may see this late is no
//! matter to the protocol above, which holds if it fills the place whenever that is empty.) What lies in the place by then
//! waits for its worker; or for a thief with better luck, who opens the place again.

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
pub(super) mod tests;

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::asymmetric::AsymmetricFence;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicPtr, AtomicU8};
use crate::task::{Header, Notified};

struct Place {
    task: AtomicPtr<Header>,
    claim: AtomicU8,
    fence: AsymmetricFence,
}

const FREE: u8 = 0;
const LOOKING: u8 = 1;
const REFUSED: u8 = 2;
const TAKEN: u8 = 3;
const CLOSED: u8 = 4;

/// The worker's side. Not `Sync`: one thread at a time fills and empties the place.
pub(super) struct Bottom(Arc<CachePadded<Place>>, PhantomData<Cell<()>>);

/// The thieves' side.
pub(super) struct BottomStealer(Arc<CachePadded<Place>>);

/// An empty place.
pub(super) fn new(fence: AsymmetricFence) -> (Bottom, BottomStealer) {
    let place = Place { task: AtomicPtr::new(ptr::null_mut()), claim: AtomicU8::new(FREE), fence };
    let place = Arc::new(CachePadded::new(place));
    (Bottom(Arc::clone(&place), PhantomData), BottomStealer(place))
}

impl Bottom {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.task.load(Relaxed).is_null()
    }

    /// Whether it is empty, and a thief could get what is put there.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_empty() && self.0.claim.load(Relaxed) == FREE
    }

    /// Puts a task into the place, which is empty.
    #[inline]
    pub(super) fn fill(&self, task: Notified) {
        debug_assert!(self.is_empty(), "a task would be lost");
        self.0.task.store(task.into_raw().as_ptr(), Release);
    }

    /// Empties the place, and returns the task if no thief has it.
    #[inline]
    pub(super) fn take(&self) -> Option<Notified> {
        let task = NonNull::new(self.0.task.load(Relaxed))?;
        self.0.task.store(ptr::null_mut(), Relaxed);
        self.0.fence.light();
        if self.0.claim.load(Relaxed) != FREE && !self.refuse() {
            return None;
        }
        // SAFETY: `fill` put it there, only this thread takes it out (no other has this side meanwhile, which is not
        // `Sync`), and no thief has it.
        Some(unsafe { Notified::from_raw(task) })
    }

    /// Whether the task that was in the place is still the worker's, though a thief is or was after it.
    #[cold]
    fn refuse(&self) -> bool {
        match self.0.claim.compare_exchange(LOOKING, REFUSED, Relaxed, Relaxed) {
            Err(TAKEN) => {
                self.0.claim.store(FREE, Relaxed);
                false
            }
            // Refused now, or at an earlier task; or the thief has given up.
            _ => true,
        }
    }
}

impl BottomStealer {
    /// Without a fence, so only a hint.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.task.load(Relaxed).is_null() || self.0.claim.load(Relaxed) == TAKEN
    }

    /// Takes the task, which costs each processor that runs a thread of the process an interrupt: only from a worker
    /// that is missing.
    pub(super) fn steal(&self) -> Option<Notified> {
        self.steal_by(self.0.fence)
    }

    fn steal_by(&self, fence: AsymmetricFence) -> Option<Notified> {
        if self.is_empty() {
            return None;
        }
        let claim = self.0.claim.load(Relaxed);
        if !matches!(claim, FREE | CLOSED) {
            return None;
        }
        self.0.claim.compare_exchange(claim, LOOKING, Relaxed, Relaxed).ok()?;
        if !fence.heavy() {
            // Even if the worker has refused.
            self.0.claim.store(CLOSED, Relaxed);
            return None;
        }
        if let Some(task) = NonNull::new(self.0.task.load(Acquire))
            && self.0.claim.compare_exchange(LOOKING, TAKEN, Relaxed, Relaxed).is_ok()
        {
            // SAFETY: `fill` put it there. Its worker looks at the claim when it has emptied the place; that look comes
            // after the fence, before which the place was not emptied of this task, and has not come yet, or it would have
            // refused. So the worker will find that the task is taken.
            return Some(unsafe { Notified::from_raw(task) });
        }
        self.0.claim.store(FREE, Relaxed);
        None
    }
}

impl Drop for Bottom {
    fn drop(&mut self) {
        debug_assert!(self.is_empty() || std::thread::panicking(), "shutdown empties the lanes");
    }
}
