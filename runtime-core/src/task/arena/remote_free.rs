//! Remote frees: how a task that dies on another thread comes back to its arena.
//!
//! A task dies wherever its last reference goes. If that is on the thread that owns its arena, it is freed there and
//! then. Any other thread pushes it onto the arena's stack of *remote frees*, several at a time ([`FreeBatch`]), and
//! the owner frees what is there when it comes by: in its maintenance, before it parks, and before it asks the
//! allocator for more.
//!
//! Pushing is a compare-exchange in a loop. The owner takes the whole stack with one swap, so no node is popped while
//! another thread looks at it, and there is no ABA. A push releases and the swap acquires: the owner frees what the
//! pusher has seen the last of.
//!
//! Every now and then ([`DRAIN_REQUEST_INTERVAL`]) a task *requests a drain* of the owner, so that a sleeping one does
//! not sit on a heap of dead tasks. (The arena of remote tasks has no owner to wake: the thread that requests the drain
//! does it itself.)

use std::ptr::{self, NonNull};

use super::TaskArena;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use crate::task::Id;
use crate::task::cell::Header;
#[cfg(not(loom))]
use crate::task::published;
use crate::task::raw::free_outstanding;

/// One in this many tasks that die on another thread requests a drain.
const DRAIN_REQUEST_INTERVAL: u64 = 256;

/// Dead tasks of one arena, chained by their [`SiteOrLink`](crate::task::spawn_site::SiteOrLink)s, on their way back.
#[derive(Clone, Copy)]
pub(super) struct FreeBatch {
    first: NonNull<Header>,
    last: NonNull<Header>,
    len: u32,
    /// Whether one of them requests a drain.
    requests_drain: bool,
}

impl FreeBatch {
    /// A batch of one task.
    ///
    /// # Safety
    ///
    /// Nobody has a reference to the task.
    #[inline]
    pub(super) unsafe fn new(task: NonNull<Header>) -> Self {
        // SAFETY: dead, but not freed.
        let requests_drain = unsafe { Self::bury(task) };
        Self { first: task, last: task, len: 1, requests_drain }
    }

    /// Adds a task.
    ///
    /// # Safety
    ///
    /// Nobody has a reference to the task, and it is of the same arena as the others.
    #[inline]
    pub(super) unsafe fn push(&mut self, task: NonNull<Header>) {
        // SAFETY: dead, but not freed, and the caller's.
        unsafe {
            self.requests_drain |= Self::bury(task);
            task.as_ref().site_or_link.set_next_free(self.first.as_ptr());
        }
        self.first = task;
        self.len += 1;
    }

    /// Nobody inspects the task any more. Whether it requests a drain.
    ///
    /// # Safety
    ///
    /// Nobody has a reference to the task, which is not freed.
    #[inline]
    unsafe fn bury(task: NonNull<Header>) -> bool {
        // SAFETY: the caller's promise.
        let header = unsafe { task.as_ref() };
        let requests_drain = requests_drain(header.id());
        #[cfg(not(loom))]
        published::retract(&header.identity);
        requests_drain
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }
}

/// Whether the return of the task with this identifier requests a drain. To count returns would be one more shared word
/// to write; this picks one in [`DRAIN_REQUEST_INTERVAL`] by the identifier, scattered (Fibonacci hashing, Knuth 6.4).
#[inline]
pub(crate) fn requests_drain(id: Id) -> bool {
    id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) <= u64::MAX / DRAIN_REQUEST_INTERVAL
}

/// Marks a stack of remote frees that nobody empties any more. Never dereferenced.
pub(super) fn closed() -> *mut Header {
    ptr::without_provenance_mut(1)
}

impl TaskArena {
    /// Sends a dead task to the thread that can free it.
    ///
    /// # Safety
    ///
    /// The task is in this arena and nobody has a reference to it.
    #[cold]
    pub(crate) unsafe fn free_remotely_one(this: NonNull<Self>, task: NonNull<Header>) {
        // SAFETY: passed on.
        unsafe { Self::free_remotely(this, FreeBatch::new(task)) };
    }

    /// Sends dead tasks to the thread that can free them.
    ///
    /// # Safety
    ///
    /// They are in this arena and nobody has a reference to any.
    // Not a method: the runtime, and this in it, may go with the tasks, and must not be borrowed for the whole call.
    pub(super) unsafe fn free_remotely(this: NonNull<Self>, batch: FreeBatch) {
        // SAFETY: the tasks keep the runtime, and its arena in it, until they are freed.
        let arena = unsafe { this.as_ref() };
        // Request first: once the tasks are on the stack they no longer keep the runtime, and nothing of it may be
        // touched. An owner that comes too early for these finds them with the next request.
        if batch.requests_drain {
            // SAFETY: bound before the first task, and the tasks keep the runtime.
            unsafe { (arena.calls.request_drain)(arena.runtime.load(Relaxed), arena.of) };
        }
        let mut head = arena.remote_frees.load(Acquire);
        loop {
            if head == closed() {
                // SAFETY: passed on; the mark says that the arena was closed.
                unsafe { Self::free_outstanding_batch(this, batch) };
                return;
            }
            // SAFETY: the batch is the caller's.
            unsafe { batch.last.as_ref() }.site_or_link.set_next_free(head);
            match arena.remote_frees.compare_exchange_weak(head, batch.first.as_ptr(), AcqRel, Acquire) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    /// Frees tasks whose arena was closed.
    ///
    /// # Safety
    ///
    /// As [`free_remotely`](Self::free_remotely), and the arena was closed.
    unsafe fn free_outstanding_batch(this: NonNull<Self>, batch: FreeBatch) {
        let mut next = batch.first;
        for left in (0..batch.len).rev() {
            let task = next;
            // SAFETY: nobody has a reference, the arena is not looked at again, and the task was counted when its arena
            // was closed. The runtime lives until the last of the batch was counted off; after that nothing of it is
            // touched.
            unsafe {
                if left > 0 {
                    next = NonNull::new(task.as_ref().site_or_link.next_free())
                        .expect("the batch has as many links as were counted");
                }
                let (runtime, calls) = (this.as_ref().runtime.load(Relaxed), this.as_ref().calls);
                free_outstanding(task);
                (calls.remove_outstanding)(runtime);
            }
        }
    }
}
