//! Names of tasks that stay: one copy of each text, for ever.
//!
//! A task's name is looked at by inspection when the task may be gone, so it must outlive the task, whatever the user
//! made it of. Called by each spawn of a task with a name. There are [`MAX_NAMES`] at most: what a program makes up as
//! it runs, such as the number of a connection, must not fill the memory.
//!
//! A thread finds the names that it has used last without a lock. The lock runs nothing of a user's, but for the
//! allocator.

use std::cell::Cell;
use std::collections::BTreeSet;

use parking_lot::RwLock;

/// How many names are kept. A bound for what programs make up; those that are written in them are fewer.
const MAX_NAMES: usize = 1 << 16;

/// The number of names that a thread remembers, if they do not displace one another.
const RECENT: usize = 8;

static ALL: RwLock<BTreeSet<&'static str>> = RwLock::new(BTreeSet::new());

thread_local! {
    static RECENTLY: [Cell<&'static str>; RECENT] = const { [const { Cell::new("") }; RECENT] };
}

/// The copy of a name that stays. `None` if there are too many already.
pub(crate) fn keep(name: &str) -> Option<&'static str> {
    RECENTLY.with(|recently| {
        let place = &recently[place_of(name)];
        if place.get() == name {
            return Some(place.get());
        }
        let all = ALL.read();
        let kept = match all.get(name) {
            Some(kept) => *kept,
            None if all.len() >= MAX_NAMES => return None,
            None => {
                drop(all);
                add(name)?
            }
        };
        place.set(kept);
        Some(kept)
    })
}

/// Where a thread remembers it: by its address, at which a name always is that is part of the program (Fibonacci
/// hashing, Knuth 6.4).
fn place_of(name: &str) -> usize {
    ((name.as_ptr().addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % RECENT
}

#[cold]
fn add(name: &str) -> Option<&'static str> {
    let mut all = ALL.write();
    // Another thread may have added it meanwhile.
    if let Some(kept) = all.get(name) {
        return Some(kept);
    }
    if all.len() >= MAX_NAMES {
        return None;
    }
    let kept = Box::leak(name.into());
    all.insert(kept);
    Some(kept)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_text_has_one_copy_wherever_it_comes_from() {
        let first = keep("a name").unwrap();
        for text in [String::from("a name"), String::from("another")] {
            let kept = std::thread::scope(|scope| scope.spawn(|| keep(&text)).join().unwrap()).unwrap();
            assert_eq!(kept, text);
            assert_eq!(std::ptr::eq(kept, first), text == "a name");
            assert!(std::ptr::eq(keep(&text).unwrap(), kept));
        }
        // One that lies where another one did.
        let mut text = String::from("at an address");
        assert_eq!(keep(&text), Some("at an address"));
        text.replace_range(.., "at an ADDRESS");
        assert_eq!(keep(&text), Some("at an ADDRESS"));
        assert_eq!(keep(""), Some(""));
    }
}
