//! [`Record`]: how a task has fared, and what it waits for, for inspection.
//!
//! It lies where `arena/records.rs` says: at a place that is that of every task which the cell ever has, and of nothing
//! else. It is touched by atomic operations only, because a thread that inspects may look at it at any time, also after
//! its task's death. (Jobs of the blocking pool have none: they are in no arena, where nobody finds them.)
//!
//! Polls are recorded once somebody looks (`inspect.rs`, which says why none is missing then). Births do not touch it.
//! What is in it is of the task from when the first such poll ends after which the task goes on, which the state says
//! ([`State::activity`]). So a task that ends in its first poll does not touch it either.
//!
//! # Who writes
//!
//! - The thread that has RUNNING, at the end of a poll that returned `Pending` ([`end_poll`]). All of it.
//! - The same thread, when the task was woken during that poll ([`note_requeued`]), and else the thread that changed
//!   idle to SCHEDULED, if somebody looks ([`note_queued`]): `since`. Each has the task to itself, until it queues it.
//!
//! # Who reads
//!
//! Inspection, at any time ([`read_task`]). Times and counts may be of different moments. Two pairs of words are of one
//! moment, or are not told:
//!
//! - *Since when* the task is in its state: the word says in which, and a reader believes it only if that is the state.
//! - *What the task waits for* is two words, of which one says what the other means; it is also the count of polls. A
//!   reader reads the state and the count, then the rest, then a fence, and both again. If the task was not RUNNING
//!   either time, and the count is the same, no poll has ended in between. For:
//!   - the count is written last, released: with it a reader sees the words of its poll, or of a later one;
//!   - a writer's fence comes between its RUNNING and what it writes. A reader that sees a word of a later poll meets
//!     that fence by its own, and so that poll's RUNNING, or what followed. If the writer has finished, the state that
//!     is acquired then shows the new count.
//!
//! That all of it is of one task, the identifier says (`published.rs`). A reader that sees something of the cell's next
//! task meets the fence of that one's first poll, or of a later poll, or the release of `note_queued`.

#[cfg(not(loom))]
use std::ptr::NonNull;

#[cfg(not(loom))]
use super::cell::Header;
#[cfg(not(loom))]
use super::current;
use super::published::{begin_reading, is_still};
#[cfg(not(loom))]
use super::runner::Run;
use super::state::{Activity, State};
use super::waits::{CODE_BITS, Note};
use crate::clock::Moment;
#[cfg(not(loom))]
use crate::inspect;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicU32, AtomicU64, fence};

/// See the module.
#[derive(Debug)]
#[repr(C)]
#[cfg_attr(loom, allow(dead_code))] // models do not inspect, but for those below
pub(super) struct Record {
    /// When the task came into its state, and which that is.
    since: AtomicU64,
    /// Nanoseconds.
    total_time: AtomicU64,
    /// The word that belongs to what kind of thing the task waits for.
    waits_for: AtomicU64,
    /// Polls that have ended, and what kind of thing the task waits for: the code of a note.
    polls: AtomicU64,
    spurious_polls: AtomicU32,
    /// Nanoseconds, as the bits of an `f32`: as exact as anybody asks, and without an end.
    longest_poll: AtomicU32,
}

/// What was read of a record.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(loom, allow(dead_code))]
pub(crate) struct Recorded {
    /// Since when the task is in its state, if that is known.
    pub(crate) since: Option<Moment>,
    /// Nanoseconds.
    pub(crate) total_time: u64,
    pub(crate) longest_poll: u64,
    pub(crate) polls: u64,
    pub(crate) spurious_polls: u32,
    pub(crate) waits_for: Note,
}

/// A moment, and the state that the task came into.
#[derive(Clone, Copy)]
struct Since(u64);

#[cfg_attr(loom, allow(dead_code))]
impl Since {
    const UNKNOWN: Self = Self(0);
    const QUEUED: u64 = 1;
    const WAITING: u64 = 2;
    /// The states take two bits, which leaves time a hundred years.
    const STATE_BITS: u32 = 2;

    /// The state is none in which it is noted since when.
    fn new(activity: Activity, time: Option<Moment>) -> Self {
        let tag = match activity {
            Activity::Running => return Self::UNKNOWN,
            Activity::Queued => Self::QUEUED,
            Activity::Waiting => Self::WAITING,
        };
        time.map_or(Self::UNKNOWN, |time| Self(time.word() << Self::STATE_BITS | tag))
    }

    /// When, if this is the state.
    fn time(self, activity: Activity) -> Option<Moment> {
        let time = Moment::from_word(self.0 >> Self::STATE_BITS)?;
        (Self::new(activity, Some(time)).0 == self.0).then_some(time)
    }
}

#[cfg_attr(loom, allow(dead_code))]
impl Record {
    /// That of a cell that has had no task yet.
    pub(super) fn new() -> Self {
        let (word, count) = (|| AtomicU64::new(0), || AtomicU32::new(0));
        Self {
            since: word(),
            total_time: word(),
            waits_for: word(),
            polls: word(),
            spurious_polls: count(),
            longest_poll: count(),
        }
    }

    /// Writes everything, at the end of a task's first poll.
    fn begin(&self, took: u64, waits_for: Note, since: Since) {
        // A thread that still reads the cell's last task, and sees what follows, sees that one's end, too.
        fence(Release);
        self.since.store(since.0, Relaxed);
        self.total_time.store(took, Relaxed);
        self.waits_for.store(waits_for.word(), Relaxed);
        self.spurious_polls.store(0, Relaxed);
        self.longest_poll.store((took as f32).to_bits(), Relaxed);
        // Nobody believes any of this before the state says that there is a record.
        self.polls.store(1 << CODE_BITS | u64::from(waits_for.code()), Relaxed);
    }

    /// After another poll. Whether the task waits for the same thing as before.
    #[inline]
    fn go_on(&self, took: u64, waits_for: Note, since: Since) -> bool {
        // A thread that sees what follows sees RUNNING, too.
        fence(Release);
        self.since.store(since.0, Relaxed);
        self.add_time(took);
        let polls = self.polls.load(Relaxed);
        let before = Note::from_parts(polls, self.waits_for.load(Relaxed));
        if before.word() != waits_for.word() {
            self.waits_for.store(waits_for.word(), Relaxed);
        }
        let polls = (polls >> CODE_BITS).wrapping_add(1);
        // Last: a thread that sees the count sees all of this poll.
        self.polls.store(polls << CODE_BITS | u64::from(waits_for.code()), Release);
        before == waits_for
    }

    #[inline]
    fn add_time(&self, took: u64) {
        self.total_time.store(self.total_time.load(Relaxed).wrapping_add(took), Relaxed);
        let longest = took as f32;
        if longest > f32::from_bits(self.longest_poll.load(Relaxed)) {
            self.longest_poll.store(longest.to_bits(), Relaxed);
        }
    }

    #[inline]
    fn count_spurious_poll(&self) {
        self.spurious_polls.store(self.spurious_polls.load(Relaxed).saturating_add(1), Relaxed);
    }

    /// The task waited until now.
    fn queue(&self, time: Moment) {
        // A thread that sees it sees the task's birth, too, and that it does not wait any more.
        self.since.store(Since::new(Activity::Queued, Some(time)).0, Release);
    }

    /// The task would wait from now on, but was woken already.
    #[inline]
    fn requeue(&self) {
        let since = Since(self.since.load(Relaxed)).time(Activity::Waiting);
        // By the thread whose fence came before the rest of this poll.
        self.since.store(Since::new(Activity::Queued, since).0, Relaxed);
    }

    /// The word that is written last, which is to be read first.
    fn version(&self) -> u64 {
        self.polls.load(Acquire)
    }

    /// What is in it, for a task that was in this state, and this version.
    fn read(&self, activity: Activity, polls: u64) -> Recorded {
        Recorded {
            polls: polls >> CODE_BITS,
            since: Since(self.since.load(Relaxed)).time(activity),
            total_time: self.total_time.load(Relaxed),
            longest_poll: f32::from_bits(self.longest_poll.load(Relaxed)) as u64,
            spurious_polls: self.spurious_polls.load(Relaxed),
            waits_for: Note::from_parts(polls, self.waits_for.load(Relaxed)),
        }
    }
}

/// What was read of a task: the identifier, what the closure has read, the state, and the record if there is one.
#[cfg_attr(loom, allow(dead_code))]
pub(super) type Read<T> = (u64, T, Activity, Option<Recorded>);

/// Reads the task of a cell, unless there is none or it is over, or it ends meanwhile. The closure reads its constant
/// fields.
#[cfg_attr(loom, allow(dead_code))]
pub(super) fn read_task<'a, T>(
    identity: &AtomicU64,
    state: &State,
    record: impl Fn() -> Option<&'a Record>,
    constants: impl FnOnce() -> T,
) -> Option<Read<T>> {
    let id = begin_reading(identity)?;
    let constants = constants();
    let (activity, recorded) = read_record(state, record)?;
    is_still(identity, id).then_some((id, constants, activity, recorded))
}

/// Reads a record, if there is one, and the state that goes with it.
#[cfg_attr(loom, allow(dead_code))]
fn read_record<'a>(state: &State, record: impl Fn() -> Option<&'a Record>) -> Option<(Activity, Option<Recorded>)> {
    /// A task that goes through one poll after the other meanwhile is not read for ever.
    const TRIES: u32 = if cfg!(loom) { 1 } else { 8 };
    for _ in 0..TRIES {
        let (activity, is_recorded) = state.activity()?;
        // Not before the state was read, which says that there is one.
        let Some(record) = Some(&record).filter(|_| is_recorded).and_then(|record| record()) else {
            return Some((activity, None));
        };
        let version = record.version();
        let recorded = record.read(activity, version);
        if activity == Activity::Running {
            // It is not waiting, and all else is good one by one.
            return Some((activity, Some(Recorded { waits_for: Note::NOTHING, ..recorded })));
        }
        // Pairs with the fence of the writer.
        fence(Acquire);
        if state.activity()?.0 == activity && record.version() == version {
            return Some((activity, Some(recorded)));
        }
    }
    let (activity, is_recorded) = state.activity()?;
    let read = |record: &Record| Recorded { waits_for: Note::NOTHING, ..record.read(activity, record.version()) };
    Some((activity, Some(record).filter(|_| is_recorded).and_then(|record| record()).map(read)))
}

/// The record of a task, if it has one by now.
///
/// # Safety
///
/// The caller has a reference to the task, for as long as `'a`.
#[cfg(not(loom))]
#[inline(always)]
unsafe fn record_of<'a>(cell: NonNull<Header>) -> Option<&'a Record> {
    // SAFETY: the caller's promise; the vtable is that of the task's type.
    unsafe { cell.as_ref().vtable.record.get(cell) }
}

/// A poll of the task has returned `Pending`, and is not over yet. Whether it was spurious: the task was woken, and
/// waits for the same thing as before, without any operation having succeeded.
///
/// # Safety
///
/// The caller has set RUNNING and not cleared it.
#[cfg(not(loom))]
#[inline]
pub(super) unsafe fn end_poll(cell: NonNull<Header>, run: &Run<'_>) -> bool {
    // First: it may read the clock.
    let took = run.runner.clock.as_ref().map_or(0, |clock| clock.end_poll());
    // SAFETY: RUNNING comes with a reference; the vtable is that of the task's type, and a task that is polled is in an
    // arena, or has no record.
    let (record, state) = unsafe { (cell.as_ref().vtable.record.get_or_make(cell), &cell.as_ref().state) };
    let Some(record) = record else { return false };
    let yields = run.has_yielded();
    // A task that yields waits for its turn only.
    let waits_for = run.current.filter(|_| !yields).map_or(Note::NOTHING, |current| current.waits_for());
    let activity = if yields { Activity::Queued } else { Activity::Waiting };
    let since = Since::new(activity, current::time_to_note());
    if !state.is_recorded() {
        record.begin(took, waits_for, since);
        return false;
    }
    let waits_as_before = record.go_on(took, waits_for, since);
    let made_progress = || run.current.is_none_or(|current| current.may_have_made_progress());
    let is_spurious = waits_as_before && waits_for.is_certain() && !made_progress();
    if is_spurious {
        record.count_spurious_poll();
    }
    is_spurious
}

/// The task was woken during its poll, which is over, and is about to be queued.
///
/// # Safety
///
/// The caller has cleared RUNNING, with SCHEDULED set, and has the queue's reference.
#[cfg(not(loom))]
#[inline]
pub(super) unsafe fn note_requeued(cell: NonNull<Header>) {
    // SAFETY: the caller's promise.
    if let Some(record) = unsafe { record_of(cell) } {
        record.requeue();
    }
}

/// The task waited until now, and is about to be queued.
///
/// # Safety
///
/// The caller has a reference to the task, whose state it has changed from idle to SCHEDULED.
#[cfg(not(loom))]
#[inline(always)]
pub(super) unsafe fn note_queued(cell: NonNull<Header>) {
    // The record is on another line than what a wake needs, and a thread that is no worker's has to read the clock.
    if inspect::is_watched() {
        // SAFETY: passed on.
        unsafe { note_queued_now(cell) };
    }
}

/// # Safety
///
/// As [`note_queued`].
#[cfg(not(loom))]
#[cold]
unsafe fn note_queued_now(cell: NonNull<Header>) {
    // SAFETY: the caller's promise.
    if let Some(record) = unsafe { record_of(cell) } {
        record.queue(current::time_here());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_of_its_own_state_only() {
        use Activity::{Queued, Running, Waiting};
        for activity in [Queued, Waiting] {
            for time in [1, 2, u64::MAX >> Since::STATE_BITS].map(|word| Moment::from_word(word).unwrap()) {
                let since = Since::new(activity, Some(time));
                for told in [Queued, Running, Waiting] {
                    assert_eq!(since.time(told), (told == activity).then_some(time));
                }
            }
            assert_eq!(Since::new(activity, None).time(activity), None);
        }
    }

    #[test]
    fn polls_are_counted_beyond_32_bits_and_spurious_ones_up_to_that() {
        let record = Record::new();
        record.polls.store(u64::from(u32::MAX) << CODE_BITS, Relaxed);
        record.spurious_polls.store(u32::MAX - 1, Relaxed);
        (0..2).for_each(|_| record.count_spurious_poll());
        assert!(record.go_on(1, Note::NOTHING, Since::UNKNOWN));
        let read = record.read(Activity::Waiting, record.version());
        assert_eq!((read.polls, read.spurious_polls), (1 << 32, u32::MAX));
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
