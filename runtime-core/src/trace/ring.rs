//! [`Ring`]: the last records of one thread, written by it and read by anybody at any time.
//!
//! # The protocol
//!
//! A record is two words. The ring has a power of two of places, and a count of all records ever written, which is the
//! number of the next; record `n` lies in place `n` modulo the number of places. One thread at a time writes:
//!
//! 1. it passes a release fence,
//! 2. stores the two words into the place of record `n`, relaxed,
//! 3. stores `n + 1` as the count, with release.
//!
//! Any thread reads, without a word to the writer, which goes on:
//!
//! 1. it loads the count, with acquire: `n`. The records before `n` are written.
//! 2. It copies the last records before `n`, as many as there are places.
//! 3. It passes an acquire fence, and loads the count once more: `m`.
//! 4. The writer may be at record `m` now, whose place is that of `m` less the number of places. So it discards what it
//!    has copied of that record and of older ones, and keeps the rest.
//!
//! What it keeps is whole. Had it read a word of a later record `l` instead of one that it keeps, then the store of
//! that word came after the fence in 1 of the writer, and the load before the fence in 3 of the reader. So the reader's
//! second look sees the count `l`, which the writer had stored before its fence, or a later one; and by step 4 the
//! record whose place `l` took is not kept.
//!
//! A thread that writes into the ring after another one did must have heard of that by other means (it took over the
//! other's core, or its lock).

#[cfg(not(loom))]
use std::alloc::{self, Layout};
#[cfg(not(loom))]
use std::ptr;

use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicU64, fence};

/// The words of a record.
pub(super) type Words = [u64; 2];

/// The last records of one thread.
pub(super) struct Ring {
    places: Box<[Place]>,
    written: AtomicU64,
}

struct Place([AtomicU64; 2]);

#[cfg(not(loom))]
fn empty(places: usize) -> Box<[Place]> {
    let layout = Layout::array::<Place>(places).expect("rings have a largest size");
    // SAFETY: there are places, and each has a size.
    let memory = unsafe { alloc::alloc_zeroed(layout) }.cast::<Place>();
    if memory.is_null() {
        alloc::handle_alloc_error(layout);
    }
    // SAFETY: memory for this slice, from the allocator that a box gives it back to. A place is two numbers, which are
    // zero.
    unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(memory, places)) }
}

#[cfg(loom)]
fn empty(places: usize) -> Box<[Place]> {
    std::iter::repeat_with(|| Place([AtomicU64::new(0), AtomicU64::new(0)])).take(places).collect()
}

impl Ring {
    /// With a power of two of places, two at least. Of a large one the system gives the memory as it is written to.
    pub(super) fn new(places: usize) -> Self {
        assert!(places.is_power_of_two() && places > 1);
        Self { places: empty(places), written: AtomicU64::new(0) }
    }

    /// Writes to all of its memory, so that the system does not have to find it while records are written. Before
    /// anybody else has the ring.
    pub(super) fn touch(&mut self) {
        // The least that a page has, anywhere.
        let places_in_page = 4096 / size_of::<Words>();
        self.places.iter().step_by(places_in_page).for_each(|place| place.0[0].store(0, Relaxed));
    }

    #[inline]
    fn place(&self, number: u64) -> &Place {
        // The number of places is a power of two, so this is a mask.
        &self.places[number as usize & (self.places.len() - 1)]
    }

    /// Adds a record. For one thread at a time.
    #[inline]
    pub(super) fn push(&self, words: Words) {
        let number = self.written.load(Relaxed);
        fence(Release);
        let place = self.place(number);
        place.0[0].store(words[0], Relaxed);
        place.0[1].store(words[1], Relaxed);
        self.written.store(number + 1, Release);
    }

    /// The last records, the oldest first: whole ones, without a gap.
    pub(super) fn read(&self) -> Vec<Words> {
        let places = self.places.len() as u64;
        let written = self.written.load(Acquire);
        let first = written.saturating_sub(places);
        let copy = |number| self.place(number).0.each_ref().map(|word| word.load(Relaxed));
        let mut records: Vec<Words> = (first..written).map(copy).collect();
        fence(Acquire);
        let written_since = self.written.load(Relaxed);
        let first_whole = (written_since + 1).saturating_sub(places);
        let torn = first_whole.saturating_sub(first).min(records.len() as u64);
        records.drain(..torn as usize);
        records
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn words(number: u64) -> Words {
        [number, !number]
    }

    #[test]
    fn the_last_records_are_read_in_their_order() {
        let ring = Ring::new(4);
        assert!(ring.read().is_empty());
        (0..3).for_each(|number| ring.push(words(number)));
        assert_eq!(ring.read(), [0, 1, 2].map(words));
        (3..10).for_each(|number| ring.push(words(number)));
        // Of the fourth place nobody can say that its next record is not being written.
        assert_eq!(ring.read(), [7, 8, 9].map(words));
    }

    #[test]
    fn a_reader_beside_the_writer_sees_whole_records_without_a_gap() {
        const RECORDS: u64 = 200_000;
        let ring = Ring::new(64);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..RECORDS).for_each(|number| ring.push(words(number))));
            while !writer.is_finished() {
                let records = ring.read();
                assert!(records.iter().all(|record| *record == words(record[0])));
                assert!(records.windows(2).all(|pair| pair[1][0] == pair[0][0] + 1));
            }
        });
        assert_eq!(ring.read().last(), Some(&words(RECORDS - 1)));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::primitive::Arc;

    /// The writer overwrites what the reader copies.
    #[test]
    fn loom_a_record_that_is_overwritten_while_it_is_read_is_not_shown() {
        loom::model(|| {
            let ring = Arc::new(Ring::new(2));
            ring.push([1, !1]);
            let writer = {
                let ring = Arc::clone(&ring);
                loom::thread::spawn(move || (2..=3).for_each(|number| ring.push([number, !number])))
            };
            let records = ring.read();
            assert!(records.iter().all(|record| record[1] == !record[0]), "torn: {records:?}");
            // With room for two, of which one may be about to be overwritten, there is one.
            assert!(records.len() <= 1, "{records:?}");
            writer.join().unwrap();
            assert_eq!(ring.read(), [[3, !3]]);
        });
    }
}
