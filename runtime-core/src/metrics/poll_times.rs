//! [`PollTimes`]: how long polls take, measured at a bounded cost. The only clock of polls: the histogram of all polls
//! and the record of each task are told by the same readings.
//!
//! To read the clock takes longer than to poll a task that just yields. So a worker reads it once in a *group* of
//! polls, and the end of one group is the beginning of the next. How many polls a group has depends on how long they
//! take: as many as it needs for reading the clock to take no more than a [share](CLOCK_SHARE) of the time. Polls that
//! take that long each (some tens of microseconds) are measured one by one. What a reading costs is measured as well,
//! once a process.
//!
//! ```text
//!    poll poll poll poll poll poll | poll poll poll poll | poll poll .. of a busy worker, a tick before each
//!   '----------- group -----------' '------ group ------' '--- group      ends with a reading of the clock
//!   '------------ part -----------' '------ part -------' '---- part      where the countdown of ticks ends
//!   '------------------- interval ----------------------' '- interval     at its end: maintenance, drivers
//! ```
//!
//! # Who does what
//!
//! Everything here is the worker's thread's, and nothing is shared.
//!
//! 1. The worker *begins* a group when it has done something else until then: slept, looked for work, polled the
//!    drivers, called hooks. Before it does such a thing it *ends* the group at hand.
//!    (A hook that is called at the end of a task, and of no other poll, ends no group. What it takes is
//!    [left out](PollTimes::leave_out), for two readings of the clock with each such end.)
//! 2. The worker says which poll is to be the [last](PollTimes::expect_last) of the group, by its count: anew for each
//!    group, as each may have another size than the one before. (It takes a
//!    poll for the last by the countdown of `scheduler/poll_interval.rs`, though, where it costs nothing to look. That
//!    may come earlier, if the worker found nothing to poll meanwhile.)
//! 3. Of such a poll, if it is one after which the task goes on, the harness reads the clock when the future has
//!    returned, before it writes the task's record, and leaves the reading here ([`note_end`](PollTimes::note_end)).
//!    With a task that is over there is more to do, which is that task's as well: its future and its output are
//!    dropped.
//! 4. After the poll the worker takes that reading, or if there is none reads the clock, and ends the group with it.
//!
//! # What a group says of its polls
//!
//! - A group of one poll is that poll, to the nanosecond, with what the worker did to get at it.
//! - A group that took about as long as it was expected to: each of its polls counts as an equal part.
//! - One that took much longer: one of its polls counts as the whole time, the others as what was usual before. That is
//!   what it mostly is: a long one among short ones. So no poll of twice the time of a group is missed, and none counts
//!   as shorter than it was.
//!   If several were long they count as one that was longer than each: once, for the next polls are measured one by
//!   one.
//!
//! Polls of futures that are no tasks (the main one, on a current-thread runtime) are part of a group, but not counted.
//! (So a long one may count as one of a task, the first time.)
//!
//! Each poll is counted once: those of the group at hand when it ends, which is when the worker has run out of work at
//! the latest. The time between two polls counts to the later one, but not that which the worker has spent with the
//! drivers, looking for work, or asleep.
//!
//! # What a task is charged with
//!
//! A task's record says how long its polls took, and must not be told of any other's. So a poll that is a group of its
//! own is charged with that group's time, and one of several with what was usual before, which is the mean of a group
//! that took no longer than expected. Which of several was the long one is not known; but if it comes again soon it is
//! measured, see below. (And the monitor, where there is one, finds a poll that takes milliseconds: `watch.rs`.)
//!
//! # How many polls a group has
//!
//! Each [target](PollTimes::target_nanos) of time that passes pays for one reading of the clock. A group that took much
//! longer has paid for more than its own, so the next groups have one poll each until that is spent, or as many as take
//! no longer than one target to read the clock for. Otherwise a group has as many polls as fit into the target by the
//! last one: at once if these are fewer, and else by and by, for short polls come in runs.

use std::cell::Cell;

use super::WorkerTimes;
use crate::clock::Moment;
use crate::primitive::OnceLock;

/// Of the time of a worker that is busy reading the clock takes no more than one part in this number. (To end a group
/// takes three to four times as long as the reading.)
const CLOCK_SHARE: u64 = 800;

/// How long reading the clock takes, in nanoseconds.
fn clock_cost() -> u64 {
    static COST: OnceLock<u64> = OnceLock::new();
    *COST.get_or_init(|| {
        // The fastest of some: the others were disturbed.
        const READINGS: u32 = 16;
        let time = || {
            let began = Moment::now();
            let last = (0..READINGS).fold(began, |_, _| std::hint::black_box(Moment::now()));
            last.nanos_since(began) / u64::from(READINGS)
        };
        (0..4).map(|_| time()).min().unwrap_or(0).max(1)
    })
}

/// How many polls a worker is to have until it reads the clock again, if the last `polls` took that long in all, and
/// `size` was meant to be as many as take `target`.
fn next_size(size: u32, polls: u32, took: u64, target: u64) -> u32 {
    // At once if they turn out to be longer. Else step by step, and only by what a whole group says: short polls come
    // in runs, and a long group is one in which long polls cannot be told apart.
    let most = if polls < size { size } else { size.saturating_mul(2) };
    let time = u64::from(polls).saturating_mul(target);
    if time >= u64::from(most).saturating_mul(took) {
        return most;
    }
    // Fewer than that.
    ((time / took) as u32).max(1)
}

/// See the module. What a worker's thread needs for it; the results are in its [`WorkerTimes`].
#[derive(Debug)]
pub(crate) struct PollTimes {
    /// How long a group is to take, in nanoseconds. `None`: nothing is measured.
    target: Option<u64>,
    /// Each poll is a group of its own, whatever that costs.
    one_by_one: bool,
    /// When the group began. `None`: it is to begin before the next poll of a task.
    began: Cell<Option<Moment>>,
    /// How many polls of tasks the worker had counted then.
    before: Cell<u64>,
    /// How many polls of other futures it has had.
    others: Cell<u32>,
    /// Which poll is to be its last, or any after that one.
    last: Cell<u64>,
    /// When which poll of it ended, if that was read.
    ended: Cell<Option<(Moment, u64)>>,
    /// How many polls it is to have.
    size: Cell<u32>,
    /// How many groups of one poll are paid for by now.
    paid: Cell<u64>,
    /// How long a poll took in the last group that took as long as expected, in nanoseconds.
    usual: Cell<u64>,
}

impl PollTimes {
    /// `one_by_one`: whether each poll is a group of its own, whatever that costs.
    pub(crate) fn new(is_on: bool, one_by_one: bool) -> Self {
        Self::with_target(is_on.then(|| clock_cost() * CLOCK_SHARE), one_by_one)
    }

    fn with_target(target: Option<u64>, one_by_one: bool) -> Self {
        let size = Cell::new(if target.is_some() { 1 } else { u32::MAX });
        let (began, before, others, ended, paid, usual) = Default::default();
        Self { target, one_by_one, began, before, others, last: Cell::new(u64::MAX), ended, size, paid, usual }
    }

    /// Whether polls are measured.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.target.is_some()
    }

    /// Whether each poll is a group of its own.
    pub(crate) fn is_one_by_one(&self) -> bool {
        self.one_by_one
    }

    /// How long a group is to take, in nanoseconds.
    pub(crate) fn target_nanos(&self) -> Option<u64> {
        self.target
    }

    /// How many polls the group at hand is to have.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size.get()
    }

    /// The group is to end with poll number `last`.
    pub(crate) fn expect_last(&self, last: u64) {
        if self.is_on() {
            self.last.set(last);
        }
    }

    /// Whether it is to end with that poll.
    #[inline]
    pub(crate) fn is_last(&self, poll: u64) -> bool {
        debug_assert!(
            !self.is_on() || self.last.get() <= self.before.get() + u64::from(self.size.get()),
            "since the last group ended nobody has said where this one does"
        );
        poll >= self.last.get()
    }

    /// How long a poll took of late that was one of several in its group, in nanoseconds: what such a one is charged
    /// with.
    #[inline]
    pub(crate) fn usual(&self) -> u64 {
        self.usual.get()
    }

    /// The worker begins a poll now, or soon, and has counted `polls` so far. What it did since the last group ended
    /// was no poll.
    pub(crate) fn begin(&self, now: Moment, polls: u64) {
        if self.is_on() {
            self.began.set(Some(now));
            self.before.set(polls);
            self.others.set(0);
            self.ended.set(None);
        }
    }

    /// The worker has slept: of the first poll it is not known how long such polls take.
    pub(crate) fn restart(&self, now: Moment, polls: u64) {
        if self.is_on() {
            self.size.set(1);
            self.begin(now, polls);
        }
    }

    /// For so long, up to now, the worker's thread did something that is no poll's, in the middle of a group.
    pub(crate) fn leave_out(&self, nanos: u64) {
        self.began.set(self.began.get().map(|began| began.plus_nanos(nanos)));
    }

    /// The group has ended, and the worker does not know when the next poll of a task begins: it is to
    /// [begin](Self::begin) a group before it.
    pub(crate) fn interrupt(&self) {
        self.began.set(None);
        self.ended.set(None);
    }

    /// Whether a group is to begin before the next poll of a task.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.began.get().is_none() && self.is_on()
    }

    /// Whether the group has had a poll of a task.
    pub(crate) fn has_begun(&self, polls: u64) -> bool {
        self.is_on() && self.before.get() != polls
    }

    /// The poll at hand, the last of its group and number `poll`, has ended `now`. How long it took, in nanoseconds, if
    /// it is the only one of its group.
    pub(crate) fn note_end(&self, now: Moment, poll: u64) -> Option<u64> {
        self.ended.set(Some((now, poll)));
        let is_alone = poll.wrapping_sub(self.before.get()) == 1 && self.others.get() == 0;
        let began = self.began.get().filter(|_| is_alone)?;
        Some(now.nanos_since(began))
    }

    /// The poll goes on, although it was said to have ended.
    pub(crate) fn take_back_end(&self) {
        self.ended.set(None);
    }

    /// When that poll ended, if that was read.
    pub(crate) fn end_of(&self, poll: u64) -> Option<Moment> {
        self.ended.get().filter(|(_, ended)| *ended == poll).map(|(at, _)| at)
    }

    /// A poll of a future that is no task has ended.
    pub(crate) fn note_other(&self) {
        self.others.set(self.others.get().saturating_add(1));
    }

    /// The last poll has ended, and the next group begins.
    pub(crate) fn end(&self, now: Moment, polls: u64, times: &WorkerTimes) {
        let Some(target) = self.target else { return };
        let tasks = polls.wrapping_sub(self.before.get());
        let all = tasks + u64::from(self.others.get());
        let began = self.began.get();
        self.begin(now, polls);
        let Some(began) = began.filter(|_| all > 0) else { return };
        let took = now.nanos_since(began);
        // Where a worker has one poll between two sleeps this is a part of each, so it divides as seldom as it can.
        let mean = if all == 1 { took } else { took / all };
        if tasks > 0 {
            let is_usual = took < 2 * target;
            if all == 1 || is_usual {
                times.polls.add(mean, tasks);
            } else {
                times.polls.add(took, 1);
                times.polls.add(self.usual.get().min(mean), tasks - 1);
            }
            if is_usual {
                self.usual.set(mean);
            }
            times.note_mean_poll(mean);
        }
        let pays_for = if took < target { 0 } else { took / target };
        let paid = (self.paid.get() + pays_for).clamp(1, CLOCK_SHARE) - 1;
        self.paid.set(paid);
        let is_single = self.one_by_one || paid > 0;
        let all = u32::try_from(all).unwrap_or(u32::MAX);
        self.size.set(if is_single { 1 } else { next_size(self.size.get(), all, took, target) });
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
