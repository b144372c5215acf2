//! The idle protocol: which workers sleep, which search, and who wakes whom. Nothing but counting: no queues, no
//! threads.
//!
//! # States
//!
//! A worker is *running* (it has work), *searching* (it has none, and looks at the other workers and the injector), or
//! *sleeping*. One word counts the searching and the sleeping ones; a list, under a lock, names the sleeping ones.
//!
//! | from      | to        | who moves it                                                             |
//! |-----------|-----------|--------------------------------------------------------------------------|
//! | running   | searching | the worker, if fewer than half of the workers search (`start_search`)     |
//! | searching | running   | the worker, when it found work, or before what may take long (`stop_search`) |
//! | running or searching | sleeping | the worker (`start_sleep`); then it looks at *everything* once more |
//! | sleeping  | searching | the thread that has work to offer (`wake_one`), or a duty (`wake_any`, `wake_one_of`) |
//! | sleeping  | running   | the worker itself, when the driver or somebody else woke it (`end_sleep`) |
//! | running   | searching | the worker that saw work when it looked once more (`end_sleep`, then `resume_search`) |
//!
//! The last worker that stops searching looks whether there is more, and wakes one if so. `wake_one` takes a sleeper
//! off the list and counts it as searching, and then unparks it.
//!
//! # Why no work is overlooked
//!
//! A pusher makes work visible. It does: write the queue; fence (SeqCst); read the word, and wake a sleeper if somebody
//! sleeps and nobody searches. A sleeper does: change the word (SeqCst); fence (SeqCst); read all queues,
//! and stay awake if there is work. The two fences are in one total order. If the pusher's comes first, the sleeper
//! sees the work. If the sleeper's comes first, the pusher sees the sleeper.
//!
//! A pusher that wakes nobody because somebody searches relies on that searcher. It either finds this work; or stops
//! for another reason (mostly other work), and then, as the last searcher, looks at all queues; or finds nothing, goes
//! to sleep, and looks at all queues then. Either way it changes the word, passes a fence, and looks. The pusher did
//! not see that change, so the pusher's fence comes first, and the look sees the work.
//!
//! Waking costs microseconds, so a pusher that is about to do it first looks for a moment, unless all workers sleep,
//! whether the work has been taken or somebody has begun to search. Both are read after the pusher's fence, so they
//! mean what they meant above.
//!
//! # Which work counts
//!
//! Waking a thread costs a hundred times what a task costs, so a worker wakes others for its *surplus*: what lies on
//! its queues beyond the one task that it is going to run itself when the current poll returns. A worker that searches
//! anyway takes that one task, too, if it lies in a deque; one that was pushed onto the empty LIFO queue
//! (`lifo_slot.rs`) only if its worker has not been seen for a while (`STALLED_AFTER`). For a searcher that is about
//! to begin a poll it counts as surplus. Should the poll not return, the monitor sends somebody for it (`rescue/`).
//! Work in the injector is always surplus. For surplus of a worker that goes on one sleeper is not woken: the responder
//! (`responder.rs`). The proof above is then about all others; the monitor wakes that one, should the worker get stuck.
//!
//! Of two tasks one is surplus. But if one of them has just yielded, no poll is under way, and it waits for one poll of
//! the other. As long as polls are short nobody notices that, while a call takes microseconds on both sides, and a task
//! that is stolen goes on far from its data: then nobody is called. (A connection that multiplexes streams yields like
//! that at each message, beside the handler that it has woken.) If the other task yields, too, both may go on and on,
//! and there is a surplus.

#[cfg(all(test, loom))]
mod loom_tests;

use std::hint::spin_loop;

use crate::primitive::Mutex;
use crate::primitive::atomic::Ordering::{Relaxed, SeqCst};
use crate::primitive::atomic::{AtomicU32, fence};
use crate::runtime::MAX_WORKER_THREADS;

const SEARCHING: u32 = 1;
const SLEEPING: u32 = 1 << 16;

/// How many workers search and how many sleep, at one moment.
#[derive(Clone, Copy, Debug)]
struct Counts(u32);

impl Counts {
    fn searching(self) -> u32 {
        self.0 % SLEEPING
    }

    fn sleeping(self) -> u32 {
        self.0 / SLEEPING
    }
}

/// Which workers sleep, and how many search.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Read by every push of surplus, written when a worker changes its state. On a line of its own.
    counts: AtomicU32,
    /// The last to go to sleep is the first to be woken: its caches are warm.
    sleepers: Mutex<Vec<usize>>,
    workers: u32,
    /// The most workers that may search at once: half of them.
    searchers: u32,
}

impl Idle {
    /// The number of looks before a sleeper is woken, which take a hundred nanoseconds or two.
    const LOOKS_BEFORE_WAKE: u32 = if cfg!(loom) { 1 } else { 16 };

    pub(crate) fn new(workers: usize) -> Self {
        // Each count has sixteen bits.
        const { assert!(MAX_WORKER_THREADS < SLEEPING as usize) };
        assert!(workers <= MAX_WORKER_THREADS);
        Self {
            counts: AtomicU32::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers: workers as u32,
            searchers: workers.div_ceil(2) as u32,
        }
    }

    /// After work was made visible: the worker to unpark for it, if one is needed. It counts as searching from now on.
    /// `spared` tells which worker is not to be woken, if there is one, and `is_taken` whether the work has gone to
    /// somebody meanwhile. Both are called after the fence.
    #[inline]
    #[must_use]
    pub(crate) fn wake_one(
        &self,
        spared: impl FnOnce() -> Option<usize>,
        is_taken: impl Fn() -> bool,
    ) -> Option<usize> {
        // Pairs with the fence in `start_sleep`.
        fence(SeqCst);
        if self.is_help_needed() { self.wake_unless_taken(spared(), is_taken) } else { None }
    }

    /// Waking a thread takes microseconds of the caller's time and of the other's. A worker that is awake may be just
    /// about to come by, as in a conversation between a task and a future in `block_on`: gives it a moment.
    #[cold]
    fn wake_unless_taken(&self, spared: Option<usize>, is_taken: impl Fn() -> bool) -> Option<usize> {
        let may_come = |worker: &usize| Some(*worker) != spared;
        // The looks would be for nobody. (The number of sleepers does not tell: the spared one may be awake.)
        if spared.is_some() && !self.sleepers.lock().iter().any(may_come) {
            return None;
        }
        if !self.all_asleep() {
            for _ in 0..Self::LOOKS_BEFORE_WAKE {
                if is_taken() || !self.is_help_needed() {
                    return None;
                }
                spin_loop();
            }
        }
        self.take_sleeper(may_come)
    }

    fn is_help_needed(&self) -> bool {
        let counts = Counts(self.counts.load(SeqCst));
        counts.sleeping() > 0 && counts.searching() == 0
    }

    #[cold]
    fn take_sleeper(&self, may_come: impl Fn(&usize) -> bool) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // Another pusher may have been quicker: one searcher is enough.
        if !self.is_help_needed() {
            return None;
        }
        self.move_sleeper(&mut sleepers, may_come)
    }

    /// One that sleeps counts as searching from now on: the last to go to sleep of those that may come.
    fn move_sleeper(&self, sleepers: &mut Vec<usize>, may_come: impl Fn(&usize) -> bool) -> Option<usize> {
        let at = sleepers.iter().rposition(may_come)?;
        self.counts.fetch_add(SEARCHING.wrapping_sub(SLEEPING), SeqCst);
        Some(sleepers.remove(at))
    }

    /// A worker to unpark whether or not somebody searches: for a duty that is not work, such as the driver.
    #[must_use]
    pub(crate) fn wake_any(&self) -> Option<usize> {
        self.wake_one_of(|_| true)
    }

    /// The same, of certain workers.
    #[must_use]
    pub(crate) fn wake_one_of(&self, which: impl Fn(usize) -> bool) -> Option<usize> {
        fence(SeqCst);
        if self.sleepers() == 0 {
            return None;
        }
        self.move_sleeper(&mut self.sleepers.lock(), |&worker| which(worker))
    }

    /// How many sleep.
    pub(crate) fn sleepers(&self) -> usize {
        Counts(self.counts.load(SeqCst)).sleeping() as usize
    }

    /// A running worker wants to search. Half of the workers may.
    pub(crate) fn start_search(&self) -> bool {
        let counts = Counts(self.counts.load(Relaxed));
        // Two may pass here at once: the bound is for economy, and need not be exact.
        if counts.searching() >= self.searchers {
            return false;
        }
        self.counts.fetch_add(SEARCHING, SeqCst);
        true
    }

    /// Whether nobody searches but the caller. (Only for economy: the answer may be out of date.)
    pub(crate) fn is_only_searcher(&self) -> bool {
        Counts(self.counts.load(Relaxed)).searching() == 1
    }

    /// A searching worker found work. True if it was the last: then it must look whether there is more.
    #[must_use]
    pub(crate) fn stop_search(&self) -> bool {
        let last = Counts(self.counts.fetch_sub(SEARCHING, SeqCst)).searching() == 1;
        if last {
            // Pairs with the fence in `wake_one`: the look that follows sees what a pusher left to this searcher.
            fence(SeqCst);
        }
        last
    }

    /// A worker without work goes to sleep. It must then look at everything once more before it sleeps.
    pub(crate) fn start_sleep(&self, worker: usize, searching: bool) {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(worker);
        let change = if searching { SLEEPING.wrapping_sub(SEARCHING) } else { SLEEPING };
        self.counts.fetch_add(change, SeqCst);
        drop(sleepers);
        // Pairs with the fence in `wake_one`.
        fence(SeqCst);
    }

    /// A worker wakes up. True if somebody woke it for work: then it counts as searching already.
    #[must_use]
    pub(crate) fn end_sleep(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        match sleepers.iter().rposition(|&sleeper| sleeper == worker) {
            None => true,
            Some(at) => {
                sleepers.remove(at);
                self.counts.fetch_sub(SLEEPING, SeqCst);
                false
            }
        }
    }

    /// A worker that looked once more before sleeping, and saw work, searches for it, whatever the bound.
    pub(crate) fn resume_search(&self) {
        self.counts.fetch_add(SEARCHING, SeqCst);
    }

    /// Whether as many sleep as there are workers. (With spare workers about, that need not be all.)
    pub(crate) fn all_asleep(&self) -> bool {
        Counts(self.counts.load(SeqCst)).sleeping() >= self.workers
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_workers_may_search() {
        assert!(Idle::new(1).start_search());
        let idle = Idle::new(4);
        assert!(idle.start_search());
        assert!(idle.start_search());
        assert!(!idle.start_search());
        assert!(!idle.stop_search());
        assert!(idle.stop_search(), "the last one out");
    }

    #[test]
    fn one_searcher_is_enough() {
        let idle = Idle::new(3);
        idle.start_sleep(0, false);
        idle.start_sleep(1, false);
        assert_eq!(idle.wake_one(|| None, || false), Some(1), "the last to go to sleep wakes up first");
        assert_eq!(idle.wake_one(|| None, || false), None, "somebody searches");
        assert!(idle.end_sleep(1), "counted as searching by the one who woke it");
        assert!(idle.stop_search());
        assert_eq!(idle.wake_one(|| None, || false), Some(0));
        assert_eq!(idle.wake_any(), None, "nobody sleeps");
    }

    #[test]
    fn a_worker_that_gets_up_by_itself_is_not_woken_again() {
        let idle = Idle::new(2);
        idle.start_sleep(0, false);
        idle.start_sleep(1, false);
        assert!(idle.all_asleep());
        assert!(!idle.end_sleep(0));
        assert_eq!(idle.wake_one(|| None, || false), Some(1));
        assert!(!idle.all_asleep());
    }

    #[test]
    fn a_worker_that_is_spared_stays_asleep() {
        let idle = Idle::new(2);
        idle.start_sleep(0, false);
        idle.start_sleep(1, false);
        assert_eq!(idle.wake_one(|| Some(1), || false), Some(0), "though the other one was the last to go to sleep");
        assert!(idle.stop_search());
        assert_eq!(idle.wake_one(|| Some(1), || panic!("a look for nobody")), None);
        assert_eq!(idle.wake_one(|| None, || false), Some(1));
    }
}
