//! The bottom of a worker's LIFO lane: a place for the one task that lies there alone.
//!
//! Most of the time a worker has one runnable task: the one that the poll at hand has just woken or spawned. To put
//! that into a deque and take it out again costs a fence and an exchange, because a thief may be after the same task.
//! Here it costs one exchange. The place is part of the lane: what is in it is older than everything in the deque
//! above, and can be stolen like everything else.
//!
//! # Protocol
//!
//! Only the worker fills the place, and only when it sees it empty; so a plain store does it. Anybody empties it, by
//! exchanging the task for null: of several, one gets it. The store releases and the exchange acquires. A thief that
//! sees the place empty while the worker fills it has come too early, as with any queue; who must not come too early
//! looks after a fence (`idle/`).

use std::ptr::{self, NonNull};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{AcqRel, Relaxed, Release};
use crate::task::{Header, Notified};

type Place = CachePadded<AtomicPtr<Header>>;

/// The worker's side.
pub(super) struct Bottom(Arc<Place>);

/// The thieves' side.
pub(super) struct BottomStealer(Arc<Place>);

/// An empty place.
pub(super) fn new() -> (Bottom, BottomStealer) {
    let place = Arc::new(CachePadded::new(AtomicPtr::new(ptr::null_mut())));
    (Bottom(Arc::clone(&place)), BottomStealer(place))
}

#[inline]
fn is_empty(place: &Place) -> bool {
    place.load(Relaxed).is_null()
}

#[inline]
fn take(place: &Place) -> Option<Notified> {
    let seen = place.load(Relaxed);
    if seen.is_null() {
        return None;
    }
    // If it fails another thread was quicker. The pointer to go on with is the one that the exchange gives: the one
    // that was seen may be that of an earlier task at the same address.
    let task = NonNull::new(place.compare_exchange(seen, ptr::null_mut(), AcqRel, Relaxed).ok()?)?;
    // SAFETY: `fill` put it there, and this exchange has taken it out.
    Some(unsafe { Notified::from_raw(task) })
}

impl Bottom {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        is_empty(&self.0)
    }

    /// Puts a task into the place, which is empty.
    #[inline]
    pub(super) fn fill(&self, task: Notified) {
        debug_assert!(self.is_empty(), "a task would be lost");
        self.0.store(task.into_raw().as_ptr(), Release);
    }

    #[inline]
    pub(super) fn take(&self) -> Option<Notified> {
        take(&self.0)
    }
}

impl BottomStealer {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        is_empty(&self.0)
    }

    pub(super) fn steal(&self) -> Option<Notified> {
        take(&self.0)
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
