//! [`WorkerTimes`]: what a worker measures by the clock: what it spends its time on, how long its polls take, and how
//! long tasks wait for it.
//!
//! The worker's thread writes; when the worker gets another thread, its core goes from hand to hand under a lock. Any
//! thread reads, at any time. What it spends its time on is kept by three [stopwatches](Stopwatch), of which one runs
//! while it has a thread: so the time of the state that goes on is counted without the worker's doing anything.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, ThreadId};

use crossbeam_utils::atomic::AtomicCell;

use super::stopwatch::Stopwatch;
use super::watch::Watch;
use super::{Counts, HistogramCells, WorkerCounters};
use crate::clock::Moment;

/// What a worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WorkerState {
    /// It has work.
    Busy,
    /// It has none, and looks for some at the other workers, or waits for some without going to sleep.
    Searching,
    /// It sleeps, on its own or in the drivers.
    Parked,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct WorkerTimes {
    /// The state that the worker is in, in two bits (zero: it has no thread), and since when: a moment.
    now_in: AtomicU64,
    /// The thread that has the core, or had it last.
    thread: AtomicCell<Option<ThreadId>>,
    busy: Stopwatch,
    searching: Stopwatch,
    parked: Stopwatch,
    /// How long polls took.
    // Boxed, as a runtime is moved while it is made, and in unoptimised code each move takes stack.
    pub(crate) polls: Box<HistogramCells>,
    /// How long tasks waited in a queue.
    pub(crate) wake_to_poll: Box<HistogramCells>,
    /// How long a poll took of late, averaged, in parts of a nanosecond.
    mean_poll: AtomicU64,
    /// When the worker last read the clock between polls: a moment.
    read_clock_at: AtomicU64,
    /// What the monitor has seen of its polls.
    pub(crate) watch: Watch,
}

const STATE_BITS: u32 = 2;

/// The last group of polls has this part of the average's weight. (A power of two is divided by in one cycle. With this
/// one a change shows within some ten groups, and a single long poll counts for as many.)
const AVERAGED: u64 = 8;

fn word_of(state: Option<WorkerState>, since: Moment) -> u64 {
    let state = match state {
        None => 0,
        Some(WorkerState::Busy) => 1,
        Some(WorkerState::Searching) => 2,
        Some(WorkerState::Parked) => 3,
    };
    since.word() << STATE_BITS | state
}

impl WorkerTimes {
    /// From now on the worker is in that state, or in none: then it has no thread. For the worker.
    pub(crate) fn turn_to(&self, state: Option<WorkerState>, now: Moment) {
        if cfg!(loom) {
            // Models have no time; the stopwatches have one of their own.
            return;
        }
        let before = self.state();
        // The clock may have been read before the last turn.
        let now = before.map_or(now, |(_, since)| now.max(since));
        match before {
            Some((before, _)) => self.stopwatch(before).stop(now.word()),
            // Its thread has just come.
            None => self.thread.store(Some(thread::current().id())),
        }
        if let Some(state) = state {
            self.stopwatch(state).start(now.word());
        }
        self.now_in.store(word_of(state, now), Relaxed);
    }

    fn stopwatch(&self, state: WorkerState) -> &Stopwatch {
        match state {
            WorkerState::Busy => &self.busy,
            WorkerState::Searching => &self.searching,
            WorkerState::Parked => &self.parked,
        }
    }

    /// The thread that has the core, or had it last.
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        self.thread.load()
    }

    /// The state, and since when.
    pub(crate) fn state(&self) -> Option<(WorkerState, Moment)> {
        let word = self.now_in.load(Relaxed);
        let state = match word & ((1 << STATE_BITS) - 1) {
            0 => return None,
            1 => WorkerState::Busy,
            2 => WorkerState::Searching,
            _ => WorkerState::Parked,
        };
        Some((state, Moment::from_word(word >> STATE_BITS)?))
    }

    /// What the worker has counted, with its times, if it is `now`. No count goes backwards from one call to the next.
    pub(crate) fn read(&self, counters: &WorkerCounters, now: Moment) -> Counts {
        let now = now.word();
        Counts {
            busy_nanos: self.busy.read(now),
            searching_nanos: self.searching.read(now),
            parked_nanos: self.parked.read(now),
            ..counters.read()
        }
    }

    /// How long a poll took of late.
    pub(super) fn note_mean_poll(&self, nanos: u64) {
        let before = self.mean_poll.load(Relaxed);
        let mean = if before == 0 { nanos.saturating_mul(AVERAGED) } else { before - before / AVERAGED + nanos };
        self.mean_poll.store(mean, Relaxed);
    }

    /// The average of that, in nanoseconds.
    pub(crate) fn mean_poll(&self) -> u64 {
        self.mean_poll.load(Relaxed) / AVERAGED
    }

    /// The worker has read the clock between polls, or at the end of one.
    pub(crate) fn note_clock(&self, now: Moment) {
        self.read_clock_at.store(now.word(), Relaxed);
    }

    /// When it did so last: the poll that it is in, if it is in one, began then, or up to a group of short polls later.
    #[cfg(not(loom))]
    pub(crate) fn read_clock_at(&self) -> Option<Moment> {
        Moment::from_word(self.read_clock_at.load(Relaxed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Moment {
        Moment::from_word(nanos).expect("later than zero")
    }

    fn sum(counts: Counts) -> u64 {
        counts.busy_nanos + counts.searching_nanos + counts.parked_nanos
    }

    #[test]
    fn time_goes_to_the_state_that_it_was_spent_in() {
        let (times, counters) = (WorkerTimes::default(), WorkerCounters::default());
        let nanos = |now| {
            let counts = times.read(&counters, at(now));
            (counts.busy_nanos, counts.searching_nanos, counts.parked_nanos)
        };
        assert_eq!(nanos(5), (0, 0, 0));
        times.turn_to(Some(WorkerState::Busy), at(10));
        assert_eq!(nanos(12), (2, 0, 0));
        times.turn_to(Some(WorkerState::Busy), at(13));
        assert_eq!(nanos(13), (3, 0, 0));
        times.turn_to(Some(WorkerState::Searching), at(18));
        times.turn_to(Some(WorkerState::Parked), at(20));
        assert_eq!(nanos(120), (8, 2, 100));
        assert_eq!(times.state(), Some((WorkerState::Parked, at(20))));
        times.turn_to(None, at(200));
        assert_eq!((nanos(900), times.state()), ((8, 2, 180), None));
        times.turn_to(Some(WorkerState::Busy), at(1_000));
        assert_eq!(nanos(1_001), (9, 2, 180));
    }

    #[test]
    fn a_reading_from_before_the_last_turn_counts_as_that_turn() {
        let (times, counters) = (WorkerTimes::default(), WorkerCounters::default());
        times.turn_to(Some(WorkerState::Busy), at(10));
        times.turn_to(Some(WorkerState::Parked), at(30));
        times.turn_to(Some(WorkerState::Busy), at(25));
        assert_eq!(times.state(), Some((WorkerState::Busy, at(30))));
        assert_eq!(sum(times.read(&counters, at(40))), 30);
    }

    /// However the two threads meet, no reader sees a count go back; and in the end all time is accounted for.
    #[test]
    fn what_is_read_only_grows_and_adds_up() {
        let (times, counters) = (WorkerTimes::default(), WorkerCounters::default());
        let clock = AtomicU64::new(1);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let states = [WorkerState::Busy, WorkerState::Searching, WorkerState::Parked];
                for now in 1..20_001 {
                    clock.store(now, Relaxed);
                    times.turn_to(Some(states[now as usize % 3]), at(now));
                }
            });
            let mut before = Counts::default();
            while !writer.is_finished() {
                let counts = times.read(&counters, at(clock.load(Relaxed)));
                assert!(counts.busy_nanos >= before.busy_nanos, "{before:?}, {counts:?}");
                assert!(counts.searching_nanos >= before.searching_nanos, "{before:?}, {counts:?}");
                assert!(counts.parked_nanos >= before.parked_nanos, "{before:?}, {counts:?}");
                before = counts;
            }
        });
        assert_eq!(sum(times.read(&counters, at(20_001))), 20_000);
    }

    #[test]
    fn the_mean_follows_what_is_measured() {
        let times = WorkerTimes::default();
        times.note_mean_poll(15);
        assert_eq!(times.mean_poll(), 15);
        (0..100).for_each(|_| times.note_mean_poll(1_000));
        assert!((900..=1_000).contains(&times.mean_poll()), "{}", times.mean_poll());
    }
}
