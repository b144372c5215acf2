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
//! - `TAKEN`: the task that is (still) there is the thief's. The worker makes it `FREE` when it has emptied the place.
//!
//! The worker fills the place when it sees it empty. To take the task it empties the place and *then* looks at the claim:
//! unless that is `FREE` it settles the matter as above. A thief makes the claim and *then* looks for the task. Between
//! their two steps both have a fence, the thief a heavy one (`asymmetric.rs`). So if the worker does not see the claim, the
//! thief sees that the place was emptied, or a later task; and that one's taking comes after the thief's fence, so it does see the claim.
//! Nobody waits for anybody: a thief that loses its processor half way is refused, and holds up only other thieves.
//!
//! While the claim is `TAKEN` the place is empty for others, and full for its worker, until that comes by and clears it.
//! It cannot fill it before, so a claim is never about a later task at the same address.
//!
//! The store that fills releases and the thief's look acquires, so the thief sees the task as it was queued. All else is
//! relaxed: the two fences order it, also from one claim to the next. A
//! thief that sees the place empty while the worker fills it has come too early, as with any queue; who must not come too
//! early looks after a fence (`idle/`).

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

/// The worker's side.
pub(super) struct Bottom(Arc<CachePadded<Place>>);

/// The thieves' side.
pub(super) struct BottomStealer(Arc<CachePadded<Place>>);

/// An empty place.
pub(super) fn new() -> (Bottom, BottomStealer) {
    let place =
        Place { task: AtomicPtr::new(ptr::null_mut()), claim: AtomicU8::new(FREE), fence: AsymmetricFence::new() };
    let place = Arc::new(CachePadded::new(place));
    (Bottom(Arc::clone(&place)), BottomStealer(place))
}

impl Bottom {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.task.load(Relaxed).is_null()
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
        // SAFETY: `fill` put it there, only this thread takes it out, and no thief has it.
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
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.task.load(Relaxed).is_null() || self.0.claim.load(Relaxed) == TAKEN
    }

    /// Takes the task, which costs every processor an interrupt: only from a worker that is missing, or has ended.
    pub(super) fn steal(&self) -> Option<Notified> {
        if self.is_empty() {
            return None;
        }
        self.0.claim.compare_exchange(FREE, LOOKING, Relaxed, Relaxed).ok()?;
        let seen = if self.0.fence.heavy() { self.0.task.load(Acquire) } else { ptr::null_mut() };
        if let Some(task) = NonNull::new(seen)
            && self.0.claim.compare_exchange(LOOKING, TAKEN, Relaxed, Relaxed).is_ok()
        {
            // SAFETY: `fill` put it there, and its worker, which has not taken it out before the claim, will find that it
            // is taken.
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

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::UnsafeCell;

    const TASKS: usize = 2;

    /// Stands for the memory of the tasks: written before a task is queued, read by whoever gets it.
    struct Memory([UnsafeCell<usize>; TASKS]);

    // SAFETY: that the cells are used by one thread at a time is what the model checks.
    unsafe impl Send for Memory {}
    // SAFETY: as above.
    unsafe impl Sync for Memory {}

    impl Memory {
        /// A "task" that is nothing but its number, and is never dereferenced.
        fn task(&self, number: usize) -> Notified {
            // SAFETY: the queue has the task to itself.
            self.0[number].with_mut(|cell| unsafe { *cell += 1 });
            // SAFETY: it is turned back by `number`, and not used as a task.
            unsafe { Notified::from_raw(NonNull::without_provenance((number + 1).try_into().expect("above zero"))) }
        }

        fn number(&self, task: Notified) -> usize {
            let number = task.into_raw().addr().get() - 1;
            // SAFETY: whoever has the task has its memory.
            self.0[number].with_mut(|cell| assert_eq!(unsafe { std::mem::replace(&mut *cell, 0) }, 1));
            number
        }
    }

    #[test]
    fn loom_each_task_goes_to_one_thread() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let memory = std::sync::Arc::new(Memory(std::array::from_fn(|_| UnsafeCell::new(0))));
            let (bottom, stealer) = new();
            let stealer = std::sync::Arc::new(stealer);
            let thieves: Vec<_> = (0..2)
                .map(|_| {
                    let (stealer, memory) = (stealer.clone(), memory.clone());
                    thread::spawn(move || stealer.steal().map(|task| memory.number(task)))
                })
                .collect();
            let mut got = Vec::new();
            let mut next = 0;
            // The worker fills the place when it sees it empty, and takes what is left.
            while next < TASKS {
                if bottom.is_empty() {
                    bottom.fill(memory.task(next));
                    next += 1;
                } else {
                    got.extend(bottom.take().map(|task| memory.number(task)));
                }
            }
            got.extend(bottom.take().map(|task| memory.number(task)));
            got.extend(thieves.into_iter().filter_map(|thief| thief.join().unwrap()));
            got.sort_unstable();
            assert_eq!(got, (0..TASKS).collect::<Vec<_>>());
        });
    }
}
