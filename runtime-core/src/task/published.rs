//! How a thread reads a task that is not its own, and to which it has no reference.
//!
//! Inspection ([`Handle::tasks`](crate::runtime::Handle::tasks)) walks the memory of all tasks while they live and die.
//! It takes no reference: a thread that finds that it has all references of a task is alone with it
//! ([`State::ref_dec`](super::state::State::ref_dec)), which a reference out of nowhere would make untrue. It reads a
//! cell as one reads behind a sequence lock (Boehm, "Can seqlocks get along with programming language memory models?",
//! 2012). The version is the task's identifier, which is never used twice, in the *identity word* of the cell:
//!
//! | the identity word is | the cell                                                            |
//! |----------------------|---------------------------------------------------------------------|
//! | zero                 | has had no task yet, or its task is dead, or the next is being born |
//! | an identifier        | has this task, and its constant fields are as they will stay        |
//!
//! - *Birth* ([`publish`]), by the thread that has the memory: a fence that releases, then the fields, then the word,
//!   released. A reader that acquires an identifier sees the fields of its task, or later ones.
//! - *Death* ([`retract`]), by the thread that the last reference went with: the word becomes zero, then a fence that
//!   releases; only after that are fields used for something else (as the links of free memory).
//! - *Reading* ([`begin_reading`], [`is_still`]): the word, acquired; the fields; a fence that acquires; the word
//!   again. A reader that has read anything which was written after a death or in the next birth has met, through the
//!   fences, the zero that came before it. So the second look finds that zero or something later, and no identifier
//!   comes twice.
//!
//! All that is read so is read and written with atomic operations, relaxed. That the memory of the cell stays is not
//! said here, but by the lock of the arena's list (`arena/census.rs`).

use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicU64, fence};

/// No task.
pub(super) const NOBODY: u64 = 0;

/// A task is born: the closure writes its fields.
///
/// The identity word is zero, and the memory the caller's.
#[inline(always)]
pub(super) fn publish(identity: &AtomicU64, id: u64, write_fields: impl FnOnce()) {
    debug_assert_ne!(id, NOBODY);
    // The word was made zero before, on whatever thread: that comes before the fields, for a thread that reads these.
    fence(Release);
    write_fields();
    identity.store(id, Release);
}

/// The task is dead: from now on its fields may be overwritten, by atomic operations.
#[inline(always)]
pub(super) fn retract(identity: &AtomicU64) {
    identity.store(NOBODY, Relaxed);
    fence(Release);
}

/// The identifier of the task in a cell, if there is one. What the caller reads of it next is good only if
/// [`is_still`] says so.
#[inline(always)]
pub(super) fn begin_reading(identity: &AtomicU64) -> Option<u64> {
    Some(identity.load(Acquire)).filter(|id| *id != NOBODY)
}

/// Whether all that the caller has read since [`begin_reading`] gave it this identifier is of that task.
#[inline(always)]
pub(super) fn is_still(identity: &AtomicU64, id: u64) -> bool {
    fence(Acquire);
    identity.load(Relaxed) == id
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::Arc;

    /// A cell: its identity word, and two fields, each of which is derived from the identifier while a task is there.
    struct Cell {
        identity: AtomicU64,
        fields: [AtomicU64; 2],
    }

    impl Cell {
        fn be_born(&self, id: u64) {
            publish(&self.identity, id, || self.fields.iter().for_each(|field| field.store(id * 10, Relaxed)));
        }

        fn die(&self) {
            retract(&self.identity);
            // A link of free memory.
            self.fields[1].store(7, Relaxed);
        }

        fn read(&self) -> Option<(u64, [u64; 2])> {
            let id = begin_reading(&self.identity)?;
            let fields = self.fields.each_ref().map(|field| field.load(Relaxed));
            is_still(&self.identity, id).then_some((id, fields))
        }
    }

    /// A task dies, and the next is born in its cell, while another thread reads it: what is read is of one of the two.
    #[test]
    fn loom_a_reader_sees_one_task_or_none() {
        loom::model(|| {
            let cell = Arc::new(Cell { identity: AtomicU64::new(NOBODY), fields: [(); 2].map(|()| AtomicU64::new(0)) });
            cell.be_born(1);
            let reader = {
                let cell = cell.clone();
                thread::spawn(move || cell.read())
            };
            // On another thread than the next birth.
            let last_reference = {
                let cell = cell.clone();
                thread::spawn(move || cell.die())
            };
            last_reference.join().unwrap();
            cell.be_born(2);
            if let Some((id, fields)) = reader.join().unwrap() {
                assert_eq!(fields, [id * 10; 2]);
            }
            assert_eq!(cell.read(), Some((2, [20; 2])));
        });
    }
}
