//! The monitor's own sleep, and who ends it.
//!
//! The monitor has nothing to do while all workers sleep, but must be up as soon as one is. It sleeps without a
//! timeout, and a worker that gets up ends that sleep; which must not cost a worker more than a load when the monitor
//! is up.
//!
//! The monitor does: set `asleep`; fence (SeqCst); look whether all is quiet still, and sleep. A worker that gets up
//! does: change the idle word; fence (SeqCst); look at `asleep`, and wake the monitor if it is set. One of the fences
//! is first in their common order: if the monitor's, the worker sees `asleep`; if the worker's, the monitor sees that
//! it is up.
//!
//! Getting up is also to come back from `block_in_place`, which takes one off those aside (`../balance.rs`). It does
//! the same after that change. And it is to begin as a spare: that is counted as running by who starts it, and gets a
//! core later, when it does the rest. What the starter did happens before what its thread does, so the fence stands
//! after the count there, too.
//!
//! All is quiet if as many sleep (the idle word) as there are workers and spares, less those aside (the balance). The
//! two words are read at two moments, but a thread that is up is not overlooked by that. If it does not wake the
//! monitor it got up before the fence, so neither word tells of it as away, and one sleeper is missing from the sum.
//! Only another thread could make up for it, one that was asleep at the one moment and aside, or no running spare, at
//! the other. That one has got up, or begun, in between, and wakes the monitor.

use crate::primitive::atomic::AtomicBool;
use crate::primitive::atomic::Ordering::{Relaxed, SeqCst};
use crate::primitive::atomic::fence;
use crate::primitive::{Parker, Unparker};

/// What the workers have of the monitor's sleep. See the module.
#[derive(Debug)]
pub(super) struct Doze {
    asleep: AtomicBool,
    unparker: Unparker,
}

impl Doze {
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

    /// A worker has got up, and has said so.
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
    use crate::scheduler::multi::balance::Balance;
    use crate::scheduler::multi::idle::Idle;

    /// A worker gets up while the monitor lies down. A monitor that sleeps on although a worker is up is a deadlock.
    #[test]
    fn loom_the_monitor_does_not_sleep_while_a_worker_is_up() {
        loom::model(|| {
            let (doze, parker) = Doze::new();
            let shared = Arc::new((doze, AtomicBool::new(false)));
            let worker = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (doze, is_up) = &*shared;
                    is_up.store(true, Relaxed);
                    doze.wake();
                })
            };
            let (doze, is_up) = &*shared;
            doze.sleep_while(&parker, || !is_up.load(Relaxed));
            worker.join().unwrap();
        });
    }

    /// What the monitor looks at, and its sleep.
    struct Model {
        doze: Doze,
        idle: Idle,
        balance: Balance,
    }

    impl Model {
        const WORKERS: usize = 2;

        /// The one worker sleeps, and the other is aside. There may be a spare.
        fn new() -> (Arc<Self>, Parker) {
            let (doze, parker) = Doze::new();
            let model = Self { doze, idle: Idle::new(Self::WORKERS + 1), balance: Balance::new() };
            model.idle.start_sleep(0, false);
            assert!(model.balance.step_aside());
            (Arc::new(model), parker)
        }

        /// As the monitor does.
        fn sleep(&self, parker: &Parker) {
            self.doze.sleep_while(parker, || self.balance.at_rest(Self::WORKERS) == Some(self.idle.sleepers()));
        }
    }

    /// A worker comes back from `block_in_place` while the other sleeps.
    #[test]
    fn loom_the_monitor_does_not_sleep_while_a_worker_is_back_that_was_aside() {
        loom::model(|| {
            let (model, parker) = Model::new();
            let worker = {
                let model = model.clone();
                thread::spawn(move || {
                    model.balance.step_back();
                    model.doze.wake();
                })
            };
            model.sleep(&parker);
            worker.join().unwrap();
        });
    }

    /// One worker gets up and stays so, while the other comes back and lies down: one sleeps, as was to be expected
    /// while the other was aside.
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
                    model.doze.wake();
                })
            };
            let other = {
                let model = model.clone();
                thread::spawn(move || {
                    model.balance.step_back();
                    model.doze.wake();
                    model.idle.start_sleep(1, false);
                })
            };
            model.sleep(&parker);
            [one, other].into_iter().for_each(|worker| worker.join().unwrap());
        });
    }

    /// A spare begins in the place of the one that is aside.
    #[test]
    fn loom_the_monitor_does_not_sleep_while_a_spare_is_up() {
        loom::model(|| {
            let (model, parker) = Model::new();
            let spare = {
                let model = model.clone();
                thread::spawn(move || {
                    assert!(model.balance.start(1));
                    model.doze.wake();
                })
            };
            model.sleep(&parker);
            spare.join().unwrap();
        });
    }

    /// One worker gets up and stays so, while a spare is started for the other, finds nothing to do, and lies down: one
    /// sleeps, as was to be expected while there was no spare.
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
                    model.doze.wake();
                })
            };
            let spare = {
                let model = model.clone();
                thread::spawn(move || {
                    assert!(model.balance.start(1));
                    model.doze.wake();
                    model.idle.start_sleep(Model::WORKERS, false);
                })
            };
            model.sleep(&parker);
            [one, spare].into_iter().for_each(|worker| worker.join().unwrap());
        });
    }
}
