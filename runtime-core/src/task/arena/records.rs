//! Where the records of tasks lie ([`Record`]): apart from the cells, until somebody looks.
//!
//! The record of a cell is at a place of its own, which is that of all tasks which the cell ever has, and never anything
//! else. So a thread that inspects may read it at any time, also after its task's death.
//!
//! - A block has a table of the records of its cells ([`Table`]), made when the first of its tasks is recorded. So a
//!   program that nobody looks into has no memory for records, and none of their lines in its caches.
//! - A large cell has its record behind the task, as a large task hardly notices it.
//!
//! The thread that makes a table, or finds it there, has RUNNING of one of the block's tasks, and says by its state
//! afterwards that the task has a record. Inspection reads the state first: so it finds the table.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::blocks::Block;
use super::size::kept_as;
use crate::task::cell::Header;
use crate::task::record::Record;

/// The records of a block's cells.
pub(super) type Table = OnceLock<Box<[Record]>>;

/// Where the record of a task is, by the task's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::task) enum RecordPlace {
    /// It has none: it is in no arena, or a model's.
    Nowhere,
    /// In the table of its block.
    InBlock,
    /// That far from the header, in bytes.
    Behind(usize),
}

/// What is asked for, for a task of this layout in an arena, and where its record is.
pub(in crate::task) const fn with_record(task: Layout) -> (Layout, RecordPlace) {
    if cfg!(loom) {
        return (task, RecordPlace::Nowhere);
    }
    if kept_as(task).is_some() {
        return (task, RecordPlace::InBlock);
    }
    match Layout::from_size_align(task.size() + size_of::<Record>(), task.align()) {
        Ok(layout) => (layout, RecordPlace::Behind(record_offset(layout))),
        Err(_) => panic!("no task is nearly as large as memory"),
    }
}

/// Where in a large cell the record lies.
pub(super) const fn record_offset(cell: Layout) -> usize {
    // (Models do not inspect.)
    let offset = if cfg!(loom) { 0 } else { cell.size() - size_of::<Record>() };
    assert!(offset.is_multiple_of(align_of::<Record>()), "cells are whole words");
    offset
}

/// Prepares the record of a large cell.
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

#[cfg_attr(loom, allow(dead_code))]
impl RecordPlace {
    /// The record of a task, if there is one already.
    ///
    /// # Safety
    ///
    /// The place is that of the task's type, and the caller has a reference to the task, for as long as `'a`.
    #[inline]
    pub(in crate::task) unsafe fn get<'a>(self, cell: NonNull<Header>) -> Option<&'a Record> {
        // SAFETY: the caller's promise.
        unsafe { self.find(cell, |table, _, index| table.get()?.get(index)) }
    }

    /// The same, and makes the table if there is none.
    ///
    /// # Safety
    ///
    /// As [`get`](Self::get).
    #[inline]
    pub(in crate::task) unsafe fn get_or_make<'a>(self, cell: NonNull<Header>) -> Option<&'a Record> {
        let make = |cells| (0..cells).map(|_| Record::new()).collect();
        // SAFETY: the caller's promise.
        unsafe { self.find(cell, |table, cells, index| table.get_or_init(|| make(cells)).get(index)) }
    }

    /// # Safety
    ///
    /// As [`get`](Self::get).
    #[inline]
    unsafe fn find<'a>(
        self,
        cell: NonNull<Header>,
        in_table: impl FnOnce(&'a Table, usize, usize) -> Option<&'a Record>,
    ) -> Option<&'a Record> {
        // SAFETY: the caller's promise: the reference keeps the cell, and so its block; and a large cell was prepared.
        unsafe {
            match self {
                Self::Nowhere => None,
                Self::InBlock => {
                    let (table, cells, index) = Block::table_of(cell.cast());
                    in_table(table, cells, index)
                }
                Self::Behind(offset) => Some(cell.byte_add(offset).cast::<Record>().as_ref()),
            }
        }
    }
}

/// Where the record of a cell is, for inspection.
#[derive(Clone, Copy)]
#[cfg_attr(loom, allow(dead_code))]
pub(in crate::task) enum SeenRecord<'a> {
    InTable(&'a Table, usize),
    Behind(&'a Record),
}

#[cfg_attr(loom, allow(dead_code))]
impl<'a> SeenRecord<'a> {
    /// The record. There is one if the state of a task in the cell, read before, says so.
    pub(in crate::task) fn get(self) -> Option<&'a Record> {
        match self {
            Self::InTable(table, index) => table.get()?.get(index),
            Self::Behind(record) => Some(record),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(rt_plain_cells))]
    fn a_block_has_a_table_once_it_is_needed_and_a_record_for_each_cell() {
        use std::collections::BTreeSet;

        use super::super::blocks::Blocks;
        use super::super::census::Census;
        use super::super::size::Size;

        let size = Size::of(Layout::from_size_align(192, 8).unwrap()).unwrap();
        let mut blocks = Blocks::new(Census::new());
        let cells: Vec<_> = (0..1_000).map(|_| blocks.allocate(size)).collect();
        // SAFETY: all of these are out until they are freed below; nothing but a block's word is read of them.
        let record = |cell: &NonNull<u8>| unsafe { RecordPlace::InBlock.get(cell.cast()) };
        assert!(cells.iter().all(|cell| record(cell).is_none()));
        // SAFETY: as above.
        let made = unsafe { RecordPlace::InBlock.get_or_make(cells[0].cast()) }.unwrap();
        assert!(record(&cells[0]).is_some_and(|record| std::ptr::eq(record, made)));
        assert!(record(&cells[1]).is_some(), "it is in the same block");
        assert!(record(&cells[999]).is_none(), "it is in another");
        // SAFETY: as above.
        let all = cells.iter().map(|cell| unsafe { RecordPlace::InBlock.get_or_make(cell.cast()) });
        let all: BTreeSet<_> = all.map(|record| std::ptr::from_ref(record.expect("a task has one")).addr()).collect();
        assert_eq!(all.len(), cells.len());
        // SAFETY: just allocated.
        cells.into_iter().for_each(|cell| unsafe { blocks.free(cell, size) });
    }

    /// Of all sizes and alignments: behind what the layout was before, and within the cell.
    #[test]
    fn records_lie_apart_from_tasks() {
        for align in [8, 16, 64, 128] {
            for words in 8..400_usize {
                let task = Layout::from_size_align((words * 8).next_multiple_of(align), align).unwrap();
                let (cell, place) = with_record(task);
                match place {
                    RecordPlace::Nowhere => panic!("a task of an arena has a record"),
                    RecordPlace::InBlock => assert_eq!(cell, task, "it costs nothing"),
                    RecordPlace::Behind(offset) => {
                        assert!(offset >= task.size() && kept_as(cell).is_none());
                        assert_eq!(offset + size_of::<Record>(), cell.size());
                    }
                }
            }
        }
    }
}
