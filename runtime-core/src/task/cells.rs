//! The memory of dead tasks, kept for new ones.
//!
//! A general allocator is half of the cost of a short task: it serves any size from any thread, and keeps little at
//! hand. A list of tasks ([`Owner`](super::owner::Owner)) has one thread that makes its tasks, and the dead ones come
//! home to it; so it keeps their cells, by size, and the next task of about the same size gets one back that is still
//! in the cache.
//!
//! Cells of one size ([`GRAIN`]) and alignment can stand for each other, whatever their types. What is kept is bounded
//! by [`LIMIT`] bytes a list; beyond it memory goes back to the allocator. When a list is full of cells of sizes that
//! are not asked for any more, those of one size at a time make room.
//!
//! A list keeps its memory until the runtime shuts down. A program's own global allocator must not use the runtime: it
//! is called while a list is being worked on.
//!
//! A sanitizer does not see the use of a cell after its task's death while the cell waits here: `--cfg rt_plain_cells`
//! turns the keeping off, and is set for such runs.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

/// The step from one size to the next: a task's own, so that nothing is added to it.
const GRAIN: usize = 8;
/// The alignment of a kept cell, which allocators give anyway.
const ALIGN: usize = 16;
/// Cells up to `GRAIN * SIZES` bytes are kept. To make a larger task is so much work that its allocation hardly counts.
const SIZES: usize = 128;
/// How many bytes of dead cells a list keeps: those of some 2000 small tasks.
const LIMIT: usize = if cfg!(any(rt_plain_cells, loom)) { 0 } else { 256 * 1024 };

/// What is written into a cell that waits.
struct Free {
    next: *mut Free,
}

/// See the module. For one thread at a time.
pub(crate) struct Cells {
    /// A stack of cells for each size; the first is that of `GRAIN` bytes.
    stacks: [*mut Free; SIZES],
    bytes: usize,
    /// Which size makes room next.
    evict: usize,
}

// SAFETY: the cells are nobody else's, and memory may be freed on any thread.
unsafe impl Send for Cells {}

/// The layout to allocate for a cell of this layout, so that it can be exchanged with others of about the same size.
pub(super) const fn rounded(layout: Layout) -> Layout {
    let size = layout.size().next_multiple_of(GRAIN);
    if layout.align() > ALIGN || size > GRAIN * SIZES {
        return layout;
    }
    match Layout::from_size_align(size, ALIGN) {
        Ok(rounded) => rounded,
        Err(_) => layout,
    }
}

/// Memory from the allocator.
pub(super) fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0);
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Memory back to the allocator.
///
/// # Safety
///
/// It is the caller's, and was allocated with this layout.
pub(super) unsafe fn free(cell: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise.
    unsafe { dealloc(cell.as_ptr(), layout) };
}

impl Cells {
    pub(crate) fn new() -> Self {
        Self { stacks: [ptr::null_mut(); SIZES], bytes: 0, evict: 0 }
    }

    /// Which stack has the cells of this rounded layout.
    #[inline]
    fn stack_of(layout: Layout) -> Option<usize> {
        (layout.align() == ALIGN && layout.size() <= GRAIN * SIZES).then(|| layout.size() / GRAIN - 1)
    }

    /// The memory of a dead task, for a cell of this [`rounded`] layout.
    #[inline]
    pub(super) fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let stack = Self::stack_of(layout)?;
        let cell = NonNull::new(self.stacks[stack])?;
        // SAFETY: what is on a stack is memory of that size which `put` initialised and nobody else has.
        self.stacks[stack] = unsafe { cell.as_ref() }.next;
        self.bytes -= layout.size();
        Some(cell.cast())
    }

    /// Keeps the memory of a dead task, or gives it back.
    ///
    /// # Safety
    ///
    /// It is the caller's, and was allocated with this [`rounded`] layout.
    #[inline]
    pub(super) unsafe fn put(&mut self, cell: NonNull<u8>, layout: Layout) {
        match Self::stack_of(layout) {
            Some(stack) if self.bytes + layout.size() <= LIMIT || self.make_room(stack, layout.size()) => {
                let cell = cell.cast::<Free>();
                // SAFETY: the memory is the caller's to give, large enough for a pointer, and aligned for one.
                unsafe { cell.write(Free { next: self.stacks[stack] }) };
                self.stacks[stack] = cell.as_ptr();
                self.bytes += layout.size();
            }
            // SAFETY: the caller's promise.
            _ => unsafe { free(cell, layout) },
        }
    }

    /// Gives the cells of some other size back, if none of this size is kept and that makes room for one.
    #[cold]
    fn make_room(&mut self, stack: usize, size: usize) -> bool {
        if !self.stacks[stack].is_null() || LIMIT < size {
            return false;
        }
        while self.bytes + size > LIMIT {
            self.clear_stack(self.evict);
            self.evict = (self.evict + 1) % SIZES;
        }
        true
    }

    fn clear_stack(&mut self, stack: usize) {
        let size = (stack + 1) * GRAIN;
        let layout = Layout::from_size_align(size, ALIGN).expect("a small size");
        while let Some(cell) = NonNull::new(self.stacks[stack]) {
            // SAFETY: as in `take`; every cell on this stack was allocated with this layout.
            unsafe {
                self.stacks[stack] = cell.as_ref().next;
                free(cell.cast(), layout);
            }
            self.bytes -= size;
        }
    }

    /// Gives everything back.
    pub(super) fn clear(&mut self) {
        (0..SIZES).for_each(|stack| self.clear_stack(stack));
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(all(test, not(any(rt_plain_cells, loom))))]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        rounded(Layout::from_size_align(size, 8).unwrap())
    }

    #[test]
    fn a_dead_cell_is_the_next_of_its_size() {
        let mut cells = Cells::new();
        assert_eq!(cells.take(layout(100)), None);
        let cell = allocate(layout(100));
        // SAFETY: just allocated.
        unsafe { cells.put(cell, layout(100)) };
        assert_eq!(cells.take(layout(104)), Some(cell), "100 bytes are rounded up to 104");
        assert_eq!(cells.bytes, 0);
        // SAFETY: just taken.
        unsafe { free(cell, layout(104)) };
    }

    #[test]
    fn large_and_aligned_cells_are_not_kept() {
        let mut cells = Cells::new();
        for layout in [layout(GRAIN * SIZES + 1), rounded(Layout::from_size_align(128, 64).unwrap())] {
            let cell = allocate(layout);
            // SAFETY: just allocated.
            unsafe { cells.put(cell, layout) };
            assert_eq!(cells.bytes, 0);
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_new_size_displaces_an_old_one() {
        let mut cells = Cells::new();
        let fill = |cells: &mut Cells, size: usize| {
            let taken: Vec<_> = (0..LIMIT / size + 10).map(|_| allocate(layout(size))).collect();
            // SAFETY: just allocated.
            taken.into_iter().for_each(|cell| unsafe { cells.put(cell, layout(size)) });
        };
        fill(&mut cells, 128);
        assert_eq!(cells.bytes, LIMIT);
        fill(&mut cells, 256);
        assert_eq!(cells.bytes, LIMIT);
        assert!(cells.stacks[128 / GRAIN - 1].is_null());
        cells.clear();
        assert_eq!(cells.bytes, 0);
    }
}
