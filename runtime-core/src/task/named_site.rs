//! [`NamedSite`]: a spawn site and a name in one value, which stays for ever.
//!
//! A task's word for its spawn site points to one if the task was given a name (`spawn_site.rs`), so that a name takes
//! nothing of a task's memory, and inspection reads it without looking into memory that may be another task's by then.
//!
//! There is one value for each pair of a place and a text, with its own copy of the text: the user may have made it for
//! one call. There are [`MAX_NAMED_SITES`] at most, because what a program makes up as it runs, such as the number of a
//! connection, must not fill the memory.
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

/// The address of the place, and the text.
type Key<'a> = (usize, &'a str);

/// How many pairs are kept. A bound for what programs make up; those that are written in them are fewer.
const MAX_NAMED_SITES: usize = 1 << 16;

/// The number of pairs that a thread remembers: those of as many spawn sites, if they do not displace one another.
const RECENT: usize = 8;

static ALL: RwLock<BTreeMap<Key<'static>, &'static NamedSite>> = RwLock::new(BTreeMap::new());

thread_local! {
    static RECENTLY: [Cell<Option<&'static NamedSite>>; RECENT] = const { [const { Cell::new(None) }; RECENT] };
}

impl NamedSite {
    /// The one of this pair. `None` if there are too many already.
    pub(super) fn of(location: &'static Location<'static>, name: &str) -> Option<&'static Self> {
        RECENTLY.with(|recently| {
            let place = &recently[place_of(location, name)];
            if let Some(site) = place.get().filter(|site| ptr::eq(site.location, location) && site.name == name) {
                return Some(site);
            }
            let site = Self::find_or_add(location, name)?;
            place.set(Some(site));
            Some(site)
        })
    }

    fn find_or_add(location: &'static Location<'static>, name: &str) -> Option<&'static Self> {
        let all = ALL.read();
        if let Some(site) = all.get(&key(location, name)) {
            return Some(site);
        }
        // Before the lock is taken for writing, which holds up all that read.
        if all.len() >= MAX_NAMED_SITES {
            return None;
        }
        drop(all);
        Self::add(location, name)
    }

    #[cold]
    fn add(location: &'static Location<'static>, name: &str) -> Option<&'static Self> {
        let mut all = ALL.write();
        // Another thread may have added it meanwhile.
        if let Some(site) = all.get(&key(location, name)) {
            return Some(site);
        }
        if all.len() >= MAX_NAMED_SITES {
            return None;
        }
        let name = Box::leak(Box::from(name));
        let site: &'static Self = Box::leak(Box::new(Self { location, name }));
        all.insert(key(location, name), site);
        Some(site)
    }
}

fn key<'a>(location: &'static Location<'static>, name: &'a str) -> Key<'a> {
    (ptr::from_ref(location).addr(), name)
}

/// Where a thread remembers this pair: by the address of the text, which is always the same if it is part of the
/// program (Fibonacci hashing, Knuth 6.4).
fn place_of(location: &'static Location<'static>, name: &str) -> usize {
    let (location, text) = (ptr::from_ref(location).addr() as u64, name.as_ptr().addr() as u64);
    ((location.rotate_left(32) ^ text).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % RECENT
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn of(location: &'static Location<'static>, name: &str) -> &'static NamedSite {
        NamedSite::of(location, name).expect("there are few")
    }

    #[test]
    fn a_pair_has_one_value_on_every_thread_wherever_its_text_comes_from() {
        let here = Location::caller();
        let site = of(here, "a name");
        assert_eq!((site.name, site.location), ("a name", here));
        let others: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| of(here, &String::from("a name")))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(others.into_iter().chain([of(here, "a name")]).all(|other| ptr::eq(other, site)));
        assert_eq!(of(here, &"a name"[..1]).name, "a");
        assert!(!ptr::eq(of(Location::caller(), "a name"), site));
    }

    #[test]
    fn a_text_that_lies_where_another_one_did_is_told_from_it() {
        let here = Location::caller();
        let mut text = String::from("at an address");
        assert_eq!(of(here, &text).name, "at an address");
        text.replace_range(.., "at an ADDRESS");
        assert_eq!(of(here, &text).name, "at an ADDRESS");
        assert_eq!(of(here, "").name, "");
    }

    #[test]
    fn more_pairs_than_a_thread_remembers_are_told_apart() {
        let text = "0123456789abcdefghijklmnopqrstuvwxyz";
        let here = Location::caller();
        for _ in 0..2 {
            for begin in 0..text.len() {
                for end in begin..text.len() {
                    assert_eq!(of(here, &text[begin..end]).name, &text[begin..end]);
                }
            }
        }
    }
}
