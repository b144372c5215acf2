//! Which task has which lock, for inspection and for those who look for tasks that wait for each other.
//!
//! The locks of `runtime-sync` say so here, if somebody [looks](crate::inspect): nothing is noted in the lock, since a
//! thread that inspects a task that waits must not follow a pointer to a lock that may be gone. It knows the lock's
//! address, as a number, and asks here who has the lock at that address.
//!
//! # Protocol
//!
//! A task notes itself after it has acquired a lock ([`locked`]), and the thread that gives the lock back takes the
//! note away *before* that ([`unlocked`]). So a note that is found says who has acquired the lock last, and that it has
//! not been given back; where there is none, nothing is known. A lock that was acquired before somebody looked has no
//! note, nor one that is handed to a task that has not been polled since, nor one that was acquired outside of tasks.
//!
//! A guard that is forgotten (`mem::forget`) leaves its note, which goes with the lock ([`lock_is_gone`]): the lock is
//! never given back, so until then the note is right. A lock that is *moved* after that leaves the note behind, at an
//! address where another lock may come to lie; there the note stands until that one is acquired by a guard that is
//! noted, or goes.
//!
//! That a guard has been given away, to another task, is not seen, nor is it seen that a task has ended: the note says
//! which task has *acquired* the lock. For one that has ended this is no error. It does not hold the lock, but nobody
//! gives it back, unless it left the guard to somebody; and its number is what is known. Guards that are made to be
//! given away (`lock_owned` and its kind) leave no note.
//!
//! Nothing of a user's runs under the locks of this module.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::{Id, current};
use crate::inspect::is_watched;

/// Locks of the table, for different locks of the program: threads that use these should not wait for each other.
const SHARDS: usize = 16;

static HOLDERS: [Mutex<BTreeMap<u64, Id>>; SHARDS] = [const { Mutex::new(BTreeMap::new()) }; SHARDS];

fn shard(address: u64) -> &'static Mutex<BTreeMap<u64, Id>> {
    // Neighbours in memory are in different shards. The lowest bits are the same for all.
    &HOLDERS[(address / 32) as usize % SHARDS]
}

/// The task that is polled on this thread has acquired the lock at this address, for itself alone. Whether that was
/// noted, so that it is to be [taken away](unlocked).
#[doc(hidden)]
#[inline]
pub fn locked(address: u64) -> bool {
    is_watched() && note(address)
}

/// The lock at this address, of which [`locked`] has said that it is noted, is about to be given back.
#[doc(hidden)]
#[cold]
pub fn unlocked(address: u64) {
    shard(address).lock().remove(&address);
}

/// The lock at this address is about to go, and all of it is taken: a guard was forgotten.
#[doc(hidden)]
#[inline]
pub fn lock_is_gone(address: u64) {
    if is_watched() {
        unlocked(address);
    }
}

#[cold]
fn note(address: u64) -> bool {
    let task = current::task_id();
    let mut holders = shard(address).lock();
    match task {
        Some(task) => _ = holders.insert(address, task),
        None => _ = holders.remove(&address),
    }
    task.is_some()
}

/// The task that has acquired the lock at this address, if that is known.
#[cfg_attr(loom, allow(dead_code))] // models do not inspect
pub(crate) fn holder(address: u64) -> Option<Id> {
    if address == 0 { None } else { shard(address).lock().get(&address).copied() }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use super::*;
    use crate::coop::Budget;
    use crate::inspect;
    use crate::task::current::{CurrentTask, in_task};

    /// As the task of this number.
    fn as_task(id: u64, f: impl FnOnce()) {
        in_task(&CurrentTask::new(Id(id), ptr::null()), Budget::UNCONSTRAINED, f);
    }

    /// Addresses that no lock of another test has: of variables of this one.
    fn address(lock: &u64) -> u64 {
        ptr::from_ref(lock).addr() as u64
    }

    #[test]
    fn a_lock_has_a_holder_from_when_it_is_acquired_until_it_is_given_back() {
        inspect::watch();
        let locks = [0_u64; 40];
        let [one, other] = [address(&locks[0]), address(&locks[39])];
        as_task(7, || assert!(locked(one)));
        as_task(8, || assert!(locked(other)));
        assert_eq!((holder(one), holder(other)), (Some(Id(7)), Some(Id(8))));
        // On another thread, or in another task.
        unlocked(one);
        assert_eq!((holder(one), holder(other)), (None, Some(Id(8))));
        as_task(9, || unlocked(other));
        assert_eq!(holder(other), None);
    }

    #[test]
    fn what_a_forgotten_guard_has_left_ends_with_the_next_or_with_the_lock() {
        inspect::watch();
        let lock = 0;
        as_task(7, || assert!(locked(address(&lock))));
        // A thread that polls no task.
        assert!(!locked(address(&lock)));
        assert_eq!(holder(address(&lock)), None);
        as_task(7, || assert!(locked(address(&lock))));
        as_task(8, || assert!(locked(address(&lock))));
        assert_eq!(holder(address(&lock)), Some(Id(8)));
        lock_is_gone(address(&lock));
        assert_eq!(holder(address(&lock)), None);
    }

    #[test]
    fn no_address_is_no_lock() {
        assert_eq!(holder(0), None);
    }
}
