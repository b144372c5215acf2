//! [`TaskArena`]: the memory of a worker's tasks, in which shutdown finds each of them.
//!
//! Each worker has an arena for the tasks that it spawns; some more are for tasks that remote threads spawn. A task's
//! header points to its arena, and the arena to the runtime ([`Host`]). A task is in the arena that its memory is from
//! until that memory is freed, complete or not. What the arena *counts* as its reference is given back at completion
//! (`state.rs`), so a finished task that somebody still has a handle to is a mere cell of the arena.
//!
//! | file | |
//! |---|---|
//! | `cache.rs` | the cells of dead tasks that are kept for new ones, by size |
//! | `blocks.rs`, `large.rs` | where cells come from: blocks of cells of one size; an allocation each |
//! | `remote_free.rs` | how tasks that die on other threads come back |
//! | `census.rs`, `records.rs` | where the cells are, and their records, for a thread that inspects the tasks |
//! | `local.rs` | the arena that a thread owns, and its batch of tasks that died far from theirs |
//!
//! # An arena takes no lock
//!
//! But for a new block or large cell, and one that goes (`census.rs`). The records of a block, too, are made without
//! one.
//!
//! An arena has one *owner*, a thread, at a time: its worker. The arenas of remote tasks belong to the thread that
//! holds their spawn lock (`scheduler/remote_spawns.rs`); that of a vacant core, to the thread that holds the lock
//! which keeps it vacant; and after the workers are gone and the spawn locks closed, all arenas belong to the thread
//! that shuts the runtime down. What only the owner may do is in [`ArenaGuard`].
//!
//! # What happens at shutdown
//!
//! [`ArenaGuard::cancel_all`] cancels what is alive; [`ArenaGuard::close`] then empties the stack of remote frees, puts
//! `CLOSED` in its place, and reports how many tasks are left in the arena: finished ones, to which handles or wakers
//! remain. From then on nobody owns or walks the arena: a task that loses its last reference is freed at once, on
//! whatever thread that is, and counted off (see [`Outstanding`](super::outstanding::Outstanding)). The last one lets
//! go of the runtime's memory, in which the arenas lie.

mod blocks;
mod cache;
mod census;
mod free_list;
mod large;
mod local;
#[cfg(all(test, loom))]
mod loom_tests;
mod records;
mod remote_free;
mod size;

use std::alloc::Layout;
use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use self::cache::CellCache;
pub(super) use self::cache::{allocate, free, free_outstanding as free_outstanding_cell};
use self::census::Census;
pub(crate) use self::local::LocalArena;
#[cfg(not(loom))]
pub(super) use self::records::SeenRecord;
pub(super) use self::records::{RecordPlace, with_record};
use self::remote_free::closed;
#[cfg(all(test, loom))]
pub(crate) use self::remote_free::requests_drain;
use super::cell::Header;
use super::host::{Host, HostCalls};
use super::raw::destroy;
use super::runner::Runner;
#[cfg(not(loom))]
use super::snapshot::Snapshot;
use super::{JoinHandle, Notified, Schedule, SpawnInfo, new_task_in};
use crate::primitive::UnsafeCell;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// Where in its scheduler an arena belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArenaId {
    /// To the thread that has this slot.
    Slot(usize),
    /// To the thread that holds the spawn lock of these remote tasks.
    Remote(usize),
}

/// The memory of a worker's tasks, and the way from a task to its runtime.
pub(crate) struct TaskArena {
    /// The host, of the type that `calls` is for. Read by every wake; so it shares no cache line with what the arena's
    /// thread writes.
    runtime: AtomicPtr<()>,
    calls: &'static HostCalls,
    of: ArenaId,
    /// For any thread: where the cells are.
    census: Arc<Census>,
    /// For the thread that owns the arena.
    cells: CachePadded<UnsafeCell<CellCache>>,
    /// A stack of tasks that died on other threads (`remote_free.rs`).
    remote_frees: CachePadded<AtomicPtr<Header>>,
}

// SAFETY: the part that is not Sync by itself is `cells`, used only by the thread that owns the arena (through an
// `ArenaGuard`, which is unsafe to make for that reason).
unsafe impl Send for TaskArena {}
// SAFETY: as above.
unsafe impl Sync for TaskArena {}

impl TaskArena {
    /// An arena that lies in a host of that type.
    pub(crate) fn new<H: Host>(of: ArenaId) -> Self {
        let census = Census::new();
        Self {
            runtime: AtomicPtr::new(ptr::null_mut()),
            calls: HostCalls::of::<H>(),
            of,
            cells: CachePadded::new(UnsafeCell::new(CellCache::new(Arc::clone(&census)))),
            census,
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

    /// The same, where the type of the host is not known: `None` if it is another.
    #[inline]
    pub(crate) fn host<H: Host>(&self) -> Option<&H> {
        if (self.calls.type_id)() != TypeId::of::<H>() {
            return None;
        }
        // SAFETY: the host is of this type, or there is none yet. The arena lies inside of it.
        unsafe { self.runtime.load(Relaxed).cast::<H>().as_ref() }
    }

    /// Whether the arena lies in this host, of whatever type.
    #[inline]
    pub(crate) fn lies_in<H>(&self, host: &H) -> bool {
        ptr::addr_eq(self.runtime.load(Relaxed), ptr::from_ref(host))
    }

    /// Reads every task of the arena that is not over, while its threads go on.
    #[cfg(not(loom))]
    pub(crate) fn inspect(&self, into: &mut Vec<Snapshot>) {
        let mut walk = self.census.walk();
        loop {
            // Here, because nothing is allocated beneath the census's lock.
            into.reserve(self::blocks::MAX_CELLS);
            // SAFETY: a cell of an arena, which stays during the step.
            let has_looked = walk.step(|(cell, record)| into.extend(unsafe { Snapshot::take(cell.cast(), record) }));
            if !has_looked {
                return;
            }
        }
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
                task = dead.as_ref().site_or_link.next_free();
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
    /// owner of any arena meanwhile: not by its role at the scheduler, nor in the runner.
    pub(crate) unsafe fn cancel_all(&self, runner: &Runner<'_>) {
        // Dropping a future runs user code, which may drop the last references to other tasks of this arena. Those only
        // go to the return stack, and the walk is not disturbed.
        // SAFETY: passed on to the caller.
        self.each_cell(|task| unsafe { cancel(task, runner) });
    }

    /// As [`cancel_all`](Self::cancel_all), in the order of the tasks' identifiers.
    ///
    /// # Safety
    ///
    /// As [`cancel_all`](Self::cancel_all), and no task is in a poll.
    pub(crate) unsafe fn cancel_all_in_order(&self, runner: &Runner<'_>) {
        let mut tasks = Vec::new();
        self.each_cell(|task| {
            // SAFETY: as in `cancel`; and a task that is not complete is alive.
            unsafe {
                if !(*ptr::addr_of!((*task.as_ptr()).state)).is_complete() {
                    tasks.push((task.as_ref().id(), task));
                }
            }
        });
        tasks.sort_unstable_by_key(|&(id, _)| id);
        // SAFETY: passed on to the caller. The drop of a future may wake and abort other tasks, but completes none, as
        // nobody polls: so all of them are still alive when it is their turn.
        tasks.into_iter().for_each(|(_, task)| unsafe { cancel(task, runner) });
    }

    /// Calls the closure for every cell that a task lies in, or has died in.
    fn each_cell(&self, f: impl FnMut(NonNull<Header>)) {
        self.arena.cells.with(|cells| {
            // SAFETY: the arena is the caller's.
            let each = unsafe { (*cells).each() };
            each.map(NonNull::cast::<Header>).for_each(f);
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
        // And nobody may be walking them.
        self.arena.census.close();
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

/// Cancels the task in a cell at shutdown, if it is not complete, and not in a poll.
///
/// # Safety
///
/// As [`ArenaGuard::cancel_all`].
unsafe fn cancel(task: NonNull<Header>, runner: &Runner<'_>) {
    // SAFETY: in every cell a task lies, or has died, and then its state still says that it was complete: with that it
    // died, and nothing has been written over it. (Nothing but the state is looked at before.) A task that is not
    // complete is alive until it is; claiming gives it to the caller.
    unsafe {
        if (*ptr::addr_of!((*task.as_ptr()).state)).claim_for_shutdown() {
            (task.as_ref().vtable.cancel_claimed)(task, runner);
        }
    }
}
