//! [`MonitorPark`]: the monitor's own sleep, and how workers end it.
//!
//! The monitor has nothing to do while all workers sleep, but must be awake as soon as one is. It sleeps without a
//! timeout, and a worker that wakes up ends that sleep; which must not cost a worker more than a load when the monitor
//! is awake.
//!
//! The monitor does: set `asleep`; fence (SeqCst); look whether all is quiet still, and sleep. A worker that wakes up
//! does: change the idle word; fence (SeqCst); look at `asleep`, and wake the monitor if it is set. One of the fences
//! is first in their common order: if the monitor's, the worker sees `asleep`; if the worker's, the monitor sees that
//! it is awake.
//!
//! Waking up is also to come back from `block_in_place`, which takes one off those that block in place
//! (`../spare_count.rs`). It does the same after that change. And it is to begin as a spare: that is counted as running
//! by the thread that starts it, and gets a core later, when it does the rest. What the starter did happens before what
//! its thread does, so the fence stands after the count there, too.
//!
//! All is quiet if as many sleep (the idle word) as there are workers and spares, less those that block in place
//! (`../spare_count.rs`). The two words are read at two moments, but a thread that is awake is not overlooked by that.
//! If it does not wake the monitor it woke up before the fence, so neither word tells of it as away, and one sleeper is
//! missing from the sum. Only another thread could make up for it, one that was asleep at the one moment and blocking
//! in place, or no running spare, at the other. That one has woken up, or begun, in between, and wakes the monitor.

use crate::primitive::atomic::AtomicBool;
use crate::primitive::atomic::Ordering::{Relaxed, SeqCst};
use crate::primitive::atomic::fence;
use crate::primitive::{Parker, Unparker};

/// Whether the monitor sleeps, and how a worker wakes it.
#[derive(Debug)]
pub(super) struct MonitorPark {
    asleep: AtomicBool,
    unparker: Unparker,
}

impl MonitorPark {
    /// And what the monitor needs beside it.
    pub(super) fn new() -> (Self, Parker) {
        let parker = Parker::new();
        (Self { asleep: AtomicBool::new(false), unparker: parker.unparker().clone() }, parker)
    }

    /// The monitor sleeps until it is woken, unless `is_quiet` no longer holds.
    pub(super) fn sleep_while(&self, parker: &Parker, is_quiet: impl Fn() -> bool) {
        self.asleep.store(true, Relaxed);
        fence(SeqCst);
        while self.asleep.load(Relaxed) && is_quiet() {
            parker.park();
        }
        self.asleep.store(false, Relaxed);
    }

    /// A worker has woken up, and has said so.
    #[inline]
    pub(super) fn wake(&self) {
        fence(SeqCst);
        if self.asleep.load(Relaxed) && self.asleep.swap(false, Relaxed) {
            self.unparker.unpark();
        }
    }

    /// Ends the monitor's wait, of whatever kind, for shutdown.
    pub(super) fn unpark(&self) {
        self.unparker.unpark();
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::scheduler::multi::idle::Idle;
    use crate::scheduler::multi::spare_count::SpareCount;

    /// A worker wakes up while the monitor goes to sleep. A monitor that sleeps on although a worker is awake is a
    /// deadlock.
    #[test]
    fn loom_the_monitor_does_not_sleep_while_a_worker_is_awake() {
        loom::model(|| {
            let (park, parker) = MonitorPark::new();
            let shared = Arc::new((park, AtomicBool::new(false)));
            let worker = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (park, is_awake) = &*shared;
                    is_awake.store(true, Relaxed);
                    park.wake();
                })
            };
            let (park, is_awake) = &*shared;
            park.sleep_while(&parker, || !is_awake.load(Relaxed));
            worker.join().unwrap();
        });
    }

    /// What the monitor looks at, and its sleep.
    struct Model {
        park: MonitorPark,
        idle: Idle,
        count: SpareCount,
    }

    impl Model {
        const WORKERS: usize = 2;

        /// The one worker sleeps, and the other blocks in place. There may be a spare.
        fn new() -> (Arc<Self>, Parker) {
            let (park, parker) = MonitorPark::new();
            let model = Self { park, idle: Idle::new(Self::WORKERS + 1), count: SpareCount::new() };
            model.idle.start_sleep(0, false);
            assert!(model.count.begin_block_in_place());
            (Arc::new(model), parker)
        }

        /// As the monitor does.
        fn sleep(&self, parker: &Parker) {
            self.park.sleep_while(parker, || self.count.at_rest(Self::WORKERS) == Some(self.idle.sleepers()));
        }
    }

    /// A worker comes back from `block_in_place` while the other sleeps.
    #[test]
    fn loom_the_monitor_does_not_sleep_while_a_worker_is_back_from_block_in_place() {
        loom::model(|| {
            let (model, parker) = Model::new();
            let worker = {
                let model = model.clone();
                thread::spawn(move || {
                    model.count.end_block_in_place();
                    model.park.wake();
                })
            };
            model.sleep(&parker);
            worker.join().unwrap();
        });
    }

    /// One worker wakes up and stays so, while the other comes back and goes to sleep: one sleeps, as was to be
    /// expected while the other blocked in place.
    #[test]
    fn loom_the_monitor_is_not_deceived_by_workers_that_take_turns() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let (model, parker) = Model::new();
            let one = {
                let model = model.clone();
                thread::spawn(move || {
                    let _ = model.idle.end_sleep(0);
                    model.park.wake();
                })
            };
            let other = {
                let model = model.clone();
                thread::spawn(move || {
                    model.count.end_block_in_place();
                    model.park.wake();
                    model.idle.start_sleep(1, false);
                })
            };
            model.sleep(&parker);
            [one, other].into_iter().for_each(|worker| worker.join().unwrap());
        });
    }

    /// A spare begins in the place of the one that blocks in place.
    #[test]
    fn loom_the_monitor_does_not_sleep_while_a_spare_is_awake() {
        loom::model(|| {
            let (model, parker) = Model::new();
            let spare = {
                let model = model.clone();
                thread::spawn(move || {
                    assert!(model.count.start(1));
                    model.park.wake();
                })
            };
            model.sleep(&parker);
            spare.join().unwrap();
        });
    }

    /// One worker wakes up and stays so, while a spare is started for the other, finds nothing to do, and goes to
    /// sleep: one sleeps, as was to be expected while there was no spare.
    #[test]
    fn loom_the_monitor_is_not_deceived_by_a_spare_that_begins() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(|| {
            let (model, parker) = Model::new();
            let one = {
                let model = model.clone();
                thread::spawn(move || {
                    let _ = model.idle.end_sleep(0);
                    model.park.wake();
                })
            };
            let spare = {
                let model = model.clone();
                thread::spawn(move || {
                    assert!(model.count.start(1));
                    model.park.wake();
                    model.idle.start_sleep(Model::WORKERS, false);
                })
            };
            model.sleep(&parker);
            [one, spare].into_iter().for_each(|worker| worker.join().unwrap());
        });
    }
}
