//! Who owns the tasks: the arenas in which every task of a runtime can be found, so that shutdown leaves none behind.
//!
//! Each worker has an arena for the tasks it spawns, and there are some for tasks spawned from remote threads. A task's
//! header points to its [`TaskArena`], and through it to the runtime ([`Host`]). A task is in the arena that its memory
//! is from ([`CellCache`]), and so until that is freed, complete or not; what the arena *counts* as its reference is
//! given back at completion (see `state.rs`), so a finished task that somebody still has a handle to is a mere cell in
//! an arena.
//!
//! # An arena takes no lock
//!
//! The arena belongs to one thread at a time: the worker; for the arenas of remote tasks, whoever holds their spawn
//! lock (`scheduler/remote_spawns.rs`); for one whose core no thread has, whoever holds the lock that keeps it so;
//! after the workers are gone and the spawn locks closed, the thread that shuts the runtime down.
//!
//! When the last reference goes on that very thread, it frees the task. Other threads push the dead onto the arena's
//! *return stack*, several at a time ([`LocalArena`]), and the owner frees them when it comes by: at its
//! maintenance ticks and before it parks. Pushing is a compare-exchange in a loop; the owner takes the whole stack with
//! one swap, so no node is popped while another thread looks at it, and there is no ABA. A push releases and the swap
//! acquires: the owner frees what the pusher has seen the last of. About every 256th return asks the owner to drain, so
//! that a sleeping one does not sit on a heap of dead tasks. (The dead of a remote arena have no owner to wake: the
//! thread that requests it frees them itself, `scheduler/remote_spawns.rs`.)
//!
//! # What happens at shutdown
//!
//! [`ArenaGuard::cancel_all`] cancels what is alive; [`ArenaGuard::close`] then empties the return stack, puts `CLOSED`
//! in its place, and reports how many tasks are left in the arena: finished ones, to which handles or wakers remain.
//! From then on nobody owns or walks the arena: a task that loses its last reference is freed at once, wherever that
//! is, and counted off (see [`Outstanding`](super::outstanding::Outstanding)); the last one lets go of the runtime's
//! memory, in which the arenas lie.

mod blocks;
mod cache;
mod free_list;
mod large;
mod local;
#[cfg(all(test, loom))]
mod loom_tests;
mod size;

use std::alloc::Layout;
use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use self::cache::CellCache;
pub(super) use self::cache::{allocate, free, free_outstanding as free_outstanding_cell};
pub(crate) use self::local::LocalArena;
use super::cell::Header;
use super::host::{Host, HostCalls};
use super::raw::{destroy, free_outstanding};
use super::runner::Runner;
use super::{JoinHandle, Notified, Schedule, SpawnInfo, new_task_in};
use crate::primitive::UnsafeCell;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// Where in its scheduler an arena belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArenaId {
    /// To the thread that has this slot.
    Slot(usize),
    /// To whoever holds the spawn lock of these remote tasks.
    Remote(usize),
}

/// One arena of tasks, and the way from a task to its runtime. See the module.
pub(crate) struct TaskArena {
    /// The host, of the type that `calls` is for. Read by every wake; so it shares no cache line with what the arena's
    /// thread writes.
    runtime: AtomicPtr<()>,
    calls: &'static HostCalls,
    of: ArenaId,
    /// For the thread that owns the arena.
    cells: CachePadded<UnsafeCell<CellCache>>,
    remote_frees: CachePadded<AtomicPtr<Header>>,
}

// SAFETY: the part that is not Sync by itself is `cells`, used only by the thread that owns the arena (through an
// `ArenaGuard`, which is unsafe to make for that reason).
unsafe impl Send for TaskArena {}
// SAFETY: as above.
unsafe impl Sync for TaskArena {}

/// Dead tasks of one arena, chained by their [`SiteOrLink`](super::spawn_site::SiteOrLink)s, on their way back.
#[derive(Clone, Copy)]
pub(super) struct FreeBatch {
    first: NonNull<Header>,
    last: NonNull<Header>,
    len: u32,
    /// The owner should be told.
    requests_drain: bool,
}

impl FreeBatch {
    /// # Safety
    ///
    /// Nobody has a reference to the task.
    #[inline]
    pub(super) unsafe fn new(task: NonNull<Header>) -> Self {
        // SAFETY: dead, but not freed.
        let requests_drain = unsafe { requests_drain(task) };
        Self { first: task, last: task, len: 1, requests_drain }
    }

    /// # Safety
    ///
    /// Nobody has a reference to the task, and it is of the same arena as the others.
    #[inline]
    pub(super) unsafe fn push(&mut self, task: NonNull<Header>) {
        // SAFETY: dead, but not freed, and the caller's.
        unsafe {
            task.as_ref().site_or_link().set_next_free(self.first.as_ptr());
            self.requests_drain |= requests_drain(task);
        }
        self.first = task;
        self.len += 1;
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }
}

/// Whether the return of this task is one of the few that ask its owner to drain. Counting them all would be one more
/// shared word to write; this picks one in 256 by the identifier, scattered (Fibonacci hashing, Knuth 6.4).
///
/// # Safety
///
/// The task was not freed yet.
#[inline]
unsafe fn requests_drain(task: NonNull<Header>) -> bool {
    // SAFETY: the caller's promise.
    unsafe { task.as_ref() }.id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56 == 0
}

/// Marks a return stack that nobody empties any more. Never dereferenced.
fn closed() -> *mut Header {
    ptr::without_provenance_mut(1)
}

impl TaskArena {
    /// An arena that lies in a host of that type.
    pub(crate) fn new<H: Host>(of: ArenaId) -> Self {
        Self {
            runtime: AtomicPtr::new(ptr::null_mut()),
            calls: HostCalls::of::<H>(),
            of,
            cells: CachePadded::new(UnsafeCell::new(CellCache::new())),
            remote_frees: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// Called once, before any task is spawned: the arena lies inside this runtime.
    pub(crate) fn bind<H: Host>(&self, runtime: *const H) {
        assert_eq!((self.calls.type_id)(), TypeId::of::<H>());
        self.runtime.store(runtime.cast_mut().cast(), Relaxed);
    }

    /// The runtime of the tasks in this arena. It lives at least as long as any of them (see `outstanding.rs`).
    ///
    /// # Safety
    ///
    /// The arena was made for a host of this type, and bound.
    #[inline]
    pub(crate) unsafe fn runtime<H: Host>(&self) -> &H {
        debug_assert_eq!((self.calls.type_id)(), TypeId::of::<H>());
        // SAFETY: the caller's promise, and the owner lies inside the runtime.
        unsafe { &*self.runtime.load(Relaxed).cast::<H>() }
    }

    /// What only the owner may do with the arena.
    ///
    /// # Safety
    ///
    /// The calling thread owns this arena for as long as the guard lives.
    #[inline]
    pub(crate) unsafe fn guard(&self) -> ArenaGuard<'_> {
        ArenaGuard { arena: self, _stays: PhantomData }
    }

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
        // SAFETY: the tasks keep the runtime, and its owner in it, until they are freed.
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
            // SAFETY: the chain is the caller's.
            unsafe { batch.last.as_ref() }.site_or_link().set_next_free(head);
            match arena.remote_frees.compare_exchange_weak(head, batch.first.as_ptr(), AcqRel, Acquire) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    /// # Safety
    ///
    /// As [`free_remotely`](Self::free_remotely), and the arena was closed.
    unsafe fn free_outstanding_batch(this: NonNull<Self>, batch: FreeBatch) {
        let mut next = batch.first;
        for left in (0..batch.len).rev() {
            let task = next;
            // SAFETY: nobody has a reference, the arena is not looked at again, and the task was counted when its arena
            // was closed. The runtime lives until the last of the chain was counted off; after that nothing of it is
            // touched.
            unsafe {
                if left > 0 {
                    next = NonNull::new(task.as_ref().site_or_link().next_free())
                        .expect("the chain has as many links as were counted");
                }
                let (runtime, calls) = (this.as_ref().runtime.load(Relaxed), this.as_ref().calls);
                free_outstanding(task);
                (calls.remove_outstanding)(runtime);
            }
        }
    }
}

/// An arena that the calling thread owns, as long as the guard lives: what no other thread may do to it.
///
/// There may be several of one arena on its thread. No function of this borrows the cells while code of a user's runs.
pub(crate) struct ArenaGuard<'a> {
    arena: &'a TaskArena,
    /// Another thread does not own the arena.
    _stays: PhantomData<*const ()>,
}

impl ArenaGuard<'_> {
    /// The closure runs nothing of a user's, and nothing that comes back to this arena's cells.
    #[inline]
    fn with_cells<R>(&self, f: impl FnOnce(&mut CellCache) -> R) -> R {
        // SAFETY: the arena is this thread's, so nobody else uses the cells; nor does this thread while the closure
        // runs.
        self.arena.cells.with_mut(|cells| f(unsafe { &mut *cells }))
    }

    /// Makes a task, which is in the arena from then on. The first entry of the pair goes to a queue.
    #[inline]
    pub(crate) fn new_task<F, S>(&self, future: F, mut info: SpawnInfo) -> (Notified, JoinHandle<F::Output>)
    where
        F: Future + 'static,
        S: Schedule,
    {
        info.arena = Some(NonNull::from(self.arena));
        new_task_in::<F, S>(future, info, |layout| self.allocate(layout))
    }

    /// Memory for a new task. A task must be written into it before anything else is done with the arena.
    #[inline]
    fn allocate(&self, layout: Layout) -> NonNull<u8> {
        if let Some(cell) = self.with_cells(|cells| cells.take(layout)) {
            return cell;
        }
        // A thread that spawns in one long poll does not come to its maintenance, and the dead would pile up.
        self.drain_remote_frees();
        self.with_cells(|cells| cells.take(layout).unwrap_or_else(|| cells.make(layout)))
    }

    /// Takes a dead task out of the arena, and keeps its memory for the next.
    ///
    /// # Safety
    ///
    /// The task is in this arena, and nobody has a reference to it.
    #[inline]
    pub(super) unsafe fn reclaim(&self, task: NonNull<Header>) {
        // SAFETY: the caller's promise; destroying a dead task runs no user code.
        self.with_cells(|cells| unsafe {
            let (memory, layout) = destroy(task);
            cells.put(memory, layout);
        });
    }

    /// Frees what other threads returned.
    #[inline]
    pub(crate) fn drain_remote_frees(&self) {
        if !self.arena.remote_frees.load(Relaxed).is_null() {
            self.take_remote_frees();
        }
    }

    /// The dead that come back together may leave the kept cells far apart.
    #[cold]
    fn take_remote_frees(&self) {
        self.reclaim_remote_frees();
        self.trim_if_sparse();
    }

    fn reclaim_remote_frees(&self) {
        let mut task = self.arena.remote_frees.swap(ptr::null_mut(), AcqRel);
        while let Some(dead) = NonNull::new(task) {
            // SAFETY: the stack came whole to this thread; each task on it is dead and in this arena.
            unsafe {
                task = dead.as_ref().site_or_link().next_free();
                self.reclaim(dead);
            }
        }
    }

    /// Gives the memory of dead tasks back if it keeps too much from going back.
    #[inline]
    pub(crate) fn trim_if_sparse(&self) {
        self.with_cells(CellCache::trim_if_sparse);
    }

    /// Gives the memory of dead tasks back that was kept for new ones.
    pub(crate) fn trim(&self) {
        self.with_cells(CellCache::clear);
    }

    /// Cancels every task that is not complete, at shutdown.
    ///
    /// # Safety
    ///
    /// Nobody polls tasks of this runtime any more, and no new ones arrive. The calling thread must not count as the
    /// owner of any arena meanwhile: not by its place at the scheduler, nor in the runner.
    pub(crate) unsafe fn cancel_all(&self, runner: &Runner<'_>) {
        // Dropping a future runs user code, which may drop the last references to other tasks of this arena. Those only
        // go to the return stack, and the walk is not disturbed.
        self.arena.cells.with(|cells| {
            // SAFETY: the arena is the caller's.
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

    /// Gives the arena up; see the module. Returns how many tasks are left on it.
    ///
    /// # Safety
    ///
    /// As [`cancel_all`](Self::cancel_all), which has been called. From then on nobody owns the arena.
    pub(crate) unsafe fn close(self) -> usize {
        // The mark must meet an empty stack, and no dead cell may be kept: a task that finds the mark frees its cell by
        // itself, so nothing may be done to any block from then on.
        self.trim();
        let remote_frees = &self.arena.remote_frees;
        loop {
            // Before the mark, because with that the blocks are no longer this thread's. Until then tasks only come
            // back.
            let left = self.with_cells(|cells| cells.count());
            if remote_frees.compare_exchange(ptr::null_mut(), closed(), AcqRel, Acquire).is_ok() {
                self.with_cells(CellCache::leave);
                return left;
            }
            self.take_remote_frees();
            self.trim();
        }
    }
}
