//! [`Census`]: what memory an arena has, for a thread that walks it to inspect the tasks.
//!
//! The blocks and the large cells of an arena, in a list, in a lock. Its owner takes the lock when it adds or frees one
//! of them, which is seldom; everything else it does to cells, births and deaths included, needs no lock, and goes on
//! beside a walk. A walk holds the lock while it looks at one block or large cell ([`Walk::step`]), so that this stays;
//! then it lets a thread that waits go first. So the owner waits for some hundreds of cells at most, however many there
//! are. What a walk reads in the cells, and how it knows that this is of one task, is in `published.rs`.
//!
//! Where the walk goes on is in the list, too: the owner that takes the next entry out moves that mark on. New entries
//! are put in front, where no walk comes any more. So a walk looks once at each entry that is there from its beginning
//! to its end. There is one mark, and one walk of an arena at a time: the others wait, and no owner for any.
//!
//! Before an arena is closed, the census is ([`Census::close`]): its memory is freed without the lock from then on, and
//! no walk looks at it.
//!
//! The lock is not a model's: nothing of a model's happens beneath it.

#![cfg_attr(loom, allow(dead_code))] // models do not inspect

use std::ptr::{self, NonNull};
use std::sync::Arc;

use parking_lot::Mutex;
#[cfg(not(loom))]
use parking_lot::MutexGuard;

use super::blocks::Block;
use super::large::Node;
use super::records::SeenRecord;

/// See the module.
pub(super) struct Census {
    memory: Mutex<Memory>,
    /// For the thread that walks.
    walk: Mutex<()>,
}

/// The memory of an arena.
struct Memory {
    first: *mut Entry,
    /// What the walk looks at next.
    next: *mut Entry,
    is_closed: bool,
}

// SAFETY: the memory that it points to is freed by a thread that holds the lock, or after the census was closed.
unsafe impl Send for Memory {}

/// The beginning of a [`Block`], or of the [`Node`] of a large cell. Behind the census's lock.
pub(super) struct Entry {
    kind: EntryKind,
    prev: *mut Entry,
    next: *mut Entry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Block,
    Large,
}

/// A cell, and where its record is.
pub(super) type CellAndRecord<'a> = (NonNull<u8>, SeenRecord<'a>);

impl Entry {
    pub(super) fn new(kind: EntryKind) -> Self {
        Self { kind, prev: ptr::null_mut(), next: ptr::null_mut() }
    }

    /// Passes each of its cells on that has a task, or has had one, or is about to have one.
    ///
    /// # Safety
    ///
    /// The entry is in a census, and stays during the call.
    unsafe fn visit(this: NonNull<Self>, each: impl FnMut(CellAndRecord<'_>)) {
        // SAFETY: the caller's promise; the kind says what the entry is the beginning of.
        unsafe {
            match this.as_ref().kind {
                EntryKind::Block => Block::cells(this.cast()).for_each(each),
                EntryKind::Large => [Node::cell(this.cast())].into_iter().for_each(each),
            }
        }
    }
}

impl Memory {
    /// The entries, from the first one on.
    ///
    /// # Safety
    ///
    /// The list stays as it is for as long as the iterator is used.
    unsafe fn entries(&self) -> impl Iterator<Item = NonNull<Entry>> {
        // SAFETY: the caller's promise.
        std::iter::successors(NonNull::new(self.first), |entry| NonNull::new(unsafe { (*entry.as_ptr()).next }))
    }
}

impl Census {
    pub(super) fn new() -> Arc<Self> {
        let memory = Memory { first: ptr::null_mut(), next: ptr::null_mut(), is_closed: false };
        Arc::new(Self { memory: Mutex::new(memory), walk: Mutex::new(()) })
    }

    /// Adds a block or a large cell.
    ///
    /// # Safety
    ///
    /// It is in no census, and stays until it is taken out, or this was closed and left.
    pub(super) unsafe fn add(&self, entry: NonNull<Entry>) {
        let mut memory = self.memory.lock();
        // SAFETY: the caller's promise; its new neighbour is in the list.
        unsafe {
            (*entry.as_ptr()).prev = ptr::null_mut();
            (*entry.as_ptr()).next = memory.first;
            if let Some(next) = NonNull::new(memory.first) {
                (*next.as_ptr()).prev = entry.as_ptr();
            }
        }
        memory.first = entry.as_ptr();
    }

    /// Takes a block or a large cell out. No walk looks at it from then on.
    ///
    /// # Safety
    ///
    /// It is in this census.
    pub(super) unsafe fn remove(&self, entry: NonNull<Entry>) {
        let mut memory = self.memory.lock();
        // SAFETY: the caller's promise, and so its neighbours are in the list as well.
        unsafe {
            let (prev, next) = ((*entry.as_ptr()).prev, (*entry.as_ptr()).next);
            match NonNull::new(prev) {
                Some(prev) => (*prev.as_ptr()).next = next,
                None => memory.first = next,
            }
            if let Some(next) = NonNull::new(next) {
                (*next.as_ptr()).prev = prev;
            }
            if memory.next == entry.as_ptr() {
                memory.next = next;
            }
        }
    }

    /// The blocks, or the large cells, for the owner.
    pub(super) fn entries(&self, kind: EntryKind) -> Vec<NonNull<Entry>> {
        let memory = self.memory.lock();
        // SAFETY: the lock keeps the list as it is.
        unsafe { memory.entries().filter(|entry| entry.as_ref().kind == kind).collect() }
    }

    /// Nobody walks the arena from now on.
    pub(super) fn close(&self) {
        self.memory.lock().is_closed = true;
    }

    /// Forgets everything. For the owner that leaves the memory to what lies in it.
    pub(super) fn leave(&self) {
        let mut memory = self.memory.lock();
        (memory.first, memory.next) = (ptr::null_mut(), ptr::null_mut());
    }

    /// Begins a walk.
    #[cfg(not(loom))]
    pub(super) fn walk(&self) -> Walk<'_> {
        let alone = self.walk.lock();
        let mut memory = self.memory.lock();
        memory.next = memory.first;
        Walk { census: self, _alone: alone }
    }
}

/// A walk through the memory of an arena.
#[cfg(not(loom))]
pub(super) struct Walk<'a> {
    census: &'a Census,
    /// Nobody else walks it.
    _alone: MutexGuard<'a, ()>,
}

#[cfg(not(loom))]
impl Walk<'_> {
    /// Looks at the next block or large cell, and passes each cell on that has a task, or has had one, or is about to
    /// have one. False if there is none left. The closure takes no lock, allocates nothing, and runs nothing of a
    /// user's.
    pub(super) fn step(&mut self, each: impl FnMut(CellAndRecord<'_>)) -> bool {
        let mut memory = self.census.memory.lock();
        let entry = NonNull::new(memory.next).filter(|_| !memory.is_closed);
        if let Some(entry) = entry {
            // SAFETY: the mark is at an entry of the list, which the lock keeps.
            unsafe {
                memory.next = (*entry.as_ptr()).next;
                Entry::visit(entry, each);
            }
        }
        MutexGuard::unlock_fair(memory);
        entry.is_some()
    }
}

#[cfg(all(test, not(any(rt_plain_cells, loom))))]
mod tests;
