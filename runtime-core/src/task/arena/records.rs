//! Where the records of tasks lie ([`Record`]): apart from the cells, until somebody looks.
//!
//! The record of a cell is at a place of its own, which is that of all tasks which the cell ever has, and never
//! anything else. So a thread that inspects may read it at any time, also after its task's death.
//!
//! - A block has a table of the records of its cells ([`Table`]), made when the first of its tasks is recorded. So a
//!   program that nobody looks into has no memory for records, and none of their lines in its caches. A table goes with
//!   its block.
//! - A large cell has its record behind the task, as a large task hardly notices it.
//!
//! # Protocol
//!
//! A thread that has RUNNING of one of the block's tasks finds the table there, or makes one and puts it there by a
//! compare-exchange that releases; of several threads that do so at once one succeeds, and the others use its table.
//! Afterwards the thread says by the task's state, released, that the task has a record. Inspection, and a thread that
//! wakes the task, read the state first: so they find the table.

use std::alloc::Layout;
use std::ptr::{self, NonNull};

use super::blocks::Block;
use super::size::kept_as;
use crate::primitive::UnsafeCell;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire};
use crate::task::cell::Header;
use crate::task::record::Record;

/// The records of a block's cells, from when the first one is needed.
pub(in crate::task) struct Table(AtomicPtr<Made>);

/// A table that was made.
struct Made {
    records: Box<[Record]>,
    /// Shows a model that the table is made here, and read there.
    made: UnsafeCell<()>,
}

// SAFETY: nothing is in the cell, and it is for models only.
unsafe impl Sync for Made {}

#[cfg_attr(loom, allow(dead_code))] // models do not inspect, but for one
impl Table {
    pub(super) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The records, if they are there.
    fn get(&self) -> Option<&[Record]> {
        // SAFETY: what is there stays until the table is dropped.
        let made = unsafe { self.0.load(Acquire).as_ref() }?;
        made.made.with(|_| ());
        Some(&made.records)
    }

    /// The records, of which there are to be this number.
    fn get_or_make(&self, cells: usize) -> &[Record] {
        self.get().unwrap_or_else(|| self.make(cells))
    }

    #[cold]
    fn make(&self, cells: usize) -> &[Record] {
        let records = (0..cells).map(|_| Record::new()).collect();
        let own = Box::new(Made { records, made: UnsafeCell::new(()) });
        own.made.with_mut(|_| ());
        let own = Box::into_raw(own);
        if self.0.compare_exchange(ptr::null_mut(), own, AcqRel, Acquire).is_err() {
            // SAFETY: it was put nowhere.
            drop(unsafe { Box::from_raw(own) });
        }
        self.get().expect("one was put there")
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let made = self.0.load(Acquire);
        if !made.is_null() {
            // SAFETY: it was made by `make`, and nobody else has the table any more.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

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
    /// The place is that of the task's type. The task is in an arena, and the caller has a reference to it, for as long
    /// as `'a`. (A task that was refused is in none, and is neither polled nor woken.)
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
        // SAFETY: the caller's promise.
        unsafe { self.find(cell, |table, cells, index| table.get_or_make(cells).get(index)) }
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
            debug_assert!(self == Self::Nowhere || cell.as_ref().arena.is_some());
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
    /// Prepared, and there as long as `'a`. (In a model there is none.)
    Behind(NonNull<Record>),
}

#[cfg_attr(loom, allow(dead_code))]
impl<'a> SeenRecord<'a> {
    /// The record. There is one if the state of a task in the cell, read before, says so.
    pub(in crate::task) fn get(self) -> Option<&'a Record> {
        match self {
            Self::InTable(table, index) => table.get()?.get(index),
            // SAFETY: see there.
            Self::Behind(record) => Some(unsafe { record.as_ref() }),
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
        // SAFETY: all of these are out until they are freed below.
        let table_of = |cell: &NonNull<u8>| unsafe { Block::table_of(*cell) };
        let record = |cell: &NonNull<u8>| {
            let (table, _, index) = table_of(cell);
            table.get().map(|records| &records[index])
        };
        assert!(cells.iter().all(|cell| record(cell).is_none()));
        let make = |cell: &NonNull<u8>| {
            let (table, cells, index) = table_of(cell);
            &table.get_or_make(cells)[index]
        };
        let made = make(&cells[0]);
        assert!(record(&cells[0]).is_some_and(|record| std::ptr::eq(record, made)));
        assert!(record(&cells[1]).is_some(), "it is in the same block");
        assert!(record(&cells[999]).is_none(), "it is in another");
        let all: BTreeSet<_> = cells.iter().map(|cell| std::ptr::from_ref(make(cell)).addr()).collect();
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

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::Arc;
    use crate::task::state::{FinishPoll, StartPoll, State};

    /// Two tasks of a block are recorded for the first time, on two threads, while a third one looks at both.
    #[test]
    fn loom_a_task_that_is_recorded_has_a_table() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(5);
        builder.check(|| {
            let block = Arc::new((Table::new(), [(); 2].map(|()| State::new_dead())));
            block.1.iter().for_each(State::store_new);
            let polls = [0, 1].map(|task| {
                let block = block.clone();
                thread::spawn(move || {
                    let (table, states) = &*block;
                    assert_eq!(states[task].start_poll(), StartPoll::Poll);
                    let table = table.get_or_make(2);
                    assert_eq!(table.len(), 2);
                    assert_eq!(states[task].finish_poll(false, true), FinishPoll::Idle);
                    table.as_ptr().addr()
                })
            });
            let (table, states) = &*block;
            for state in states {
                if state.activity().is_some_and(|(_, is_recorded)| is_recorded) {
                    assert!(table.get().is_some(), "it has a record");
                }
            }
            let tables = polls.map(|poll| poll.join().unwrap());
            assert_eq!(tables[0], tables[1]);
        });
    }
}
