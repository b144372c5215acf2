//! Who owns the tasks: the lists in which every task of a runtime can be found, so that shutdown leaves none behind.
//!
//! Each worker has a list for the tasks it spawns, and there are some for tasks spawned from foreign threads. A task's
//! header points to its [`Owner`], and through it to the runtime ([`Host`]). A task is on the list that its memory is
//! from ([`Cells`]), and so until that is freed, complete or not; what the list *counts* as its reference is given back
//! at completion (see `state.rs`), so a finished task that somebody still has a handle to is a mere cell on a list.
//!
//! # A list takes no lock
//!
//! The list belongs to one thread at a time: the worker; for the lists of foreign tasks, whoever has their gate
//! (`scheduler/foreign.rs`); for one whose core no thread has, whoever holds the lock that keeps it so; after the
//! workers are gone and the gates closed, the thread that shuts the runtime down.
//!
//! When the last reference goes on that very thread, it frees the task. Other threads push the dead onto the list's
//! *return stack*, several at a time ([`Home`](super::home)), and the owner frees them when it comes by: at its
//! maintenance ticks and before it parks. Pushing is a compare-exchange in a loop; the owner takes the whole stack with
//! one swap, so no node is popped while another thread looks at it, and there is no ABA. A push releases and the swap
//! acquires: the owner frees what the pusher has seen the last of. About every 256th return nudges the owner, so that a
//! sleeping one does not sit on a heap of dead tasks. (The dead of a foreign list have no owner to wake: the thread
//! that nudges frees them itself, `scheduler/foreign.rs`.)
//!
//! # What happens at shutdown
//!
//! [`ArenaGuard::cancel_all`] cancels what is alive; [`ArenaGuard::close`] then empties the return stack, puts `CLOSED`
//! in its place, and reports how many tasks are left on the list: finished ones, to which handles or wakers remain. From
//! then on nobody owns or walks the list: a task that loses its last reference is freed at once, wherever that is, and
//! counted off (see [`Outstanding`](super::outstanding::Outstanding)); the last one lets go of the runtime's memory, in
//! which the lists lie.

use std::alloc::Layout;
use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use super::cell::Header;
use super::cells::Cells;
use super::host::{Host, HostCalls};
use super::raw::{bury, free_orphan};
use super::runner::Runner;
use super::{Birth, JoinHandle, Notified, Schedule, new_task_in};
use crate::primitive::UnsafeCell;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// Where in its scheduler a list belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListOf {
    /// To the thread that has this slot.
    Slot(usize),
    /// To whoever has the gate of these foreign tasks.
    Foreign(usize),
}

/// One list of tasks, and the way from a task to its runtime. See the module.
pub(crate) struct Owner {
    /// The host, of the type that `calls` is for. Read by every wake; so it shares no cache line with what the list's
    /// thread writes.
    runtime: AtomicPtr<()>,
    calls: &'static HostCalls,
    of: ListOf,
    /// For the thread that owns the list.
    cells: CachePadded<UnsafeCell<Cells>>,
    returned: CachePadded<AtomicPtr<Header>>,
}

// SAFETY: the part that is not Sync by itself is `cells`, used only by the thread that owns the list (through an
// `ArenaGuard`, which is unsafe to make for that reason).
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

/// Dead tasks of one list, chained by their [`SiteOrLink`](super::spawn_site::SiteOrLink)s, on their way home.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    first: NonNull<Header>,
    last: NonNull<Header>,
    len: u32,
    /// The owner should be told.
    nudge: bool,
}

impl Chain {
    /// # Safety
    ///
    /// Nobody has a reference to the task.
    #[inline]
    pub(super) unsafe fn new(task: NonNull<Header>) -> Self {
        // SAFETY: dead, but not freed.
        let nudge = unsafe { nudges(task) };
        Self { first: task, last: task, len: 1, nudge }
    }

    /// # Safety
    ///
    /// Nobody has a reference to the task, and it is of the same list as the others.
    #[inline]
    pub(super) unsafe fn push(&mut self, task: NonNull<Header>) {
        // SAFETY: dead, but not freed, and the caller's.
        unsafe {
            task.as_ref().site_or_link().set_next_returned(self.first.as_ptr());
            self.nudge |= nudges(task);
        }
        self.first = task;
        self.len += 1;
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }
}

/// Whether the return of this task is one of the few that nudge its owner. Counting them all would be one more shared
/// word to write; this picks one in 256 by the identifier, scattered (Fibonacci hashing, Knuth 6.4).
///
/// # Safety
///
/// The task was not freed yet.
#[inline]
unsafe fn nudges(task: NonNull<Header>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { task.as_ref() }.id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56 == 0
}

/// Marks a return stack that nobody empties any more. Never dereferenced.
fn closed() -> *mut Header {
    ptr::without_provenance_mut(1)
}

impl Owner {
    /// A list that lies in a host of that type.
    pub(crate) fn new<H: Host>(of: ListOf) -> Self {
        Self {
            runtime: AtomicPtr::new(ptr::null_mut()),
            calls: HostCalls::of::<H>(),
            of,
            cells: CachePadded::new(UnsafeCell::new(Cells::new())),
            returned: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// Called once, before any task is spawned: the list lies inside this runtime.
    pub(crate) fn bind<H: Host>(&self, runtime: *const H) {
        assert_eq!((self.calls.type_id)(), TypeId::of::<H>());
        self.runtime.store(runtime.cast_mut().cast(), Relaxed);
    }

    /// The runtime of the tasks on this list. It lives at least as long as any of them (see `outstanding.rs`).
    ///
    /// # Safety
    ///
    /// The list was made for a host of this type, and bound.
    #[inline]
    pub(crate) unsafe fn runtime<H: Host>(&self) -> &H {
        debug_assert_eq!((self.calls.type_id)(), TypeId::of::<H>());
        // SAFETY: the caller's promise, and the owner lies inside the runtime.
        unsafe { &*self.runtime.load(Relaxed).cast::<H>() }
    }

    /// What only the owner may do with the list.
    ///
    /// # Safety
    ///
    /// The calling thread owns this list for as long as the guard lives.
    #[inline]
    pub(crate) unsafe fn guard(&self) -> ArenaGuard<'_> {
        ArenaGuard { list: self, _stays: PhantomData }
    }

    /// Sends a dead task to the thread that can free it.
    ///
    /// # Safety
    ///
    /// The task is on this list and nobody has a reference to it.
    #[cold]
    pub(crate) unsafe fn send_home_one(this: NonNull<Self>, task: NonNull<Header>) {
        // SAFETY: passed on.
        unsafe { Self::send_home(this, Chain::new(task)) };
    }

    /// Sends dead tasks to the thread that can free them.
    ///
    /// # Safety
    ///
    /// They are on this list and nobody has a reference to any.
    // Not a method: the runtime, and this in it, may go with the tasks, and must not be borrowed for the whole call.
    pub(super) unsafe fn send_home(this: NonNull<Self>, chain: Chain) {
        // SAFETY: the tasks keep the runtime, and its owner in it, until they are freed.
        let owner = unsafe { this.as_ref() };
        // Nudge first: once the tasks are on the stack they no longer keep the runtime, and nothing of it may be
        // touched. An owner that comes too early for these finds them with the next nudge.
        if chain.nudge {
            // SAFETY: bound before the first task, and the tasks keep the runtime.
            unsafe { (owner.calls.nudge)(owner.runtime.load(Relaxed), owner.of) };
        }
        let mut head = owner.returned.load(Acquire);
        loop {
            if head == closed() {
                // SAFETY: passed on; the mark says that the list was closed.
                unsafe { Self::free_orphans(this, chain) };
                return;
            }
            // SAFETY: the chain is the caller's.
            unsafe { chain.last.as_ref() }.site_or_link().set_next_returned(head);
            match owner.returned.compare_exchange_weak(head, chain.first.as_ptr(), AcqRel, Acquire) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    /// # Safety
    ///
    /// As [`send_home`](Self::send_home), and the list was closed.
    unsafe fn free_orphans(this: NonNull<Self>, chain: Chain) {
        let mut next = chain.first;
        for left in (0..chain.len).rev() {
            let task = next;
            // SAFETY: nobody has a reference, the list is not looked at again, and the task was counted when its list
            // was closed. The runtime lives until the last of the chain was counted off; after that nothing of it is
            // touched.
            unsafe {
                if left > 0 {
                    next = NonNull::new(task.as_ref().site_or_link().next_returned())
                        .expect("the chain has as many links as were counted");
                }
                let (runtime, calls) = (this.as_ref().runtime.load(Relaxed), this.as_ref().calls);
                free_orphan(task);
                (calls.outstanding_gone)(runtime);
            }
        }
    }
}

/// A list that the calling thread owns, as long as the guard lives: what no other thread may do to it.
///
/// There may be several of one list on its thread. No function of this borrows the cells while code of a user's runs.
pub(crate) struct ArenaGuard<'a> {
    list: &'a Owner,
    /// Another thread does not own the list.
    _stays: PhantomData<*const ()>,
}

impl ArenaGuard<'_> {
    /// The closure runs nothing of a user's, and nothing that comes back to this list's cells.
    #[inline]
    fn with_cells<R>(&self, f: impl FnOnce(&mut Cells) -> R) -> R {
        // SAFETY: the list is this thread's, so nobody else uses the cells; nor does this thread while the closure
        // runs.
        self.list.cells.with_mut(|cells| f(unsafe { &mut *cells }))
    }

    /// Makes a task, which is on the list from then on. The first entry of the pair goes to a queue.
    #[inline]
    pub(crate) fn new_task<F, S>(&self, future: F, mut birth: Birth) -> (Notified, JoinHandle<F::Output>)
    where
        F: Future + 'static,
        S: Schedule,
    {
        birth.owner = Some(NonNull::from(self.list));
        new_task_in::<F, S>(future, birth, |layout| self.allocate(layout))
    }

    /// Memory for a new task. A task must be written into it before anything else is done with the list.
    #[inline]
    fn allocate(&self, layout: Layout) -> NonNull<u8> {
        if let Some(cell) = self.with_cells(|cells| cells.take(layout)) {
            return cell;
        }
        // A thread that spawns in one long poll does not come to its maintenance, and the dead would pile up.
        self.drain_returned();
        self.with_cells(|cells| cells.take(layout).unwrap_or_else(|| cells.make(layout)))
    }

    /// Takes a dead task off the list, and keeps its memory for the next.
    ///
    /// # Safety
    ///
    /// The task is on this list, and nobody has a reference to it.
    #[inline]
    pub(super) unsafe fn reclaim(&self, task: NonNull<Header>) {
        // SAFETY: the caller's promise; burying a dead task runs no user code.
        self.with_cells(|cells| unsafe {
            let (memory, layout) = bury(task);
            cells.put(memory, layout);
        });
    }

    /// Frees what other threads returned.
    #[inline]
    pub(crate) fn drain_returned(&self) {
        if !self.list.returned.load(Relaxed).is_null() {
            self.take_returned();
        }
    }

    /// The dead that come home together may leave the kept cells far apart.
    #[cold]
    fn take_returned(&self) {
        self.reclaim_returned();
        self.settle();
    }

    fn reclaim_returned(&self) {
        let mut task = self.list.returned.swap(ptr::null_mut(), AcqRel);
        while let Some(dead) = NonNull::new(task) {
            // SAFETY: the stack came whole to this thread; each task on it is dead and on this list.
            unsafe {
                task = dead.as_ref().site_or_link().next_returned();
                self.reclaim(dead);
            }
        }
    }

    /// Gives the memory of dead tasks back if it keeps too much from going back.
    #[inline]
    pub(crate) fn settle(&self) {
        self.with_cells(Cells::settle);
    }

    /// Gives the memory of dead tasks back that was kept for new ones.
    pub(crate) fn trim(&self) {
        self.with_cells(Cells::clear);
    }

    /// Cancels every task that is not complete, at shutdown.
    ///
    /// # Safety
    ///
    /// Nobody polls tasks of this runtime any more, and no new ones arrive. The calling thread must not count as the
    /// owner of any list meanwhile: not by its place at the scheduler, nor in the runner.
    pub(crate) unsafe fn cancel_all(&self, runner: &Runner<'_>) {
        // Dropping a future runs user code, which may drop the last references to other tasks of this list. Those only
        // go to the return stack, and the walk is not disturbed.
        self.list.cells.with(|cells| {
            // SAFETY: the list is the caller's.
            let each = unsafe { (*cells).each() };
            each.for_each(|cell| {
                let task = cell.cast::<Header>();
                // SAFETY: in every cell a task lies, or has died, and then its state still says that it was complete:
                // with that it died, and nothing has been written over it. (Nothing but the state is looked at before.)
                // A task that is not complete is alive until it is; claiming gives it to the caller.
                unsafe {
                    if (*ptr::addr_of!((*task.as_ptr()).state)).claim_for_shutdown() {
                        (task.as_ref().vtable.cancel_claimed)(task, runner);
                    }
                }
            });
        });
    }

    /// Gives the list up; see the module. Returns how many tasks are left on it.
    ///
    /// # Safety
    ///
    /// As [`cancel_all`](Self::cancel_all), which has been called. From then on nobody owns the list.
    pub(crate) unsafe fn close(self) -> usize {
        // The mark must meet an empty stack, and no dead cell may be kept: a task that finds the mark frees its cell by
        // itself, so nothing may be done to any block from then on.
        self.trim();
        let returned = &self.list.returned;
        loop {
            // Before the mark, because with that the blocks are no longer this thread's. Until then tasks only come
            // home.
            let left = self.with_cells(|cells| cells.count());
            if returned.compare_exchange(ptr::null_mut(), closed(), AcqRel, Acquire).is_ok() {
                self.with_cells(Cells::leave);
                return left;
            }
            self.take_returned();
            self.trim();
        }
    }
}
