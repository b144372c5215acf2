//! [`Sites`]: where tasks were spawned, and their names, each pair with a number that fits into a record.
//!
//! The table is under a lock. Each lane has a small cache of it ([`SiteCache`]), so that the lock is taken for the
//! first events of a pair and, with dozens of them on a worker, for some later ones. Pairs are never forgotten, and
//! there are [`MAX_SITES`] at most: further ones, of a program that gives each task a name of its own, share the number
//! 0, for which the table has nothing.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use parking_lot::Mutex;

use crate::task::TaskRef;

/// As many as the numbers in a record tell apart.
const MAX_SITES: usize = u16::MAX as usize;

/// The number of pairs that a lane remembers.
const CACHED: usize = 64;

/// Where a task was spawned, and what it is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) location: &'static Location<'static>,
    pub(super) name: Option<&'static str>,
}

/// The addresses that tell two pairs apart.
type Key = [usize; 3];

impl Site {
    #[inline]
    fn of(task: &TaskRef) -> Self {
        Self { location: task.header().location(), name: task.name() }
    }

    #[inline]
    fn key(self) -> Key {
        let name = self.name.unwrap_or_default();
        [
            std::ptr::from_ref(self.location).addr(),
            if self.name.is_some() { name.as_ptr().addr() } else { 0 },
            name.len(),
        ]
    }
}

/// The recorder's table.
#[derive(Default)]
pub(super) struct Sites(Mutex<Table>);

#[derive(Default)]
struct Table {
    numbers: HashMap<Key, u16>,
    /// That with number 1 first.
    sites: Vec<Site>,
}

impl Sites {
    fn number(&self, site: Site) -> u16 {
        let mut table = self.0.lock();
        if let Some(&number) = table.numbers.get(&site.key()) {
            return number;
        }
        if table.sites.len() == MAX_SITES {
            return 0;
        }
        table.sites.push(site);
        let number = table.sites.len() as u16;
        table.numbers.insert(site.key(), number);
        number
    }

    /// All of them, that with number 1 first.
    pub(super) fn all(&self) -> Vec<Site> {
        self.0.lock().sites.clone()
    }
}

/// What a lane remembers of the table. For the thread alone that has the lane; atomics, because the lane is shared.
pub(super) struct SiteCache(Box<[Entry]>);

#[derive(Default)]
struct Entry {
    key: [AtomicUsize; 3],
    /// Zero: nothing, or the number of those that have none.
    number: AtomicU32,
}

impl SiteCache {
    pub(super) fn new() -> Self {
        Self(std::iter::repeat_with(Entry::default).take(CACHED).collect())
    }

    /// The number of a task's site.
    #[inline]
    pub(super) fn number(&self, task: &TaskRef, sites: &Sites) -> u16 {
        let site = Site::of(task);
        let key = site.key();
        // The product's upper bits depend on all of the address.
        let hash = ((key[0] ^ key[1].rotate_left(17)) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = &self.0[(hash >> (u64::BITS - CACHED.ilog2())) as usize];
        if entry.key.each_ref().map(|word| word.load(Relaxed)) != key {
            entry.fill(site, sites);
        }
        entry.number.load(Relaxed) as u16
    }
}

impl Entry {
    #[cold]
    fn fill(&self, site: Site, sites: &Sites) {
        self.key.iter().zip(site.key()).for_each(|(word, value)| word.store(value, Relaxed));
        self.number.store(u32::from(sites.number(site)), Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_told_apart_and_have_one_number_each() {
        let sites = Sites::default();
        let (one, other) = (Location::caller(), Site { location: here(), name: None }.location);
        let pairs = [(one, None), (one, Some("a")), (one, Some("")), (other, None), (other, Some("a"))];
        let numbers = pairs.map(|(location, name)| sites.number(Site { location, name }));
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
        assert_eq!(pairs.map(|(location, name)| sites.number(Site { location, name })), numbers);
        assert!(sites.all().iter().map(|site| (site.location, site.name)).eq(pairs));
    }

    #[track_caller]
    fn here() -> &'static Location<'static> {
        Location::caller()
    }

    #[test]
    fn there_is_an_end_to_them() {
        let (sites, text) = (Sites::default(), &*"x".repeat(MAX_SITES + 2).leak());
        let number = |len| sites.number(Site { location: Location::caller(), name: Some(&text[..len]) });
        for len in 1..=MAX_SITES {
            assert_eq!(usize::from(number(len)), len);
        }
        assert_eq!(number(MAX_SITES + 1), 0);
        assert_eq!(number(1), 1);
    }
}
