//! [`NamedSite`]: a spawn site and a name in one value, which stays for ever.
//!
//! A task's word for its spawn site points to one if the task was given a name (`spawn_site.rs`), so that a name takes
//! nothing of a task's memory, and inspection reads it without looking into memory that may be another task's by then.
//!
//! There is one value for each pair of a place and a name, both known by their addresses: a name is one that is kept
//! (`kept_name.rs`), of which there are not too many.
//!
//! Called by each spawn of a task with a name, and by nothing else. A thread finds the pairs that it has used last
//! without a lock ([`RECENT`]). The lock runs nothing of a user's, but for the allocator.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::ptr;

use parking_lot::RwLock;

/// See the module.
#[derive(Debug)]
pub(super) struct NamedSite {
    pub(super) location: &'static Location<'static>,
    pub(super) name: &'static str,
}

/// The addresses of both, and the length of the name, which may be the beginning of another.
type Key = (usize, usize, usize);

/// The number of pairs that a thread remembers: those of as many spawn sites, if they do not displace one another.
const RECENT: usize = 8;

static ALL: RwLock<BTreeMap<Key, &'static NamedSite>> = RwLock::new(BTreeMap::new());

thread_local! {
    static RECENTLY: [Cell<Option<&'static NamedSite>>; RECENT] = const { [const { Cell::new(None) }; RECENT] };
}

impl NamedSite {
    /// The one of this pair.
    pub(super) fn of(location: &'static Location<'static>, name: &'static str) -> &'static Self {
        let key = (ptr::from_ref(location).addr(), name.as_ptr().addr(), name.len());
        RECENTLY.with(|recently| {
            let place = &recently[place_of(key)];
            if let Some(site) = place.get().filter(|site| site.key() == key) {
                return site;
            }
            let site = Self::find(key).unwrap_or_else(|| Self::add(key, Self { location, name }));
            place.set(Some(site));
            site
        })
    }

    fn find(key: Key) -> Option<&'static Self> {
        ALL.read().get(&key).copied()
    }

    #[cold]
    fn add(key: Key, site: Self) -> &'static Self {
        // Another thread may have added it meanwhile.
        ALL.write().entry(key).or_insert_with(|| Box::leak(Box::new(site)))
    }

    fn key(&self) -> Key {
        (ptr::from_ref(self.location).addr(), self.name.as_ptr().addr(), self.name.len())
    }
}

/// Where a thread remembers this pair (Fibonacci hashing, Knuth 6.4).
fn place_of((location, name, len): Key) -> usize {
    let mixed = (location as u64).rotate_left(32) ^ (name as u64) ^ (len as u64).rotate_left(56);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % RECENT
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_one_value_on_every_thread() {
        let here = Location::caller();
        let (name, shorter) = ("a name", &"a name"[..1]);
        let site = NamedSite::of(here, name);
        assert_eq!((site.name, site.location), (name, here));
        let others: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| NamedSite::of(here, name))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(others.into_iter().chain([NamedSite::of(here, name)]).all(|other| ptr::eq(other, site)));
        assert_eq!(NamedSite::of(here, shorter).name, shorter);
        assert!(!ptr::eq(NamedSite::of(Location::caller(), name), site));
    }

    #[test]
    fn more_pairs_than_a_thread_remembers_are_told_apart() {
        let text = "0123456789abcdefghijklmnopqrstuvwxyz";
        let here = Location::caller();
        for _ in 0..2 {
            for begin in 0..text.len() {
                for end in begin..text.len() {
                    assert_eq!(NamedSite::of(here, &text[begin..end]).name, &text[begin..end]);
                }
            }
        }
    }
}
