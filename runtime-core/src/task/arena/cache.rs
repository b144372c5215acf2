//! The memory of an arena of tasks: that of the living, and that of the dead, kept for new ones.
//!
//! A general allocator is half of the cost of a short task: it serves any size from any thread, and keeps little at
//! hand. An arena of tasks ([`TaskArena`](super::TaskArena)) has one thread that makes its tasks, and the dead
//! ones come back to it; so it keeps their cells, by size, and the next task of about the same size gets one back that
//! is still in the cache. What it has not at hand comes from its [`Blocks`].
//!
//! Cells of one [`Size`] can stand for each other, whatever their types. What is kept is bounded by
//! [`MAX_CACHED_BYTES`] bytes an arena; beyond it cells go back to their blocks. When an arena is full of cells of
//! sizes that are not asked for any more, those of one size at a time make room. And if the cells lie so far apart that
//! they keep many blocks from going ([`CellCache::trim_if_sparse`]), all go back. Large tasks, and those that ask for
//! more than the alignment of a line, have memory of their own ([`LargeCells`]).
//!
//! No list of tasks is kept: a task is in the arena because its memory is. Shutdown looks for tasks in every cell
//! that has ever had one ([`CellCache::each`]). So that the living can be told from the dead, the first bytes of a
//! cell, where the state of a task is, are left as they were when the task died until another one is written over them.
//!
//! What is kept otherwise, is kept until the runtime shuts down (a spare worker's, until it retires). A program's own
//! global allocator must not use the runtime: it is called while an arena is being worked on.
//!
//! A sanitizer does not see the use of a cell after its task's death while the cell waits here, nor a model what is
//! done to memory: [`PLAIN`] makes each cell a single. `--cfg rt_plain_cells` is set for such runs.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::task::cell::Header;

use super::blocks::{self, Blocks, MAX_BLOCK_LINES};
use super::census::Census;
use super::free_list::{self, FreeList};
use super::large::{self, LargeCells};
use super::size::{LINE, PLAIN, SIZES, Size, kept_as};

/// How many bytes of dead cells an arena keeps: those of some 2000 to 4000 small tasks.
const MAX_CACHED_BYTES: usize = 8 * MAX_BLOCK_LINES * LINE;

// What the walk reads, and what says where a cell is, is not what free cells are linked by. (In a model the state is
// larger, and each cell a single.)
const _: () =
    assert!(mem::offset_of!(Header, state) == 0 && (PLAIN || mem::offset_of!(Header, vtable) <= free_list::LINK));
// Nor is it the word of the identifier, which has to stay zero.
const _: () = assert!(PLAIN || mem::offset_of!(Header, identity) >= free_list::LINK + size_of::<*mut u8>());

/// The cells of an arena: those in use, and those of dead tasks that are kept by size. For one thread at a time.
pub(super) struct CellCache {
    /// A stack of cells for each size.
    free_lists: [FreeList; SIZES],
    bytes: usize,
    /// Which size makes room next.
    evict: Size,
    blocks: Blocks,
    large: LargeCells,
}

// SAFETY: the cells are nobody else's, and memory may be freed on any thread.
unsafe impl Send for CellCache {}

/// Memory from the allocator: for a task without an arena, a large one, or a block.
pub(in crate::task) fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0);
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Memory back to the allocator.
///
/// # Safety
///
/// It is the caller's, and [`allocate`] gave it for this layout.
pub(in crate::task) unsafe fn free(cell: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { dealloc(cell.as_ptr(), layout) };
}

/// Frees a cell whose arena was closed.
///
/// # Safety
///
/// It is the caller's, [`CellCache::make`] or [`CellCache::take`] gave it for this layout, and the caller has found the
/// arena closed.
pub(in crate::task) unsafe fn free_outstanding(cell: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe {
        match kept_as(layout) {
            Some(_) => blocks::free_outstanding(cell),
            None => large::free_outstanding(cell, layout),
        }
    }
}

impl CellCache {
    /// For an arena whose memory is to be in this census.
    pub(super) fn new(census: Arc<Census>) -> Self {
        let free_lists = [const { FreeList::EMPTY }; SIZES];
        let large = LargeCells::new(Arc::clone(&census));
        Self { free_lists, bytes: 0, evict: Size::SMALLEST, blocks: Blocks::new(census), large }
    }

    /// The memory of a dead task.
    #[inline]
    pub(super) fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let size = kept_as(layout)?;
        let cell = self.free_lists[size.index()].pop()?;
        self.bytes -= size.bytes();
        Some(cell)
    }

    /// Other memory, when there is none of the dead.
    pub(super) fn make(&mut self, layout: Layout) -> NonNull<u8> {
        match kept_as(layout) {
            Some(size) => self.blocks.allocate(size),
            None => self.large.allocate(layout),
        }
    }

    /// Keeps the memory of a dead task, or gives it back.
    ///
    /// # Safety
    ///
    /// It is the caller's, and came from here for this layout.
    #[inline]
    pub(super) unsafe fn put(&mut self, cell: NonNull<u8>, layout: Layout) {
        let Some(size) = kept_as(layout) else {
            // SAFETY: the caller's promise.
            unsafe { self.large.free(cell, layout) };
            return;
        };
        if self.bytes + size.bytes() > MAX_CACHED_BYTES && !self.make_room(size) {
            // SAFETY: the caller's promise.
            unsafe { self.blocks.free(cell, size) };
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.free_lists[size.index()].push(cell) };
        self.bytes += size.bytes();
    }

    /// Gives the cells of some other size back, if none of this size is kept: that makes room for one.
    #[cold]
    fn make_room(&mut self, size: Size) -> bool {
        if !self.free_lists[size.index()].is_empty() {
            return false;
        }
        while self.bytes + size.bytes() > MAX_CACHED_BYTES {
            self.clear_free_list(self.evict);
            self.evict = self.evict.next();
        }
        true
    }

    fn clear_free_list(&mut self, size: Size) {
        while let Some(cell) = self.free_lists[size.index()].pop() {
            // SAFETY: every cell on this stack is of this size, and came from the blocks.
            unsafe { self.blocks.free(cell, size) };
            self.bytes -= size.bytes();
        }
    }

    /// Gives the dead cells back if those that are out lie too far apart: of many tasks that did not die in the order
    /// of their births, the last thousands may lie in as many blocks. (If it is living tasks that lie apart, that does
    /// not help; but a cell is given back once only for each time that it was kept.)
    #[inline]
    pub(super) fn trim_if_sparse(&mut self) {
        if self.bytes > 0 && self.blocks.is_sparse() {
            self.clear();
        }
    }

    /// Gives everything back that no task lies in.
    #[cold]
    pub(super) fn clear(&mut self) {
        Size::all().for_each(|size| self.clear_free_list(size));
    }

    /// Every cell that a task lies in, and also some in which one has died: see the module.
    pub(super) fn each(&self) -> impl Iterator<Item = NonNull<u8>> {
        self.blocks.cells().chain(self.large.cells())
    }

    /// How many cells tasks lie in. It was cleared.
    pub(super) fn count(&self) -> usize {
        debug_assert_eq!(self.bytes, 0, "some have no task");
        self.blocks.count() + self.large.count()
    }

    /// Leaves the cells that tasks still lie in to these ([`free_outstanding`]), which may have freed some already.
    /// Nothing is asked of the value any more, or given to it, and it was cleared.
    pub(super) fn leave(&mut self) {
        debug_assert_eq!(self.bytes, 0, "cells that no task has would be lost");
        self.blocks.leave();
        self.large.leave();
    }
}

impl Drop for CellCache {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(all(test, not(any(rt_plain_cells, loom))))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn a_dead_cell_is_the_next_of_its_size() {
        let mut cells = CellCache::new(Census::new());
        assert_eq!(cells.take(layout(100)), None);
        let cell = cells.make(layout(100));
        // SAFETY: just made.
        unsafe { cells.put(cell, layout(100)) };
        assert_eq!(cells.take(layout(129)), None, "three lines");
        assert_eq!(cells.take(layout(128)), Some(cell), "two lines either way");
        assert_eq!(cells.bytes, 0);
        // SAFETY: just taken.
        unsafe { cells.put(cell, layout(65)) };
        assert_eq!(cells.bytes, 128);
    }

    #[test]
    fn large_and_aligned_cells_are_not_kept() {
        let mut cells = CellCache::new(Census::new());
        for layout in [layout(1032), Layout::from_size_align(128, 128).unwrap()] {
            let cell = cells.make(layout);
            // SAFETY: just made.
            unsafe { cells.put(cell, layout) };
            assert_eq!(cells.bytes, 0);
        }
    }

    #[test]
    fn every_cell_is_found_and_the_dead_are_as_they_were_left() {
        // What stands for the state, of the living and of the dead.
        const ALIVE: u32 = 1;
        const DEAD: u32 = 2;
        let layouts = [layout(40), layout(120), layout(1000), layout(5000), Layout::from_size_align(304, 256).unwrap()];
        let mut cells = CellCache::new(Census::new());
        let mut living = BTreeSet::new();
        let mut born = Vec::new();
        for number in 0..3_000 {
            let layout = layouts[number % layouts.len()];
            let cell = cells.take(layout).unwrap_or_else(|| cells.make(layout));
            assert!(cell.addr().get().is_multiple_of(layout.align()));
            // SAFETY: just made, and a state fits.
            unsafe { cell.cast::<u32>().write(ALIVE) };
            assert!(living.insert(cell), "another has it");
            born.push((cell, layout));
            if number % 3 == 0 {
                let (cell, layout) = born.swap_remove(number * 7919 % born.len());
                // SAFETY: it was made for this layout.
                unsafe {
                    cell.cast::<u32>().write(DEAD);
                    cells.put(cell, layout);
                }
                living.remove(&cell);
            }
        }
        // SAFETY: the first bytes of every cell have been written to.
        let state = |cell: &NonNull<u8>| unsafe { cell.cast::<u32>().read() };
        let (found, dead): (Vec<_>, Vec<_>) = cells.each().partition(|cell| state(cell) == ALIVE);
        assert!(dead.iter().all(|cell| state(cell) == DEAD));
        assert_eq!(found.len(), living.len(), "none twice");
        assert_eq!(BTreeSet::from_iter(found), living);
        cells.clear();
        assert_eq!(cells.count(), living.len());
        cells.leave();
        for (cell, layout) in born {
            // SAFETY: made for this layout, and left.
            unsafe { free_outstanding(cell, layout) };
        }
    }

    #[test]
    fn dead_cells_that_lie_apart_do_not_keep_their_blocks() {
        const TASKS: usize = 100_000;
        let mut cells = CellCache::new(Census::new());
        let born: Vec<_> = (0..TASKS).map(|_| cells.make(layout(120))).collect();
        for number in 0..TASKS {
            // In another order; the factor has none in common with the number of tasks.
            // SAFETY: just made.
            unsafe { cells.put(born[number * 7919 % TASKS], layout(120)) };
        }
        assert!(cells.blocks.is_sparse());
        cells.trim_if_sparse();
        assert!(!cells.blocks.is_sparse());
        assert_eq!(cells.bytes, 0);

        let few: Vec<_> = (0..2_000).map(|_| cells.make(layout(120))).collect();
        // SAFETY: just made.
        few.into_iter().for_each(|cell| unsafe { cells.put(cell, layout(120)) });
        cells.trim_if_sparse();
        assert_eq!(cells.bytes, 2_000 * 128, "these lie together, and are kept");
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_new_size_displaces_an_old_one() {
        let mut cells = CellCache::new(Census::new());
        let fill = |cells: &mut CellCache, size: usize| {
            let taken: Vec<_> = (0..MAX_CACHED_BYTES / size + 10).map(|_| cells.make(layout(size))).collect();
            // SAFETY: just made.
            taken.into_iter().for_each(|cell| unsafe { cells.put(cell, layout(size)) });
        };
        fill(&mut cells, 128);
        assert_eq!(cells.bytes, MAX_CACHED_BYTES);
        fill(&mut cells, 256);
        assert_eq!(cells.bytes, MAX_CACHED_BYTES);
        assert_eq!(cells.take(layout(120)), None);
        cells.clear();
        assert_eq!(cells.bytes, 0);
    }
}
