//! [`Lane`]: what a thread writes to that has a core; and [`SharedLanes`], for threads that have none.
//!
//! A lane is one thread's at a time, and so is its ring (`ring.rs`). Those of workers go with their cores: the thread
//! that has the core has the lane. A thread without a core takes one of the shared lanes for the moment in which it
//! writes a record. It waits for nobody: if others have all of them, the record is lost, and counted.
//!
//! Taking a shared lane is a swap with acquire, giving it back a store with release, so that a thread sees what the one
//! before it has written.

use super::record::{Kind, Record};
use super::ring::{Ring, Words};
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicBool, AtomicU64};

/// There are as many lanes for all threads that are no workers.
pub(super) const SHARED_LANES: usize = 4;

/// A ring, and what its writer keeps beside it.
pub(super) struct Lane {
    ring: Ring,
    /// When the last record was written, if that is a task's, and the lane's thread has done nothing since but look for
    /// its next task. Else zero. For the writer alone.
    just_now: AtomicU64,
    /// When the last poll began. For the writer alone.
    polled: AtomicU64,
}

impl Lane {
    /// Of a thread that will write soon, or of one that may never do so.
    pub(super) fn new(places: usize, is_used: bool) -> Self {
        let mut ring = Ring::new(places);
        if is_used {
            ring.touch();
        }
        Self { ring, just_now: AtomicU64::new(0), polled: AtomicU64::new(0) }
    }

    /// Writes a task's event down. A poll that begins just after the last one ended begins when that ended: one look at
    /// the clock is enough for both. If this ends a poll, returns how many ticks it took, and else zero.
    ///
    /// `started` is when the recorder was. What the lane has from before that is of an earlier session.
    #[inline]
    pub(super) fn task_event(&self, kind: Kind, task: u64, site: u16, started: u64, now: impl FnOnce() -> u64) -> u64 {
        let then = self.just_now.load(Relaxed);
        let now = if kind == Kind::Polled && then >= started { then } else { now() };
        self.just_now.store(now, Relaxed);
        let mut took = 0;
        match kind {
            Kind::Polled => self.polled.store(now, Relaxed),
            Kind::Pending | Kind::Completed => took = self.end_poll(now, started),
            _ => {}
        }
        self.ring.push(Record::of_task(kind, now, task, site).pack());
        took
    }

    #[inline]
    fn end_poll(&self, now: u64, started: u64) -> u64 {
        let polled = self.polled.load(Relaxed);
        // A task that is cancelled was not polled.
        self.polled.store(0, Relaxed);
        if polled >= started { now.saturating_sub(polled) } else { 0 }
    }

    /// Writes down what is no task's.
    pub(super) fn other_event(&self, kind: Kind, payload: u64, now: u64) {
        self.just_now.store(0, Relaxed);
        self.ring.push(Record { kind, ticks: now, payload }.pack());
    }

    /// The next poll begins at a time of its own.
    #[inline]
    pub(super) fn time_passes(&self) {
        self.just_now.store(0, Relaxed);
    }

    pub(super) fn read(&self) -> Vec<Words> {
        self.ring.read()
    }
}

/// Lanes that threads take for a record.
pub(super) struct SharedLanes<T>([SharedLane<T>; SHARED_LANES]);

struct SharedLane<T> {
    is_taken: AtomicBool,
    lane: T,
}

impl<T> SharedLanes<T> {
    pub(super) fn new(make: impl Fn() -> T) -> Self {
        Self(std::array::from_fn(|_| SharedLane::new(make())))
    }

    /// Has the thread write into one that no other thread writes into: the one that its token stands for, or else any.
    /// `None` if others have all of them.
    #[inline]
    pub(super) fn with<R>(&self, token: usize, mut write: impl FnMut(&T) -> R) -> Option<R> {
        (0..SHARED_LANES).find_map(|offset| self.0[token.wrapping_add(offset) % SHARED_LANES].try_with(&mut write))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|shared| &shared.lane)
    }
}

impl<T> SharedLane<T> {
    fn new(lane: T) -> Self {
        Self { is_taken: AtomicBool::new(false), lane }
    }

    /// Writes, unless another thread has the lane.
    #[inline]
    fn try_with<R>(&self, write: impl FnOnce(&T) -> R) -> Option<R> {
        if self.is_taken.load(Relaxed) || self.is_taken.swap(true, Acquire) {
            return None;
        }
        let result = write(&self.lane);
        self.is_taken.store(false, Release);
        Some(result)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::clock::Ticks;

    #[test]
    fn a_thread_that_finds_all_lanes_taken_does_not_wait() {
        fn nest(lanes: &SharedLanes<()>, left: usize, nested: &Cell<usize>) {
            if left > 0 {
                lanes.with(7, |()| {
                    nested.set(nested.get() + 1);
                    nest(lanes, left - 1, nested);
                });
            }
        }
        let lanes = SharedLanes::new(|| ());
        for _ in 0..2 {
            let nested = Cell::new(0);
            nest(&lanes, SHARED_LANES + 2, &nested);
            assert_eq!(nested.get(), SHARED_LANES);
        }
    }

    /// The ticks, and which events they are of.
    fn times(lane: &Lane) -> Vec<(u64, Option<Kind>)> {
        lane.read().into_iter().map(|words| (words[0] << 8 >> 8, Record::unpack(words, 0).map(|it| it.kind))).collect()
    }

    #[test]
    fn a_poll_begins_when_the_last_one_ended_unless_time_has_passed_or_the_recorder_was_started() {
        let (lane, ticks) = (Lane::new(16, true), Ticks::new());
        let event = |kind, started| lane.task_event(kind, 1, 0, started, || ticks.now());
        event(Kind::Pending, 1);
        event(Kind::Polled, 1);
        event(Kind::Pending, 1);
        lane.time_passes();
        while ticks.now() == times(&lane)[2].0 {}
        event(Kind::Polled, 1);
        event(Kind::Pending, 1);
        let started = loop {
            let now = ticks.now();
            if now > times(&lane)[4].0 {
                break now;
            }
        };
        event(Kind::Polled, started);
        let times = times(&lane);
        assert_eq!(times[0].0, times[1].0);
        assert!(times[2].0 < times[3].0, "{times:?}");
        assert!(times[5].0 >= started, "{times:?} {started}");
    }

    #[test]
    fn what_a_poll_took_is_told_at_its_end() {
        let (lane, ticks) = (Lane::new(16, false), Ticks::new());
        let event = |kind, started| lane.task_event(kind, 1, 0, started, || ticks.now());
        let wait = || {
            let before = ticks.now();
            while ticks.now() < before + 1000 {}
        };
        assert_eq!(event(Kind::Polled, 1), 0);
        wait();
        assert_eq!(event(Kind::Woken, 1), 0);
        assert!(event(Kind::Pending, 1) >= 1000);
        wait();
        assert_eq!(event(Kind::Completed, 1), 0, "cancelled, not polled");
        event(Kind::Polled, 1);
        wait();
        assert_eq!(event(Kind::Completed, ticks.now()), 0, "begun before the start");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::primitive::Arc;

    /// Two threads that want the same lane.
    #[test]
    fn loom_records_of_threads_that_share_a_lane_are_all_there() {
        loom::model(|| {
            let lane = Arc::new(SharedLane::new(Ring::new(4)));
            let write = |lane: &SharedLane<Ring>, number: u64| {
                lane.try_with(|ring: &Ring| ring.push([number, !number])).is_some()
            };
            let writer = {
                let lane = Arc::clone(&lane);
                loom::thread::spawn(move || write(&lane, 2))
            };
            let mine = write(&lane, 3);
            let theirs = writer.join().unwrap();
            let mut records = lane.lane.read();
            records.sort_unstable();
            let expected = [theirs.then_some([2, !2]), mine.then_some([3, !3])];
            assert_eq!(records, expected.into_iter().flatten().collect::<Vec<_>>());
        });
    }

    /// The same with another lane to go to, which nobody else wants, and a reader of both.
    #[test]
    fn loom_a_thread_that_finds_its_lane_taken_writes_into_the_next() {
        loom::model(|| {
            let lanes = Arc::new(SharedLanes::new(|| Ring::new(4)));
            let write = |lanes: &SharedLanes<Ring>, number: u64| {
                lanes.with(0, |ring: &Ring| ring.push([number, !number])).is_some()
            };
            let read = |lanes: &SharedLanes<Ring>| {
                let mut records: Vec<Words> = lanes.iter().flat_map(Ring::read).collect();
                records.sort_unstable();
                records
            };
            let writer = {
                let lanes = Arc::clone(&lanes);
                loom::thread::spawn(move || write(&lanes, 2))
            };
            assert!(write(&lanes, 3), "there are more lanes than threads");
            let meanwhile = read(&lanes);
            assert!(meanwhile.contains(&[3, !3]) && meanwhile.iter().all(|record| record[1] == !record[0]));
            assert!(writer.join().unwrap());
            assert_eq!(read(&lanes), [[2, !2], [3, !3]]);
        });
    }
}
