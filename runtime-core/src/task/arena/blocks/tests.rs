use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;

use proptest::prelude::*;

use super::super::census::Census;
use super::super::size::{LINE, Size};
use super::{BlockOffset, Blocks, OFFSET_FIELD, free_outstanding};

impl Blocks {
    /// How many bytes all blocks take.
    fn total_lines(&self) -> usize {
        self.lines.iter().sum::<usize>() * LINE
    }
}

fn size(bytes: usize) -> Size {
    Size::of(Layout::from_size_align(bytes, 8).unwrap()).unwrap()
}

/// Where what a task may write to begins again.
const BEHIND_PLACE: usize = OFFSET_FIELD + size_of::<BlockOffset>();

/// Fills what a task may write to.
fn fill(cell: NonNull<u8>, size: Size, with: u8) {
    // SAFETY: the cell is the test's.
    unsafe {
        cell.write_bytes(with, OFFSET_FIELD);
        cell.add(BEHIND_PLACE).write_bytes(with, size.bytes() - BEHIND_PLACE);
    }
}

fn is_full_of(cell: NonNull<u8>, size: Size, with: u8) -> bool {
    // SAFETY: the cell is the test's, and was filled.
    let bytes = unsafe { std::slice::from_raw_parts(cell.as_ptr(), size.bytes()) };
    bytes[..OFFSET_FIELD].iter().chain(&bytes[BEHIND_PLACE..]).all(|byte| *byte == with)
}

proptest! {
    /// Cells of three sizes come and go in any order: each is on a line, keeps what was written to it, and when all
    /// are back so are the blocks.
    #[test]
    fn cells_are_apart_and_blocks_go_with_their_last(
        steps in prop::collection::vec((any::<bool>(), 0..3_usize, any::<prop::sample::Index>()), 1..2000)
    ) {
        let sizes = [64, 128, 1000].map(size);
        let mut blocks = Blocks::new(Census::new());
        let mut live: Vec<(NonNull<u8>, Size, u8)> = Vec::new();
        for (number, (is_birth, which, victim)) in steps.into_iter().enumerate() {
            if is_birth || live.is_empty() {
                let (size, mark) = (sizes[which], number as u8);
                let cell = blocks.allocate(size);
                prop_assert!(cell.addr().get().is_multiple_of(LINE));
                fill(cell, size, mark);
                live.push((cell, size, mark));
            } else {
                let (cell, size, mark) = live.swap_remove(victim.index(live.len()));
                prop_assert!(is_full_of(cell, size, mark));
                // SAFETY: allocated as this size, and not used any more.
                unsafe { blocks.free(cell, size) };
            }
        }
        let used: usize = live.iter().map(|(_, size, _)| size.bytes()).sum();
        prop_assert!(live.is_empty() == (blocks.total_lines() == 0));
        prop_assert!(blocks.total_lines() >= used);
        prop_assert_eq!(blocks.cells().filter(|cell| live.iter().any(|(other, ..)| other == cell)).count(), live.len());
        for (cell, size, mark) in live {
            prop_assert!(is_full_of(cell, size, mark));
            // SAFETY: as above.
            unsafe { blocks.free(cell, size) };
        }
        prop_assert_eq!(blocks.total_lines(), 0);
        prop_assert!(blocks.with_room.iter().all(|block| block.is_null()));
    }
}

#[test]
fn many_small_tasks_take_little_more_than_their_lines() {
    const TASKS: usize = 100_000;
    let size = size(64);
    let mut blocks = Blocks::new(Census::new());
    let cells: Vec<_> = (0..TASKS).map(|_| blocks.allocate(size)).collect();
    assert!(blocks.total_lines() <= TASKS * size.bytes() + TASKS, "{}", blocks.total_lines());
    // SAFETY: just allocated.
    cells.into_iter().for_each(|cell| unsafe { blocks.free(cell, size) });
    assert_eq!(blocks.total_lines(), 0);
}

#[test]
fn what_came_back_is_used_before_a_new_block_is_asked_for() {
    let size = size(120);
    let mut blocks = Blocks::new(Census::new());
    let mut cells: Vec<_> = (0..10_000).map(|_| blocks.allocate(size)).collect();
    // Up to the end of a block.
    while !blocks.with_room[size.index()].is_null() {
        cells.push(blocks.allocate(size));
    }
    let total_lines = blocks.total_lines();
    let (odd, even): (Vec<_>, Vec<_>) = cells.into_iter().enumerate().partition(|(number, _)| number % 2 == 1);
    let mut freed = BTreeMap::new();
    for (number, cell) in odd {
        // SAFETY: just allocated.
        unsafe { blocks.free(cell, size) };
        freed.insert(cell, number);
    }
    let again: Vec<_> = (0..freed.len()).map(|_| blocks.allocate(size)).collect();
    assert!(again.iter().all(|cell| freed.remove(cell).is_some()));
    assert_eq!(blocks.total_lines(), total_lines);
    // SAFETY: as above.
    again.into_iter().chain(even.into_iter().map(|(_, cell)| cell)).for_each(|cell| unsafe { blocks.free(cell, size) });
}

#[test]
fn outstanding_cells_end_on_threads_of_their_own() {
    struct Orphan(NonNull<u8>);
    // SAFETY: memory may be used and freed on any thread.
    unsafe impl Send for Orphan {}

    let size = size(120);
    let mut blocks = Blocks::new(Census::new());
    let mut cells: Vec<_> = (0..1_000).map(|_| blocks.allocate(size)).collect();
    let outstanding = cells.split_off(500);
    // SAFETY: just allocated.
    cells.into_iter().for_each(|cell| unsafe { blocks.free(cell, size) });
    assert_eq!(blocks.count(), 500);
    blocks.leave();
    assert_eq!(blocks.total_lines(), 0);
    std::thread::scope(|scope| {
        for chunk in outstanding.chunks(125) {
            let chunk: Vec<_> = chunk.iter().copied().map(Orphan).collect();
            scope.spawn(move || {
                for (number, Orphan(cell)) in chunk.into_iter().enumerate() {
                    fill(cell, size, number as u8);
                    // SAFETY: allocated as this size, and the blocks were left.
                    unsafe { free_outstanding(cell) };
                }
            });
        }
    });
}
