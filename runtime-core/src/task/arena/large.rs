//! [`LargeCells`]: cells that are an allocation each.
//!
//! For tasks that are too large for a block, or ask for more than the alignment of a line. Behind the task, in the same
//! memory, are its links to the others of its arena, by which shutdown finds it.

use std::alloc::Layout;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::census::Census;
use crate::task::cell::Header;

/// What is behind a task.
pub(super) struct Node {
    cell: NonNull<u8>,
    prev: *mut Node,
    next: *mut Node,
}

/// A cell with its node, and where that is.
fn with_node(cell: Layout) -> (Layout, usize) {
    cell.extend(Layout::new::<Node>()).expect("no task is nearly as large as memory")
}

impl Node {
    /// The cells of a list, from this node on.
    ///
    /// # Safety
    ///
    /// The list stays as it is for as long as the iterator is used.
    pub(super) unsafe fn cells(first: *mut Self) -> impl Iterator<Item = NonNull<u8>> {
        // SAFETY: the caller's promise.
        let first = unsafe { first.as_ref() };
        // SAFETY: as above.
        std::iter::successors(first, |node| unsafe { node.next.as_ref() }).map(|node| node.cell)
    }
}

/// The cells of an arena that are an allocation each. For one thread at a time.
pub(super) struct LargeCells {
    /// Has the list of them.
    census: Arc<Census>,
    len: usize,
}

// SAFETY: the cells are nobody else's to find, and memory may be freed on any thread.
unsafe impl Send for LargeCells {}

impl LargeCells {
    pub(super) fn new(census: Arc<Census>) -> Self {
        Self { census, len: 0 }
    }

    /// A cell.
    #[cold]
    pub(super) fn allocate(&mut self, layout: Layout) -> NonNull<u8> {
        let (whole, offset) = with_node(layout);
        let cell = super::cache::allocate(whole);
        let mut memory = self.census.lock();
        // SAFETY: the memory is as large as both; those on the list are this thread's.
        unsafe {
            Header::prepare(cell);
            let node = cell.add(offset).cast::<Node>();
            node.write(Node { cell, prev: ptr::null_mut(), next: memory.first_large });
            if let Some(next) = memory.first_large.as_mut() {
                next.prev = node.as_ptr();
            }
            memory.first_large = node.as_ptr();
        }
        drop(memory);
        self.len += 1;
        cell
    }

    /// Frees a cell.
    ///
    /// # Safety
    ///
    /// It is the caller's, and came from here for this layout.
    #[cold]
    pub(super) unsafe fn free(&mut self, cell: NonNull<u8>, layout: Layout) {
        let (whole, offset) = with_node(layout);
        let mut memory = self.census.lock();
        // SAFETY: the caller's promise: it is on the list, as its neighbours are.
        unsafe {
            let node = cell.add(offset).cast::<Node>().read();
            match node.prev.as_mut() {
                Some(prev) => prev.next = node.next,
                None => memory.first_large = node.next,
            }
            if let Some(next) = node.next.as_mut() {
                next.prev = node.prev;
            }
            drop(memory);
            super::cache::free(cell, whole);
        }
        self.len -= 1;
    }

    /// Every cell.
    pub(super) fn cells(&self) -> impl Iterator<Item = NonNull<u8>> {
        // Without the lock while the caller runs: until it is done none comes or goes.
        let memory = self.census.lock();
        // SAFETY: the lock keeps the list as it is.
        let cells: Vec<_> = unsafe { Node::cells(memory.first_large) }.collect();
        cells.into_iter()
    }

    /// How many cells are out.
    pub(super) fn count(&self) -> usize {
        self.len
    }

    /// Leaves the cells to their tasks, which may have freed some already. Nothing is allocated here any more.
    pub(super) fn leave(&mut self) {
        self.census.lock().first_large = ptr::null_mut();
        self.len = 0;
    }
}

/// Frees a cell of an arena that was closed.
///
/// # Safety
///
/// It is the caller's, [`LargeCells::allocate`] gave it for this layout, and the caller has found the arena closed.
pub(super) unsafe fn free_outstanding(cell: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise; its neighbours are not looked for any more.
    unsafe { super::cache::free(cell, with_node(layout).0) };
}
