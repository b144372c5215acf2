//! `block_on`: the calling thread lends a hand while it waits.
//!
//! Most programs' main future runs here. If it were only polled, whatever it spawns and wakes would have to cross to
//! another thread. So the caller takes one of a few spare cores and is a worker of a limited kind, a *guest*: what its
//! future spawns and wakes goes to its own lanes; while the future waits, it runs what lies there; others may steal it. It
//! does not search, takes nothing from the injector and is never woken for work, so it does not crowd out the
//! workers proper. When its future is done, it puts what is left into the injector.
//!
//! A caller that finds no spare core, or whose runtime is shut down meanwhile, just waits.

use std::future::Future;
use std::pin::pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crossbeam_utils::sync::{Parker, Unparker};

use super::{Multi, Worker};
use crate::context;
use crate::primitive::atomic::AtomicBool;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire};
use crate::runtime::Inner;
use crate::scheduler::Place;

/// Wakes the future of a `block_on`.
struct MainWaker {
    woken: AtomicBool,
    runtime: Arc<Inner>,
    /// The guest's slot, if the caller has one.
    slot: Option<usize>,
    /// For a caller that just waits.
    unparker: Unparker,
}

impl MainWaker {
    fn take(&self) -> bool {
        // A plain look first: the exchange is for when there is something to take.
        self.woken.load(Acquire) && self.woken.swap(false, AcqRel)
    }
}

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.woken.swap(true, AcqRel) {
            return;
        }
        if let Some(slot) = self.slot {
            Multi::shared(&self.runtime).unpark(&self.runtime, slot);
        }
        // Also with a slot: should the runtime close, the caller goes on without one.
        self.unparker.unpark();
    }
}

/// Drives a future to its end on the calling thread. The caller has entered the runtime's context.
pub(crate) fn block_on<F: Future>(runtime: &Arc<Inner>, future: F) -> F::Output {
    let mut future = pin!(future);
    let shared = Multi::shared(runtime);
    let parker = Parker::new();
    let core = shared.lifecycle.take_vacant();
    let main = Arc::new(MainWaker {
        woken: AtomicBool::new(true),
        runtime: Arc::clone(runtime),
        slot: core.as_ref().map(|core| core.index),
        unparker: parker.unparker().clone(),
    });
    let waker = Waker::from(Arc::clone(&main));
    let mut poll = || {
        let _budget = context::replace_budget(runtime.budget);
        future.as_mut().poll(&mut Context::from_waker(&waker))
    };
    if let Some(core) = core {
        // Dropped on the way out, also when the future panics: the core goes back.
        let guest = Guest { worker: Some(Worker::new(Arc::clone(runtime), core)) };
        shared.monitor.guest_awake();
        if let Poll::Ready(output) = guest.run(&main, &mut poll) {
            return output;
        }
    }
    loop {
        if main.take() {
            if let Poll::Ready(output) = poll() {
                return output;
            }
        } else {
            parker.park();
        }
    }
}

/// A caller of `block_on` with a core.
struct Guest {
    worker: Option<Worker>,
}

impl Guest {
    fn worker(&self) -> &Worker {
        self.worker.as_ref().expect("taken only by drop")
    }

    /// Until the future is done, or the runtime closes (`Pending`).
    fn run<T>(&self, main: &MainWaker, poll: &mut impl FnMut() -> Poll<T>) -> Poll<T> {
        let worker = self.worker();
        let _place = context::take_place(Place::Multi(NonNull::from(worker)));
        while !worker.shared().is_closing() {
            if main.take() {
                let polled = poll();
                if polled.is_ready() {
                    return polled;
                }
            }
            if worker.maintenance_due() {
                worker.maintain();
            }
            if let Some(task) = worker.core().lanes.next(None) {
                worker.execute(task);
            } else if !main.woken.load(Acquire) {
                worker.shared().monitor.guest_sleeps();
                worker.park();
                worker.shared().monitor.guest_awake();
            }
        }
        Poll::Pending
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let worker = self.worker.take().expect("dropped once");
        let runtime = worker.runtime_arc();
        let shared = Multi::shared(&runtime);
        shared.monitor.guest_sleeps();
        let mut left = false;
        for task in worker.core().lanes.drain() {
            shared.injector.push(task);
            left = true;
        }
        if left {
            shared.notify(&runtime);
        }
        let waited_in_driver = worker.waited_in_driver();
        shared.leave(&runtime, worker.into_core());
        if waited_in_driver {
            shared.hand_over_driver(&runtime);
        }
    }
}
