//! A walk beside an owner that adds and takes out what it likes between any two steps.

use std::alloc::Layout;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::cache::CellCache;
use super::*;

/// Takes up so much that a block has few of them; and so much that each is an allocation.
const SMALL: usize = 1000;
const LARGE: usize = 4000;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

fn make(cells: &mut CellCache, size: usize) -> NonNull<u8> {
    cells.take(layout(size)).unwrap_or_else(|| cells.make(layout(size)))
}

/// Gives a cell back, and its block, if that was the last of it.
fn free(cells: &mut CellCache, cell: NonNull<u8>, size: usize) {
    // SAFETY: made for this layout, and not used any more.
    unsafe { cells.put(cell, layout(size)) };
    cells.clear();
}

/// The cells of a step, if there was one.
fn step(walk: &mut Walk<'_>) -> Option<Vec<NonNull<u8>>> {
    let mut seen = Vec::with_capacity(super::super::blocks::MAX_CELLS);
    walk.step(|(cell, _)| seen.push(cell)).then_some(seen)
}

#[test]
fn a_step_looks_at_one_block_and_the_lock_is_free_between_steps() {
    let census = Census::new();
    let mut cells = CellCache::new(Arc::clone(&census));
    let mut living: BTreeMap<_, _> = (0..300).map(|_| (make(&mut cells, SMALL), SMALL)).collect();
    living.extend((0..20).map(|_| (make(&mut cells, LARGE), LARGE)));
    let (blocks, large) = (census.entries(EntryKind::Block).len(), census.entries(EntryKind::Large).len());
    assert!(blocks > 5 && large == 20);

    let (mut walk, mut steps, mut seen) = (census.walk(), 0, BTreeSet::new());
    while let Some(cells_of_step) = step(&mut walk) {
        steps += 1;
        let begins_and_ends = (cells_of_step.iter().min(), cells_of_step.iter().max());
        let (Some(begin), Some(end)) = begins_and_ends else { panic!("an entry without cells") };
        let bytes = end.addr().get() - begin.addr().get();
        assert!(bytes < super::super::blocks::MAX_BLOCK_LINES * super::super::size::LINE, "more than one block");
        seen.extend(cells_of_step);
        assert!(census.memory.try_lock().is_some(), "an owner would wait for more than one step");
    }
    assert_eq!(steps, blocks + large);
    assert!(seen.is_superset(&living.keys().copied().collect()));
    drop(walk);
    living.into_iter().for_each(|(cell, size)| free(&mut cells, cell, size));
    assert!(!census.walk().step(|_| panic!("there is nothing left")));
}

#[test]
fn nothing_is_seen_of_a_closed_arena() {
    let census = Census::new();
    let mut cells = CellCache::new(Arc::clone(&census));
    let cell = make(&mut cells, SMALL);
    let mut walk = census.walk();
    census.close();
    assert!(!walk.step(|_| panic!("its memory may go")));
    drop(walk);
    free(&mut cells, cell, SMALL);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Cells that are there all the time are seen once, whatever comes and goes between the steps; and nothing twice.
    #[test]
    fn a_walk_sees_once_what_stays(
        before in prop::collection::vec(any::<bool>(), 1..200),
        changes in prop::collection::vec(prop::collection::vec((0..3_u8, any::<prop::sample::Index>()), 0..12), 0..40),
    ) {
        let census = Census::new();
        let mut cells = CellCache::new(Arc::clone(&census));
        let mut living: Vec<_> = before
            .into_iter()
            .map(|is_large| if is_large { LARGE } else { SMALL })
            .map(|size| (make(&mut cells, size), size))
            .collect();
        let mut stays: BTreeSet<_> = living.iter().map(|(cell, _)| *cell).collect();
        let mut seen = Vec::new();
        let mut walk = census.walk();
        let mut changes = changes.into_iter();
        while let Some(of_step) = step(&mut walk) {
            seen.extend(of_step.into_iter().filter(|cell| stays.contains(cell)));
            for (what, which) in changes.next().unwrap_or_default() {
                let size = if what == 0 { SMALL } else { LARGE };
                if what < 2 {
                    living.push((make(&mut cells, size), size));
                } else if !living.is_empty() {
                    let (cell, size) = living.swap_remove(which.index(living.len()));
                    stays.remove(&cell);
                    seen.retain(|seen| *seen != cell);
                    free(&mut cells, cell, size);
                }
            }
        }
        prop_assert_eq!(seen.len(), stays.len());
        prop_assert_eq!(BTreeSet::from_iter(seen), stays);
        drop(walk);
        living.into_iter().for_each(|(cell, size)| free(&mut cells, cell, size));
    }
}
