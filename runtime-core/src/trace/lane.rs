//! [`Lane`]: what the thread writes to that has a worker's place; and [`SharedLanes`], for threads that have none.
//!
//! A lane is one thread's at a time, and so is its ring (`ring.rs`). Those of workers go with their cores: whoever has
//! the core has the lane. A thread without a core takes one of the shared lanes for the moment in which it writes a
//! record. It waits for nobody: if others have all of them, the record is lost, and counted.
//!
//! Taking a shared lane is a swap with acquire, giving it back a store with release, so that a thread sees what the one
//! before it has written.

use super::record::{Kind, Record};
use super::ring::{Ring, Words};
use super::sites::{SiteCache, Sites};
use crate::clock::Ticks;
use crate::primitive::OnceLock;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitive::atomic::{AtomicBool, AtomicU64};
use crate::task::TaskRef;

/// There are as many lanes for all threads that are no workers.
pub(super) const SHARED_LANES: usize = 4;

/// A ring, and what its writer keeps beside it.
pub(super) struct Lane {
    ring: Ring,
    sites: SiteCache,
    /// When the last record was written, if that is a task's, and the lane's thread has done nothing since but look for
    /// its next task. Else zero. For the writer alone.
    just_now: AtomicU64,
}

impl Lane {
    pub(super) fn new(places: usize) -> Self {
        Self { ring: Ring::new(places), sites: SiteCache::new(), just_now: AtomicU64::new(0) }
    }

    /// Writes a task's event down. A poll that begins just after the last one ended begins when that ended: one look at
    /// the clock is enough for both.
    #[inline]
    pub(super) fn task_event(&self, kind: Kind, task: &TaskRef, ticks: Ticks, sites: &Sites) {
        let now = match self.just_now.load(Relaxed) {
            then if then != 0 && kind == Kind::Polled => then,
            _ => ticks.now(),
        };
        self.just_now.store(now, Relaxed);
        let site = self.sites.number(task, sites);
        self.ring.push(Record::of_task(kind, now, task.header().id().0, site).pack());
    }

    /// Writes down what is no task's.
    pub(super) fn other_event(&self, kind: Kind, payload: u64, ticks: Ticks) {
        self.just_now.store(0, Relaxed);
        self.ring.push(Record { kind, ticks: ticks.now(), payload }.pack());
    }

    /// The next poll begins at a time of its own.
    pub(super) fn time_passes(&self) {
        self.just_now.store(0, Relaxed);
    }

    pub(super) fn read(&self) -> Vec<Words> {
        self.ring.read()
    }
}

/// Lanes that threads take for a record.
pub(super) struct SharedLanes<T> {
    lanes: [SharedLane<T>; SHARED_LANES],
    /// Records for which there was no lane.
    lost: AtomicU64,
}

struct SharedLane<T> {
    is_taken: AtomicBool,
    /// Made when it is first used.
    lane: OnceLock<T>,
}

impl<T> SharedLanes<T> {
    pub(super) fn new() -> Self {
        let lane = || SharedLane { is_taken: AtomicBool::new(false), lane: OnceLock::new() };
        Self { lanes: std::array::from_fn(|_| lane()), lost: AtomicU64::new(0) }
    }

    /// Has the thread write into one that no other thread writes into: the one that its token stands for, or else any.
    pub(super) fn with(&self, token: usize, make: impl FnOnce() -> T, write: impl FnOnce(&T)) {
        let (mut make, mut write) = (Some(make), Some(write));
        for offset in 0..SHARED_LANES {
            if self.lanes[token.wrapping_add(offset) % SHARED_LANES].try_with(&mut make, &mut write) {
                return;
            }
        }
        self.lost.fetch_add(1, Relaxed);
    }

    /// Those that were used.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.lanes.iter().filter_map(|shared| shared.lane.get())
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}

impl<T> SharedLane<T> {
    /// Writes, unless another thread has the lane. Takes the closures if it does.
    #[inline]
    fn try_with(&self, make: &mut Option<impl FnOnce() -> T>, write: &mut Option<impl FnOnce(&T)>) -> bool {
        if self.is_taken.load(Relaxed) || self.is_taken.swap(true, Acquire) {
            return false;
        }
        let lane = self.lane.get_or_init(make.take().expect("called until it is true"));
        write.take().expect("called until it is true")(lane);
        self.is_taken.store(false, Release);
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_finds_all_lanes_taken_loses_its_record_and_does_not_wait() {
        let lanes = SharedLanes::<()>::new();
        let (all, nested) = (SHARED_LANES + 2, std::cell::Cell::new(0));
        fn nest(lanes: &SharedLanes<()>, left: usize, nested: &std::cell::Cell<usize>) {
            if left > 0 {
                lanes.with(
                    7,
                    || (),
                    |()| {
                        nested.set(nested.get() + 1);
                        nest(lanes, left - 1, nested);
                    },
                );
            }
        }
        nest(&lanes, all, &nested);
        assert_eq!((nested.get(), lanes.lost()), (SHARED_LANES, 1));
        nest(&lanes, SHARED_LANES, &nested);
        assert_eq!((nested.get(), lanes.lost()), (2 * SHARED_LANES, 1));
        assert_eq!(lanes.iter().count(), SHARED_LANES);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::primitive::Arc;

    /// Threads that come one after the other to the same lane, and one that reads it.
    #[test]
    fn loom_records_of_threads_that_share_a_lane_are_all_there() {
        loom::model(|| {
            let lane = Arc::new(SharedLane { is_taken: AtomicBool::new(false), lane: OnceLock::new() });
            let write = |lane: &SharedLane<Ring>, number: u64| {
                lane.try_with(&mut Some(|| Ring::new(4)), &mut Some(|ring: &Ring| ring.push([number, !number])))
            };
            // So that the ring is made before there are two threads: the model does not see how it is published.
            assert!(write(&lane, 1));
            let writer = {
                let lane = Arc::clone(&lane);
                loom::thread::spawn(move || write(&lane, 2))
            };
            let mine = write(&lane, 3);
            let theirs = writer.join().unwrap();
            let mut records = lane.lane.get().unwrap().read();
            records.sort();
            let expected = [Some([1, !1]), theirs.then_some([2, !2]), mine.then_some([3, !3])];
            assert_eq!(records, expected.into_iter().flatten().collect::<Vec<_>>());
        });
    }
}
