//! [`WorkerTimes`]: what a worker measures by the clock: what it spends its time on, how long its polls take, and how
//! long tasks wait for it.
//!
//! The time is added up where the worker reads the clock anyway, or once in many polls. What has passed since then of
//! the state that the worker is in, a reader adds.
//!
//! # Protocol
//!
//! One word, `now_in`, has the state that the worker is in and since when. The worker alone writes: it takes the word
//! away (zero), adds what has passed to the counter of that state, and stores the new word. A reader that finds the
//! same word before and after it has read the counters, and not zero, knows that no change lay between: it may add what
//! has passed since. The worker's fence orders the zero before the addition, its release store the addition before the
//! new word; the reader's acquire load and its fence are their counterparts. (No word comes twice with a change in
//! between, unless both are of the same nanosecond: then nothing had passed.)

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use super::{Counts, HistogramCells, WorkerCounters};

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
    /// Nanoseconds since the runtime's start, and two bits of state; zero for none.
    now_in: AtomicU64,
    /// How long polls took.
    // Boxed, as a runtime is moved while it is made, and in unoptimised code each move takes stack.
    pub(crate) polls: Box<HistogramCells>,
    /// How long tasks waited in a queue.
    pub(crate) wake_to_poll: Box<HistogramCells>,
    /// How long a poll took of late, averaged, in parts of a nanosecond.
    mean_poll: AtomicU64,
}

const STATE_BITS: u32 = 2;

/// The last group of polls has this part of the average's weight.
const AVERAGED: u64 = 8;

fn word_of(state: WorkerState, since: u64) -> u64 {
    let state = match state {
        WorkerState::Busy => 1,
        WorkerState::Searching => 2,
        WorkerState::Parked => 3,
    };
    since << STATE_BITS | state
}

fn state_of(word: u64) -> Option<(WorkerState, u64)> {
    let state = match word & ((1 << STATE_BITS) - 1) {
        1 => WorkerState::Busy,
        2 => WorkerState::Searching,
        3 => WorkerState::Parked,
        _ => return None,
    };
    Some((state, word >> STATE_BITS))
}

impl WorkerTimes {
    /// From now on, in nanoseconds since the runtime's start, the worker is in that state, or in none: then it has no
    /// thread.
    pub(crate) fn turn_to(&self, state: Option<WorkerState>, now: u64, counters: &WorkerCounters) {
        let before = self.now_in.load(Relaxed);
        self.now_in.store(0, Relaxed);
        fence(Release);
        if let Some((state, since)) = state_of(before) {
            let counter = match state {
                WorkerState::Busy => &counters.busy_nanos,
                WorkerState::Searching => &counters.searching_nanos,
                WorkerState::Parked => &counters.parked_nanos,
            };
            counter.add(now.saturating_sub(since));
        }
        self.now_in.store(state.map_or(0, |state| word_of(state, now)), Release);
    }

    /// Adds up what has passed, and stays in the state.
    pub(crate) fn count(&self, now: u64, counters: &WorkerCounters) {
        let state = self.state();
        self.turn_to(state.map(|(state, _)| state), now, counters);
    }

    /// The state, and since when.
    pub(crate) fn state(&self) -> Option<(WorkerState, u64)> {
        state_of(self.now_in.load(Relaxed))
    }

    /// The worker's counts, by the time it is: `now` gives that, and is called after the counts were read.
    pub(crate) fn read(&self, counters: &WorkerCounters, now: impl Fn() -> u64) -> Counts {
        /// A worker that turns from one state to the next without end is not waited for.
        const TRIES: u32 = 100;
        for _ in 0..TRIES {
            let before = self.now_in.load(Acquire);
            let mut counts = counters.read();
            fence(Acquire);
            if self.now_in.load(Relaxed) != before {
                continue;
            }
            if let Some((state, since)) = state_of(before) {
                let passed = now().saturating_sub(since);
                match state {
                    WorkerState::Busy => counts.busy_nanos += passed,
                    WorkerState::Searching => counts.searching_nanos += passed,
                    WorkerState::Parked => counts.parked_nanos += passed,
                }
            }
            return counts;
        }
        counters.read()
    }

    /// How long a poll took of late.
    pub(crate) fn note_mean_poll(&self, nanos: u64) {
        let before = self.mean_poll.load(Relaxed);
        let mean = if before == 0 { nanos * AVERAGED } else { before - before / AVERAGED + nanos };
        self.mean_poll.store(mean, Relaxed);
    }

    /// The average of that, in nanoseconds.
    pub(crate) fn mean_poll(&self) -> u64 {
        self.mean_poll.load(Relaxed) / AVERAGED
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn time_goes_to_the_state_that_it_was_spent_in() {
        let (times, counters) = (WorkerTimes::default(), WorkerCounters::default());
        let nanos = |at| {
            let counts = times.read(&counters, || at);
            (counts.busy_nanos, counts.searching_nanos, counts.parked_nanos)
        };
        assert_eq!(nanos(5), (0, 0, 0));
        times.turn_to(Some(WorkerState::Busy), 10, &counters);
        assert_eq!(nanos(12), (2, 0, 0));
        times.count(13, &counters);
        assert_eq!((nanos(13), counters.busy_nanos.get()), ((3, 0, 0), 3));
        times.turn_to(Some(WorkerState::Searching), 18, &counters);
        times.turn_to(Some(WorkerState::Parked), 20, &counters);
        assert_eq!(nanos(120), (8, 2, 100));
        assert_eq!(times.state(), Some((WorkerState::Parked, 20)));
        times.turn_to(None, 200, &counters);
        assert_eq!((nanos(900), times.state()), ((8, 2, 180), None));
    }

    #[test]
    fn a_reader_counts_no_time_twice() {
        let (times, counters) = (WorkerTimes::default(), WorkerCounters::default());
        let clock = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let states = [WorkerState::Busy, WorkerState::Searching, WorkerState::Parked];
                for at in 0..20_000 {
                    clock.store(at, Relaxed);
                    times.turn_to(Some(states[at as usize % 3]), at, &counters);
                }
            });
            while !writer.is_finished() {
                let counts = times.read(&counters, || clock.load(Relaxed));
                let sum = counts.busy_nanos + counts.searching_nanos + counts.parked_nanos;
                let now = clock.load(Relaxed);
                assert!(sum <= now, "{sum} of {now}");
            }
        });
        let counts = times.read(&counters, || 20_000);
        assert_eq!(counts.busy_nanos + counts.searching_nanos + counts.parked_nanos, 20_000);
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
