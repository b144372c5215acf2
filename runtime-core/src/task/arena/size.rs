//! [`Size`]: the sizes that cells have; and where in a cell of each size the record of its task lies.
//!
//! The record lies in the last bytes of a cell, of whatever type the task is: so all tasks that the cell ever has keep
//! their records there, and none has its stage there. (A large cell ends where the layout does, and has one task only.)

use std::alloc::Layout;
use std::ptr::NonNull;

use crate::task::record::Record;

/// A line of the cache: the step from one size to the next, and the alignment of cells.
pub(super) const LINE: usize = 64;
/// Sizes up to `LINE * SIZES` bytes. To make a larger task is so much work that its allocation hardly counts.
pub(super) const SIZES: usize = 16;

/// Whether every cell is an allocation. (See `cache.rs`.)
pub(super) const PLAIN: bool = cfg!(any(rt_plain_cells, loom));

/// The cells for this layout, unless each is an allocation.
#[inline]
pub(super) const fn kept_as(layout: Layout) -> Option<Size> {
    if PLAIN { None } else { Size::of(layout) }
}

/// What is asked for, for a cell of this layout with a record.
pub(in crate::task) const fn with_record(cell: Layout) -> Layout {
    match Layout::from_size_align(cell.size() + size_of::<Record>(), cell.align()) {
        Ok(layout) => layout,
        Err(_) => panic!("no task is nearly as large as memory"),
    }
}

/// Where in memory for this layout the record lies.
pub(in crate::task) const fn record_offset(layout: Layout) -> usize {
    match kept_as(layout) {
        Some(size) => size.record_offset(),
        None => record_offset_in(layout.size()),
    }
}

/// Where it lies in that many bytes. (Models do not inspect.)
pub(super) const fn record_offset_in(size: usize) -> usize {
    if cfg!(loom) {
        return 0;
    }
    let offset = size - size_of::<Record>();
    assert!(offset.is_multiple_of(align_of::<Record>()), "cells are whole words");
    offset
}

/// Prepares the record of a cell that nobody else knows yet, and has not had any task.
///
/// # Safety
///
/// The memory is the caller's, and the record lies there.
pub(super) unsafe fn prepare_record(cell: NonNull<u8>, offset: usize) {
    if cfg!(not(loom)) {
        // SAFETY: the caller's promise.
        unsafe { cell.add(offset).cast::<Record>().write(Record::new()) };
    }
}

/// The size of a cell, in lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size(u8);

impl Size {
    pub(super) const SMALLEST: Self = Self(1);

    /// The cells that something of this layout fits into, if there are such.
    #[inline]
    pub(super) const fn of(layout: Layout) -> Option<Self> {
        let lines = layout.size().div_ceil(LINE);
        if lines <= SIZES && layout.align() <= LINE { Some(Self(lines as u8)) } else { None }
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (1..=SIZES as u8).map(Self)
    }

    pub(super) fn next(self) -> Self {
        Self(self.0 % SIZES as u8 + 1)
    }

    #[inline]
    pub(super) const fn lines(self) -> u16 {
        self.0 as u16
    }

    #[inline]
    pub(super) const fn bytes(self) -> usize {
        self.0 as usize * LINE
    }

    /// Where in it the record lies.
    pub(super) const fn record_offset(self) -> usize {
        record_offset_in(self.bytes())
    }

    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_lines() {
        let of = |bytes, align| Size::of(Layout::from_size_align(bytes, align).unwrap());
        assert_eq!([1, 64, 65, 128, 129].map(|bytes| of(bytes, 8).unwrap().bytes()), [64, 64, 128, 128, 192]);
        assert!(of(1024, 64).is_some());
        assert!(of(1025, 8).is_none());
        assert!(of(8, 128).is_none());
    }

    /// Of all sizes and alignments: behind what the layout was before, and within the cell.
    #[test]
    #[cfg(not(loom))]
    fn records_lie_behind_tasks_and_at_the_end_of_cells() {
        for align in [8, 16, 64, 128] {
            for words in 8..400_usize {
                let task = Layout::from_size_align((words * 8).next_multiple_of(align), align).unwrap();
                let layout = with_record(task);
                let offset = record_offset(layout);
                assert!(offset >= task.size());
                let end = offset + size_of::<Record>();
                assert_eq!(end, kept_as(layout).map_or(layout.size(), Size::bytes));
            }
        }
    }
}
