//! [`Record`]: how a task has fared, and what it waits for, for inspection.
//!
//! It lies behind the stage, and has no value until a poll of the task ends after which the task goes on. So a task that
//! ends in its first poll does not touch it.
//!
//! # Who writes
//!
//! - The thread that has RUNNING, at the end of a poll that returned `Pending` ([`end_poll`]). All of it.
//! - The thread that changed idle to SCHEDULED, before it queues the task ([`note_queued`]): `since`. The task has a
//!   record then, since a poll has ended; and nobody polls it before it is queued.
//!
//! # Who reads
//!
//! Inspection, at any time ([`read_record`]). Single values may be of different moments. What the task waits for is two
//! words, though, of which one says what the other means, so a reader makes sure that they are of one poll. It reads
//! the state and the count of polls, then the words, then a fence, and both again: if the task was not RUNNING either
//! time, and the count is the same, no poll has ended in between. For:
//!
//! - the count is written last, released: with it a reader sees the words of its poll, or of a later one;
//! - a writer's fence comes between its RUNNING and what it writes. A reader that sees a word of a later poll meets that
//!   fence by its own, and so that poll's RUNNING, or what followed. If the writer has finished, the state that is
//!   acquired then shows the new count.

#[cfg(not(loom))]
use std::ptr::NonNull;

#[cfg(not(loom))]
use super::cell::Header;
use super::current;
#[cfg(not(loom))]
use super::runner::Runner;
use super::state::{Activity, State};
use super::waits::Note;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicU32, AtomicU64, fence};

/// See the module.
#[derive(Debug)]
#[repr(C)]
#[cfg_attr(loom, allow(dead_code))] // models do not inspect, but for the one below
pub(super) struct Record {
    /// When the task came into its state, by `clock::nanos_since_epoch`.
    since: AtomicU64,
    total_nanos: AtomicU64,
    /// The word that belongs to `waits_for`.
    waits_for_word: AtomicU64,
    /// Of a note: what kind of thing the task waits for.
    waits_for: AtomicU32,
    /// Polls that have ended.
    polls: AtomicU32,
    spurious_polls: AtomicU32,
    /// Nanoseconds, as the bits of an `f32`: as exact as anybody asks, and without an end.
    longest_poll: AtomicU32,
}

/// What [`Record::read`] has read.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(loom, allow(dead_code))]
pub(crate) struct Recorded {
    pub(crate) since: u64,
    pub(crate) total_nanos: u64,
    pub(crate) longest_nanos: u64,
    pub(crate) polls: u32,
    pub(crate) spurious_polls: u32,
    pub(crate) waits_for: Note,
}

#[cfg_attr(loom, allow(dead_code))]
impl Record {
    /// The record of a task.
    ///
    /// # Safety
    ///
    /// The cell is there for as long as `'a`, and has the task of this vtable, or had it and nothing else yet.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(super) unsafe fn of<'a>(cell: NonNull<Header>, offset: usize) -> &'a Self {
        // SAFETY: the caller's promise: there is a record behind the stage, of atomics, for which any bits are good.
        unsafe { cell.byte_add(offset).cast::<Self>().as_ref() }
    }

    /// What is in it.
    pub(super) fn read(&self) -> Recorded {
        Recorded {
            polls: self.polls.load(Acquire),
            since: self.since.load(Relaxed),
            total_nanos: self.total_nanos.load(Relaxed),
            longest_nanos: f32::from_bits(self.longest_poll.load(Relaxed)) as u64,
            spurious_polls: self.spurious_polls.load(Relaxed),
            waits_for: Note::from_parts(self.waits_for.load(Relaxed), self.waits_for_word.load(Relaxed)),
        }
    }
}

/// Reads a record, and the state that goes with it.
#[cfg_attr(loom, allow(dead_code))]
pub(super) fn read_record(state: &State, record: &Record) -> Option<(Activity, Recorded)> {
    /// A task that goes through one poll after the other meanwhile is not read for ever.
    const TRIES: u32 = if cfg!(loom) { 1 } else { 8 };
    for _ in 0..TRIES {
        let activity = state.activity()?;
        let recorded = record.read();
        // Pairs with the fence of the writer.
        fence(Acquire);
        if state.activity()? == activity && activity != Activity::Running && record.read().polls == recorded.polls {
            return Some((activity, recorded));
        }
        if activity == Activity::Running {
            // It is not waiting, and all else is good one by one.
            return Some((activity, Recorded { waits_for: Note::NOTHING, ..recorded }));
        }
    }
    let recorded = Recorded { waits_for: Note::NOTHING, ..record.read() };
    Some((state.activity()?, recorded))
}

/// A poll of the task has returned `Pending`, and is not over yet. Whether it was spurious: the task was woken, and
/// waits for the same thing as before, without any operation having succeeded.
///
/// # Safety
///
/// The caller has set RUNNING and not cleared it; the task is of the type that the cell was made for.
#[cfg(not(loom))]
#[inline]
pub(super) unsafe fn end_poll(cell: NonNull<Header>, runner: &Runner<'_>) -> bool {
    // SAFETY: the caller's promise.
    let (header, Some(current)) = (unsafe { cell.as_ref() }, runner.current) else { return false };
    // SAFETY: as above.
    let record = unsafe { Record::of(cell, header.vtable.record_offset()) };
    let took = runner.polls.map_or(0, |(_, timer)| timer.end_poll());
    if !header.kind_word().is_recorded() {
        record.begin(took, current.waits_for());
        header.kind_word().set_recorded();
        return false;
    }
    if current.yields() {
        // It waits for its turn only.
        record.go_on(took, Note::NOTHING);
        return false;
    }
    let waits_for = current.waits_for();
    let is_spurious = record.go_on(took, waits_for) && waits_for.is_known() && !current.may_have_made_progress();
    if is_spurious {
        record.spurious_polls.store(record.spurious_polls.load(Relaxed).wrapping_add(1), Relaxed);
    }
    is_spurious
}

/// The task waited until now, and is about to be queued.
///
/// # Safety
///
/// The cell has a task, whose state the caller has changed from idle to SCHEDULED.
#[cfg(not(loom))]
#[inline]
pub(super) unsafe fn note_queued(cell: NonNull<Header>) {
    // SAFETY: the caller has a reference to the task. It has a record, since it was polled.
    unsafe {
        let record = Record::of(cell, cell.as_ref().vtable.record_offset());
        record.since.store(current::time_here(), Relaxed);
    }
}

#[cfg_attr(loom, allow(dead_code))]
impl Record {
    /// Writes everything, after the first poll.
    fn begin(&self, took: u64, waits_for: Note) {
        // Nobody reads it before it is said that there is a record.
        self.since.store(current::time_here(), Relaxed);
        self.total_nanos.store(took, Relaxed);
        self.waits_for_word.store(waits_for.word(), Relaxed);
        self.waits_for.store(waits_for.code(), Relaxed);
        self.polls.store(1, Relaxed);
        self.spurious_polls.store(0, Relaxed);
        self.longest_poll.store((took as f32).to_bits(), Relaxed);
    }

    /// After another poll. Whether the task waits for the same thing as before.
    #[inline]
    fn go_on(&self, took: u64, waits_for: Note) -> bool {
        // A thread that sees what follows sees RUNNING, too.
        fence(Release);
        self.add_time(took);
        self.since.store(current::time_here(), Relaxed);
        let before = Note::from_parts(self.waits_for.load(Relaxed), self.waits_for_word.load(Relaxed));
        if before != waits_for {
            self.waits_for.store(waits_for.code(), Relaxed);
            self.waits_for_word.store(waits_for.word(), Relaxed);
        }
        // Last: a thread that sees the count sees all of this poll.
        self.polls.store(self.polls.load(Relaxed).wrapping_add(1), Release);
        before == waits_for
    }

    #[inline]
    fn add_time(&self, took: u64) {
        self.total_nanos.store(self.total_nanos.load(Relaxed).wrapping_add(took), Relaxed);
        let longest = took as f32;
        if longest > f32::from_bits(self.longest_poll.load(Relaxed)) {
            self.longest_poll.store(longest.to_bits(), Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::Arc;
    use crate::task::Id;
    use crate::task::state::{FinishPoll, Wake};
    use crate::task::waits::Leaf;

    /// A task waits for one thing, is woken, and waits for another: whoever looks meanwhile finds one of them whole.
    #[test]
    fn loom_what_a_task_waits_for_is_of_one_poll() {
        let waits = [Note::of(Leaf::Join(Id(7))), Note::of(Leaf::Descriptor(8))];
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let (word, count) = (|| AtomicU64::new(0), || AtomicU32::new(0));
            let record = Record {
                since: word(),
                total_nanos: word(),
                waits_for_word: word(),
                waits_for: count(),
                polls: count(),
                spurious_polls: count(),
                longest_poll: count(),
            };
            let task = Arc::new((State::new(), record));
            let poll = |task: &(State, Record), waits_for, is_first| {
                let _ = task.0.start_poll();
                if is_first {
                    task.1.begin(0, waits_for);
                } else {
                    task.1.go_on(0, waits_for);
                }
                assert_eq!(task.0.finish_poll(false), FinishPoll::Idle);
            };
            poll(&task, waits[0], true);
            let reader = {
                let task = task.clone();
                thread::spawn(move || read_record(&task.0, &task.1).expect("it is not over"))
            };
            assert_eq!(task.0.wake_by_ref(), Wake::Submit);
            poll(&task, waits[1], false);
            let (activity, read) = reader.join().unwrap();
            assert!(
                read.waits_for == Note::NOTHING || activity != Activity::Running && waits.contains(&read.waits_for)
            );
            assert_eq!(read_record(&task.0, &task.1).unwrap().1.waits_for, waits[1]);
        });
    }
}
