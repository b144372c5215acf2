//! [`LocalArena`]: the arena that a thread owns, and a batch of dead tasks of another one.
//!
//! On a busy runtime the last reference to a task goes as often on a thief's thread as on its spawner's. The thief does
//! not return each task by itself: it collects tasks of one arena, and returns [`MAX_FREE_BATCH`] at a time for the
//! price of one exchange.

use std::cell::Cell;
use std::ptr::NonNull;

use super::remote_free::FreeBatch;
use super::{ArenaGuard, TaskArena};
use crate::task::cell::Header;

/// The most dead tasks of one arena that are returned together.
const MAX_FREE_BATCH: u32 = if cfg!(loom) { 2 } else { 32 };

/// The arena that a thread owns, and a batch of remote frees. It must not be dropped before that was sent
/// ([`flush`](Self::flush)).
pub(crate) struct LocalArena {
    /// `None` when it was abandoned.
    arena: Cell<Option<NonNull<TaskArena>>>,
    batch: Cell<Option<(NonNull<TaskArena>, FreeBatch)>>,
}

impl LocalArena {
    /// # Safety
    ///
    /// The calling thread owns this arena for as long as the value lives, the arena lives as long, and the value stays
    /// on this thread.
    pub(crate) unsafe fn new(arena: NonNull<TaskArena>) -> Self {
        Self { arena: Cell::new(Some(arena)), batch: Cell::new(None) }
    }

    /// The arena is no longer this thread's: from now on all dead tasks are returned as remote frees. Nothing else may
    /// be asked of the value.
    pub(crate) fn abandon(&self) {
        self.arena.set(None);
    }

    /// The arena that this thread owns.
    #[inline]
    pub(crate) fn guard(&self) -> ArenaGuard<'_> {
        let arena = self.arena.get().expect("not asked of an arena that was abandoned");
        // SAFETY: the promise of `new`.
        unsafe { arena.as_ref().guard() }
    }

    /// Frees a dead task, or adds it to the batch of its arena.
    ///
    /// # Safety
    ///
    /// Nobody has a reference to the task; it is in this arena of this thread's runtime.
    #[inline]
    pub(crate) unsafe fn release(&self, arena: NonNull<TaskArena>, task: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe {
            if Some(arena) == self.arena.get() {
                self.guard().reclaim(task);
            } else {
                self.add_to_batch(arena, task);
            }
        }
    }

    /// Adds a task of another arena to the batch, and sends the batch if it is full, or of another arena.
    ///
    /// # Safety
    ///
    /// As [`release`](Self::release).
    unsafe fn add_to_batch(&self, arena: NonNull<TaskArena>, task: NonNull<Header>) {
        // SAFETY: the caller's promise, now and when the others were added.
        unsafe {
            match self.batch.take() {
                Some((to, mut batch)) if to == arena => {
                    batch.push(task);
                    if batch.len() < MAX_FREE_BATCH {
                        self.batch.set(Some((to, batch)));
                    } else {
                        TaskArena::free_remotely(to, batch);
                    }
                }
                other => {
                    self.batch.set(Some((arena, FreeBatch::new(task))));
                    if let Some((to, batch)) = other {
                        TaskArena::free_remotely(to, batch);
                    }
                }
            }
        }
    }

    /// Sends the batch, and frees what other threads have returned to this arena.
    #[inline]
    pub(crate) fn flush_and_drain(&self) {
        self.flush();
        let arena = self.guard();
        arena.drain_remote_frees();
        arena.trim_if_sparse();
    }

    /// Gives back the memory that the arena keeps for new tasks, when the thread of a spare worker goes.
    pub(crate) fn trim(&self) {
        self.guard().trim();
    }

    /// Sends the batch.
    #[inline]
    pub(crate) fn flush(&self) {
        if let Some((to, batch)) = self.batch.take() {
            // SAFETY: what is in the batch is dead, and of that arena.
            unsafe { TaskArena::free_remotely(to, batch) };
        }
    }
}

impl Drop for LocalArena {
    fn drop(&mut self) {
        debug_assert!(self.batch.take().is_none() || std::thread::panicking(), "dead tasks would be lost");
    }
}
