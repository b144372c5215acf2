//! [`LargeCells`]: cells that are an allocation each.
//!
//! For tasks that are too large for a block, or ask for more than the alignment of a line. Behind the task, in the same
//! memory, are its links to the others of its arena, by which shutdown finds it.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;

use super::census::{CellAndRecord, Census, Entry, EntryKind};
use super::records::{SeenRecord, prepare_record, record_offset};
use crate::task::cell::Header;

/// What is behind a task and its record.
#[repr(C)]
pub(super) struct Node {
    /// In the census. First, so that a pointer to the one is a pointer to the other.
    entry: Entry,
    cell: NonNull<u8>,
    /// Where in the cell the record lies.
    record_offset: usize,
}

/// A cell with its node, and where that is.
fn with_node(cell: Layout) -> (Layout, usize) {
    cell.extend(Layout::new::<Node>()).expect("no task is nearly as large as memory")
}

impl Node {
    /// The cell, and its record.
    ///
    /// # Safety
    ///
    /// The node is in a census, and stays as long as `'a`.
    pub(super) unsafe fn cell<'a>(this: NonNull<Self>) -> CellAndRecord<'a> {
        // Not a reference to all of it, whose links may be another thread's.
        // SAFETY: the caller's promise; these fields stay as they are.
        unsafe {
            let cell = (*this.as_ptr()).cell;
            (cell, SeenRecord::Behind(cell.add((*this.as_ptr()).record_offset).cast()))
        }
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
        let record_offset = record_offset(layout);
        // SAFETY: the memory is as large as both, and nobody else's until it is in the census.
        unsafe {
            Header::prepare(cell);
            prepare_record(cell, record_offset);
            let node = cell.add(offset).cast::<Node>();
            node.write(Node { entry: Entry::new(EntryKind::Large), cell, record_offset });
            self.census.add(node.cast());
        }
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
        // SAFETY: the caller's promise: it is in the census. If a walk looks at it, that is waited for.
        unsafe {
            self.census.remove(cell.add(offset).cast());
            super::cache::free(cell, whole);
        }
        self.len -= 1;
    }

    /// Every cell.
    pub(super) fn cells(&self) -> impl Iterator<Item = NonNull<u8>> {
        // Without the lock while the caller runs: until it is done none comes or goes.
        // SAFETY: they are in the census, and stay.
        self.census.entries(EntryKind::Large).into_iter().map(|entry| unsafe { Node::cell(entry.cast()) }.0)
    }

    /// How many cells are out.
    pub(super) fn count(&self) -> usize {
        self.len
    }

    /// Leaves the cells to their tasks, which may have freed some already. Nothing is allocated here any more.
    pub(super) fn leave(&mut self) {
        self.census.leave();
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
