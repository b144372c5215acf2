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
//! Inspection, at any time (`snapshot.rs`). Single values may be of different moments. What the task waits for is two
//! words, though, of which one says what the other means, so a reader makes sure that they are of one poll. It reads
//! the state and the count of polls before and after: if the task was not RUNNING either time, and the count is the
//! same, no poll has ended in between. (A writer's fence comes between its RUNNING and what it writes. A reader that
//! sees something of that meets the fence by its own, and so RUNNING, or what followed it: if the writer has finished,
//! acquiring the state shows the new count.)

use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, fence};
use std::time::{Duration, Instant};

use super::cell::Header;
use super::current;
use super::runner::Runner;
use super::waits::Note;

/// See the module.
#[derive(Debug, Default)]
#[repr(C)]
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
pub(crate) struct Recorded {
    pub(crate) since: u64,
    pub(crate) total_nanos: u64,
    pub(crate) longest_nanos: u64,
    pub(crate) polls: u32,
    pub(crate) spurious_polls: u32,
    pub(crate) waits_for: Note,
}

impl Record {
    /// The record of a task.
    ///
    /// # Safety
    ///
    /// The cell is there for as long as `'a`, and has the task of this vtable, or had it and nothing else yet.
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

/// A poll of the task has returned `Pending`, and is not over yet. Whether it was spurious: the task was woken, and
/// waits for the same thing as before, without any operation having succeeded.
///
/// # Safety
///
/// The caller has set RUNNING and not cleared it; the task is of the type that the cell was made for.
#[inline]
pub(super) unsafe fn end_poll(cell: NonNull<Header>, runner: &Runner<'_>) -> bool {
    // SAFETY: the caller's promise.
    let (header, Some(current)) = (unsafe { cell.as_ref() }, runner.current) else { return false };
    // SAFETY: as above.
    let record = unsafe { Record::of(cell, header.vtable.record_offset()) };
    let took = runner.polls.map_or(0, |(_, timer)| timer.end_poll());
    // Pairs with the fence in `Snapshot::take`: a thread that sees what follows sees RUNNING, too.
    fence(Release);
    if !header.kind_word().is_recorded() {
        record.begin(took, current.waits_for());
        header.kind_word().set_recorded();
        return false;
    }
    record.polls.store(record.polls.load(Relaxed).wrapping_add(1), Relaxed);
    record.add_time(took);
    if current.yields() {
        // It waits for its turn only.
        record.waits_for.store(Note::NOTHING.code(), Relaxed);
        return false;
    }
    let waits_for = current.waits_for();
    let before = Note::from_parts(record.waits_for.load(Relaxed), record.waits_for_word.load(Relaxed));
    record.since.store(current::time_here(), Relaxed);
    if before == waits_for {
        let is_spurious = waits_for.is_known() && !current.may_have_made_progress();
        if is_spurious {
            record.spurious_polls.store(record.spurious_polls.load(Relaxed).wrapping_add(1), Relaxed);
        }
        return is_spurious;
    }
    record.waits_for.store(waits_for.code(), Relaxed);
    record.waits_for_word.store(waits_for.word(), Relaxed);
    false
}

/// The task waited until now, and is about to be queued.
///
/// # Safety
///
/// The cell has a task, whose state the caller has changed from idle to SCHEDULED.
#[inline]
pub(super) unsafe fn note_queued(cell: NonNull<Header>) {
    // SAFETY: the caller has a reference to the task. It has a record, since it was polled.
    unsafe {
        let record = Record::of(cell, cell.as_ref().vtable.record_offset());
        record.since.store(current::time_here(), Relaxed);
    }
}

impl Record {
    /// Writes everything, after the first poll.
    fn begin(&self, took: u64, waits_for: Note) {
        self.since.store(current::time_here(), Relaxed);
        self.total_nanos.store(took, Relaxed);
        self.waits_for_word.store(waits_for.word(), Relaxed);
        self.waits_for.store(waits_for.code(), Relaxed);
        self.polls.store(1, Relaxed);
        self.spurious_polls.store(0, Relaxed);
        self.longest_poll.store((took as f32).to_bits(), Relaxed);
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

/// Says how long the polls of a worker take, to the record of each task.
///
/// Reading the clock takes longer than to poll a task that just yields. So the worker reads it after each poll only as
/// long as polls take some [microseconds](PollTimer::WORTH_A_READING) each; after sleep it begins with that. Where they
/// are shorter, each counts as the average that the worker has measured in its last interval (`poll_interval.rs`). A
/// long one among those is noticed by the monitor, which has the worker read the clock at its end.
#[derive(Debug, Default)]
pub(crate) struct PollTimer {
    reads_clock: AtomicBool,
    /// In nanoseconds.
    average: AtomicU64,
    /// When the worker last knew the time, by `clock::nanos_since_epoch`; zero if it is asleep.
    known: AtomicU64,
}

impl PollTimer {
    /// A poll of at least this length, in nanoseconds, is worth a reading of the clock, which takes less than one in a
    /// hundred parts of it.
    const WORTH_A_READING: u64 = 4_000;

    /// A poll has ended. How long it took, in nanoseconds.
    #[inline]
    fn end_poll(&self) -> u64 {
        if self.reads_clock.load(Relaxed) { self.measure() } else { self.average.load(Relaxed) }
    }

    #[cold]
    fn measure(&self) -> u64 {
        let before = self.known.load(Relaxed);
        let now = current::read_time_here();
        self.known.store(now, Relaxed);
        let took = if before == 0 { 0 } else { now.saturating_sub(before) };
        self.reads_clock.store(took >= Self::WORTH_A_READING, Relaxed);
        took
    }

    /// The worker knows the time, and how long its last polls took on average; zero if it does not know. For its thread.
    pub(crate) fn adapt(&self, now: Instant, average: Duration) {
        self.resume(now);
        let average = u64::try_from(average.as_nanos()).unwrap_or(u64::MAX);
        if average > 0 {
            self.average.store(average, Relaxed);
            self.reads_clock.store(average >= Self::WORTH_A_READING, Relaxed);
        }
    }

    /// The worker did something else until now, and does not know how long the next polls will take. For its thread.
    pub(crate) fn restart(&self, now: Instant) {
        self.resume(now);
        self.reads_clock.store(true, Relaxed);
    }

    /// The worker did something else until now. For its thread.
    pub(crate) fn resume(&self, now: Instant) {
        self.known.store(current::set_time_here(now), Relaxed);
    }

    /// The worker is about to sleep. For its thread.
    pub(crate) fn pause(&self) {
        self.known.store(0, Relaxed);
        current::forget_time_here();
    }

    /// When the poll that the worker is in began, or, if polls are short, one of the last before it: by
    /// `clock::nanos_since_epoch`. For any thread.
    #[cfg(not(loom))]
    pub(crate) fn began(&self) -> Option<u64> {
        Some(self.known.load(Relaxed)).filter(|known| *known != 0)
    }

    /// The poll that the worker is in takes long. For any thread.
    pub(crate) fn watch(&self) {
        self.reads_clock.store(true, Relaxed);
    }
}
