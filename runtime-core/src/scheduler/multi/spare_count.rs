//! [`SpareCount`]: how many spare workers run, and how many are needed. One word, so that no two threads can each rely
//! on the other.
//!
//! A spare is *needed* for every worker that blocks in place, and for those that the monitor found stuck; while many
//! block one after the other, it asks for a few more than are stuck yet.
//!
//! | change                    | who makes it                                                                |
//! |---------------------------|-----------------------------------------------------------------------------|
//! | one more blocks in place  | the worker that begins to; it starts a spare if fewer run than are needed   |
//! | one fewer blocks in place | the same worker, when it is back                                            |
//! | the number of stuck       | the monitor, after each sample                                              |
//! | one more running          | the thread that is about to start a spare, up to a limit                    |
//! | one fewer running         | a spare that retires, if more run than are needed; a thread whose start failed |
//!
//! A worker that begins to block in place while a spare retires: if its step comes first, the spare sees it in the very
//! compare-exchange by which it would retire, and stays. If the retirement comes first, the worker finds one spare too
//! few in what its step returns, and starts one. With two words each could have read the other's old value, and the
//! tasks of both would have nobody until the monitor came by.

use crate::primitive::atomic::AtomicU64;
use crate::primitive::atomic::Ordering::SeqCst;
use crate::runtime::MAX_WORKER_THREADS;

const RUNNING: u64 = 1;
const BLOCKING_IN_PLACE: u64 = 1 << 20;
const STUCK: u64 = 1 << 40;
const FIELD: u64 = (1 << 20) - 1;

/// The three counts at one moment.
#[derive(Clone, Copy, Debug)]
struct Counts(u64);

impl Counts {
    fn running(self) -> usize {
        (self.0 & FIELD) as usize
    }

    fn blocking_in_place(self) -> usize {
        ((self.0 / BLOCKING_IN_PLACE) & FIELD) as usize
    }

    fn needed(self) -> usize {
        self.blocking_in_place() + ((self.0 / STUCK) & FIELD) as usize
    }
}

/// How many spares run, how many workers block in place, and how many are stuck: three counts in one word.
#[derive(Debug)]
pub(super) struct SpareCount(AtomicU64);

impl SpareCount {
    pub(super) fn new() -> Self {
        const { assert!(MAX_WORKER_THREADS < FIELD as usize) };
        Self(AtomicU64::new(0))
    }

    /// A worker begins to block in place. True if there are fewer spares than are needed now.
    #[must_use]
    pub(super) fn begin_block_in_place(&self) -> bool {
        let counts = Counts(self.0.fetch_add(BLOCKING_IN_PLACE, SeqCst) + BLOCKING_IN_PLACE);
        counts.running() < counts.needed()
    }

    /// A worker that blocked in place is back.
    pub(super) fn end_block_in_place(&self) {
        self.0.fetch_sub(BLOCKING_IN_PLACE, SeqCst);
    }

    /// Sets the number of spares that are needed for stuck workers. Returns how many spares there are beyond those
    /// needed.
    pub(super) fn set_stuck(&self, stuck: usize) -> usize {
        let mut now = self.0.load(SeqCst);
        loop {
            let next = (now & !(FIELD * STUCK)) | ((stuck as u64 & FIELD) * STUCK);
            match self.0.compare_exchange_weak(now, next, SeqCst, SeqCst) {
                Ok(_) => {
                    let counts = Counts(next);
                    return counts.running().saturating_sub(counts.needed());
                }
                Err(actual) => now = actual,
            }
        }
    }

    /// Counts one more as running, unless `limit` spares run already. Returns whether it did.
    #[must_use]
    pub(super) fn start(&self, limit: usize) -> bool {
        self.change(|counts| (counts.running() < limit).then_some(counts.0 + RUNNING))
    }

    /// The one that was about to run does not.
    pub(super) fn start_failed(&self) {
        self.0.fetch_sub(RUNNING, SeqCst);
    }

    /// A spare that has nothing to do asks whether it may go. It may if it is one too many; then it no longer counts.
    #[must_use]
    pub(super) fn retire(&self) -> bool {
        self.change(|counts| (counts.running() > counts.needed()).then(|| counts.0 - RUNNING))
    }

    /// How many spares run, or are about to.
    pub(super) fn running(&self) -> usize {
        Counts(self.0.load(SeqCst)).running()
    }

    /// How many workers block in place.
    pub(super) fn blocking_in_place(&self) -> usize {
        Counts(self.0.load(SeqCst)).blocking_in_place()
    }

    /// How many of `workers` workers and the spares sleep if nobody is awake: all that are not blocking in place.
    /// `None` if more spares run than block in place: the monitor is to have them retire.
    pub(super) fn at_rest(&self, workers: usize) -> Option<usize> {
        let counts = Counts(self.0.load(SeqCst));
        (counts.running() <= counts.blocking_in_place())
            .then(|| (workers + counts.running()).saturating_sub(counts.blocking_in_place()))
    }

    /// Whether fewer run than are needed.
    pub(super) fn is_short(&self) -> bool {
        let counts = Counts(self.0.load(SeqCst));
        counts.running() < counts.needed()
    }

    fn change(&self, change: impl Fn(Counts) -> Option<u64>) -> bool {
        let mut now = self.0.load(SeqCst);
        while let Some(next) = change(Counts(now)) {
            match self.0.compare_exchange_weak(now, next, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(actual) => now = actual,
            }
        }
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_spare_retires_only_when_there_is_one_too_many() {
        let count = SpareCount::new();
        assert!(count.start(8));
        assert!(!count.begin_block_in_place(), "it is there for the one that blocks in place");
        assert!(!count.retire());
        assert_eq!(count.set_stuck(1), 0);
        assert!(count.begin_block_in_place(), "two blocking in place and one stuck, and one spare");
        assert!(count.start(8) && count.start(8));
        count.end_block_in_place();
        assert_eq!(count.set_stuck(0), 2);
        assert!(count.retire() && count.retire());
        assert!(!count.retire(), "one is still blocking in place");
        count.end_block_in_place();
        assert!(count.retire());
        assert!(!count.retire(), "there is none left");
    }

    #[test]
    fn at_rest_all_sleep_that_are_not_aside_and_no_spare_is_too_many() {
        let count = SpareCount::new();
        assert_eq!(count.at_rest(2), Some(2));
        let _ = count.begin_block_in_place();
        assert_eq!(count.at_rest(2), Some(1));
        assert!(count.start(8));
        assert_eq!(count.at_rest(2), Some(2));
        count.end_block_in_place();
        assert_eq!(count.at_rest(2), None);
        let _ = count.set_stuck(1);
        assert_eq!(count.at_rest(2), None, "that it is needed may be an old story");
    }

    #[test]
    fn no_more_start_than_the_limit_allows() {
        let count = SpareCount::new();
        assert!(count.start(2) && count.start(2));
        assert!(!count.start(2));
        count.start_failed();
        assert_eq!(count.running(), 1);
        assert!(count.start(2));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::primitive::atomic::AtomicUsize;
    use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Release};
    use crate::scheduler::multi::idle::Idle;

    /// A queue that is a number, the idle protocol, and the count of spares.
    struct Model {
        queue: AtomicUsize,
        idle: Idle,
        count: SpareCount,
    }

    impl Model {
        fn new(queued: usize) -> Arc<Self> {
            let count = SpareCount::new();
            assert!(count.start(8), "one spare runs");
            Arc::new(Self { queue: AtomicUsize::new(queued), idle: Idle::new(1), count })
        }

        fn take(&self) -> bool {
            self.queue.fetch_update(AcqRel, Acquire, |queued| queued.checked_sub(1)).is_ok()
        }

        /// What a spare does that has found no work and searches: it retires, or goes to sleep and looks once more.
        fn spare_without_work(&self) -> Spare {
            if self.take() {
                let _ = self.idle.stop_search();
                return Spare::AtWork;
            }
            if self.count.retire() {
                let must_wake = self.idle.stop_search() && self.queue.load(Acquire) > 0;
                return if must_wake && self.idle.wake_one(|| None, || false).is_some() {
                    Spare::Replaced
                } else {
                    Spare::Gone
                };
            }
            self.idle.start_sleep(0, true);
            if self.take() { Spare::AtWork } else { Spare::Asleep }
        }
    }

    #[derive(Debug, PartialEq)]
    enum Spare {
        AtWork,
        Asleep,
        Gone,
        /// Gone, and it has woken another for the task.
        Replaced,
    }

    /// The one worker begins to block in place with a task on its queues, while the one spare, without work, would
    /// retire. Either a spare is there, or the worker knows that it has to start one.
    #[test]
    fn loom_a_spare_does_not_retire_past_a_worker_that_blocks_in_place() {
        loom::model(|| {
            let model = Model::new(0);
            assert!(model.idle.start_search());
            let spare = {
                let model = model.clone();
                thread::spawn(move || model.spare_without_work())
            };
            // The worker: its task is visible, then it begins to block in place.
            model.queue.fetch_add(1, Release);
            let must_start = model.count.begin_block_in_place();
            let woken = model.idle.wake_one(|| None, || false).is_some();
            let spare = spare.join().unwrap();
            assert!(spare == Spare::AtWork || woken || must_start, "the task is stranded: {spare:?}");
        });
    }

    /// Work is pushed while a spare retires that was the only searcher: the pusher relied on it, so it must look once
    /// more, and wake a sleeping worker.
    #[test]
    fn loom_a_spare_that_retires_leaves_no_work_that_was_left_to_it() {
        loom::model(|| {
            let model = Model::new(0);
            // The worker sleeps, and the spare searches.
            model.idle.start_sleep(1, false);
            assert!(model.idle.start_search());
            let spare = {
                let model = model.clone();
                thread::spawn(move || model.spare_without_work())
            };
            model.queue.fetch_add(1, Release);
            let woken = model.idle.wake_one(|| None, || false).is_some();
            let spare = spare.join().unwrap();
            assert!(spare == Spare::AtWork || spare == Spare::Replaced || woken, "the task has nobody");
        });
    }
}
