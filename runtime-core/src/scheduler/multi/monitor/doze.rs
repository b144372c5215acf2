//! The monitor's own sleep, and who ends it.
//!
//! The monitor has nothing to do while all workers sleep, but must be up as soon as one is. It sleeps without a timeout,
//! and a worker that gets up ends that sleep; which must not cost a worker more than a load when the monitor is up.
//!
//! The monitor does: set `asleep`; fence (SeqCst); look whether all is quiet still, and sleep. A worker that gets up does:
//! change the idle word; fence (SeqCst); look at `asleep`, and wake the monitor if it is set. One of the fences is first
//! in their common order: if the monitor's, the worker sees `asleep`; if the worker's, the monitor sees that it is up.

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

    /// The monitor sleeps until it is woken, or `is_quiet` no longer holds.
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
}
