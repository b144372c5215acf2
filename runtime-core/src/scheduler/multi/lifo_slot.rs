//! The LIFO slot: a place for the one task that lies on a worker's LIFO queue alone.
//!
//! Most of the time a worker has one runnable task: the one that the current poll has just woken or spawned. To push
//! that task onto a deque and pop it again costs a fence and an exchange. The slot costs one exchange. The slot is the
//! bottom of the queue: a task in it is older than all tasks in the deque.
//!
//! # Protocol
//!
//! The slot is one atomic pointer. Null means empty.
//!
//! - The worker *fills* the slot: it looks whether the slot is empty, and stores the task. Only the worker stores
//!   tasks, so a slot that it sees empty stays empty until it fills it.
//! - The worker *takes* the task: it swaps null in.
//! - A thief *steals* the task: it exchanges the task that it has seen for null. A thief that comes too late writes
//!   nothing.
//!
//! A swap or an exchange that returns a task has removed it, so each task goes to one thread. The store releases and
//! the thief's exchange acquires: the thief sees the task as the worker queued it. The worker's own swap needs no
//! order, because the worker (or the thread that handed the worker's core over) stored the task itself.
//!
//! If a task leaves the slot and comes back between a thief's look and its exchange, the exchange succeeds. That is
//! right: the task is in the slot.
//!
//! A thief that sees the slot empty while the worker fills it has come too early, as with any queue. A thread that must
//! not come too early looks after a fence (`idle/`).
//!
//! # Who steals
//!
//! The protocol lets any thread steal at any time. The scheduler does not: the worker is about to run this task, whose
//! data is in its cache. Thieves steal it only from a worker that has not been seen for a while (`steal.rs`).

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::task::{Header, Notified};

type Slot = Arc<CachePadded<AtomicPtr<Header>>>;

/// The worker's side. Not `Sync`: one thread at a time fills the slot.
pub(super) struct LifoSlot(Slot, PhantomData<Cell<()>>);

/// The thieves' side.
pub(super) struct LifoSlotStealer(Slot);

/// An empty slot.
pub(super) fn new() -> (LifoSlot, LifoSlotStealer) {
    let slot = Arc::new(CachePadded::new(AtomicPtr::new(ptr::null_mut())));
    (LifoSlot(Arc::clone(&slot), PhantomData), LifoSlotStealer(slot))
}

impl LifoSlot {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Relaxed).is_null()
    }

    /// Puts a task into the slot, which is empty.
    #[inline]
    pub(super) fn fill(&self, task: Notified) {
        debug_assert!(self.is_empty(), "a task would be lost");
        self.0.store(task.into_raw().as_ptr(), Release);
    }

    /// Empties the slot, and returns the task if no thief was faster.
    #[inline]
    pub(super) fn take(&self) -> Option<Notified> {
        if self.is_empty() {
            return None;
        }
        let task = NonNull::new(self.0.swap(ptr::null_mut(), Relaxed))?;
        // SAFETY: `fill` put it there, and this swap took it out.
        Some(unsafe { Notified::from_raw(task) })
    }
}

impl LifoSlotStealer {
    /// Without a fence, so only a hint.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Relaxed).is_null()
    }

    /// Takes the task.
    pub(super) fn steal(&self) -> Option<Notified> {
        let seen = self.0.load(Relaxed);
        if seen.is_null() {
            return None;
        }
        // What the exchange returns, not what was seen: that may have been another task, at the same address.
        let task = self.0.compare_exchange(seen, ptr::null_mut(), Acquire, Relaxed).ok()?;
        // SAFETY: `fill` put it there, and this exchange took it out.
        NonNull::new(task).map(|task| unsafe { Notified::from_raw(task) })
    }
}

impl Drop for LifoSlot {
    fn drop(&mut self) {
        debug_assert!(self.is_empty() || std::thread::panicking(), "shutdown empties the queues");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::UnsafeCell;

    const TASKS: usize = 3;

    /// Stands for the memory of the tasks: written before a task is queued, read by the thread that gets it.
    struct Memory([UnsafeCell<usize>; TASKS]);

    // SAFETY: the model checks that one thread at a time uses each cell.
    unsafe impl Send for Memory {}
    // SAFETY: as above.
    unsafe impl Sync for Memory {}

    impl Memory {
        /// A "task" that is nothing but its number, and is never dereferenced.
        fn task(&self, number: usize) -> Notified {
            // SAFETY: the queue has the task to itself.
            self.0[number].with_mut(|cell| unsafe { *cell += 1 });
            let header = NonNull::without_provenance((number + 1).try_into().expect("above zero"));
            // SAFETY: it is turned back by `number`, and not used as a task.
            unsafe { Notified::from_raw(header) }
        }

        fn number(&self, task: Notified) -> usize {
            let number = task.into_raw().addr().get() - 1;
            // SAFETY: the thread that has the task has its memory.
            self.0[number].with_mut(|cell| assert_eq!(unsafe { std::mem::replace(&mut *cell, 0) }, 1));
            number
        }
    }

    /// A worker fills the slot whenever it sees it empty, and takes what is left, beside two thieves.
    #[test]
    fn loom_each_task_goes_to_one_thread() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let memory = std::sync::Arc::new(Memory(std::array::from_fn(|_| UnsafeCell::new(0))));
            let (slot, stealer) = new();
            let stealer = std::sync::Arc::new(stealer);
            let thieves = [(); 2].map(|()| {
                let (stealer, memory) = (stealer.clone(), memory.clone());
                thread::spawn(move || stealer.steal().map(|task| memory.number(task)))
            });
            let mut got = Vec::new();
            let mut next = 0;
            while next < TASKS {
                if slot.is_empty() {
                    slot.fill(memory.task(next));
                    next += 1;
                } else {
                    got.extend(slot.take().map(|task| memory.number(task)));
                }
            }
            got.extend(slot.take().map(|task| memory.number(task)));
            got.extend(thieves.into_iter().filter_map(|thief| thief.join().unwrap()));
            got.sort_unstable();
            assert_eq!(got, (0..TASKS).collect::<Vec<_>>());
        });
    }
}
