//! A worker's notepad: the timers that were set in the poll at hand.
//!
//! Most timers are timeouts around something that is quick, and many of them do not outlive the poll that sets them: the
//! branch of a `select!` whose other branch was ready, a lock that was free after all. A timer whose firing would only wake the
//! task that is being polled can do nothing before that poll ends. So it is *noted* on the pad of the worker's shard, without a
//! lock, without a count of the waker and without touching the wheel; and if it still stands there at the end of the poll it is
//! *filed* in the wheel, as one that was set then. A poll that is going to last, because its task blocks in place, ends here when
//! that begins; what runs of a task after its last poll, or in a `block_on` inside of it, notes nothing.
//!
//! # Who touches it
//!
//! - The **worker** whose shard it is writes notes and strikes out, without the lock; it files them, a note at a time, under
//!   the lock.
//! - A **stranger**, another thread to which an entry was moved during the poll, strikes its own entry out, or
//!   changes its deadline, under the lock. There is no other way for it to reach a note.
//!
//! So an entry's note belongs to the entry's owner, as the entry itself does, but for the moment of filing. If the owner is the
//! worker, the two cannot meet, being one thread. If it is a stranger, the lock decides: the one who comes second finds either
//! no note, or an entry that was filed. Under the lock a note that stands there is that of a living entry, because its owner
//! would have had to strike it out before it went away.
//!
//! `len` is the worker's alone. A note may be empty (struck out) below `len`; above it all are.
//!
//! # Orderings
//!
//! All are `Relaxed`. The worker and its successor at the same station are ordered by the handing over of the station, a
//! stranger's accesses by the move of the entry before, and by the lock after.

use std::ptr::{self, NonNull};

use runtime_core::primitive::atomic::Ordering::Relaxed;
use runtime_core::primitive::atomic::{AtomicPtr, AtomicUsize};

use crate::entry::Entry;
use crate::shard::Locked;

/// How many timers of one poll are noted. Further ones go into the wheel at once.
const ROOM: usize = 7;

/// See the module.
pub(crate) struct Pad {
    len: AtomicUsize,
    notes: [AtomicPtr<Entry>; ROOM],
}

impl Pad {
    pub(crate) fn new() -> Self {
        Self { len: AtomicUsize::new(0), notes: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }

    /// Worker: notes an entry. False if there is no room.
    #[inline]
    pub(crate) fn note(&self, entry: &Entry) -> bool {
        let len = self.len.load(Relaxed);
        let Some(note) = self.notes.get(len) else { return false };
        note.store(ptr::from_ref(entry).cast_mut(), Relaxed);
        self.len.store(len + 1, Relaxed);
        true
    }

    /// Worker: strikes an entry out. False if it is not there.
    #[inline]
    pub(crate) fn strike_out(&self, entry: &Entry) -> bool {
        let last = self.len.load(Relaxed).wrapping_sub(1);
        match self.notes.get(last) {
            Some(note) if is_of(note, entry) => {
                note.store(ptr::null_mut(), Relaxed);
                let gaps = self.notes[..last].iter().rev().take_while(|note| note.load(Relaxed).is_null()).count();
                self.len.store(last - gaps, Relaxed);
                true
            }
            // A gap is left, until those above it are struck out or filed.
            _ => self.strike_out_any(entry),
        }
    }

    /// Stranger: the same. (`&mut Locked` shows that the caller holds the lock.)
    pub(crate) fn strike_out_from_afar(&self, entry: &Entry, _held: &mut Locked) -> bool {
        self.strike_out_any(entry)
    }

    fn strike_out_any(&self, entry: &Entry) -> bool {
        let note = self.notes.iter().find(|note| is_of(note, entry));
        note.inspect(|note| note.store(ptr::null_mut(), Relaxed)).is_some()
    }

    /// Worker: how many notes to file, at most.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Worker: whether a note was struck out.
    pub(crate) fn is_struck_out(&self, number: usize) -> bool {
        self.notes[number].load(Relaxed).is_null()
    }

    /// Worker, under the lock: takes a note off to file it. `None` if it was struck out.
    pub(crate) fn take(&self, number: usize, _held: &mut Locked) -> Option<NonNull<Entry>> {
        let note = &self.notes[number];
        let entry = NonNull::new(note.load(Relaxed))?;
        note.store(ptr::null_mut(), Relaxed);
        Some(entry)
    }

    /// Worker: all notes have been taken.
    pub(crate) fn clear(&self) {
        self.len.store(0, Relaxed);
    }
}

fn is_of(note: &AtomicPtr<Entry>, entry: &Entry) -> bool {
    ptr::eq(note.load(Relaxed), entry)
}
