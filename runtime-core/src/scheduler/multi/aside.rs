//! Stepping aside: what a worker does whose task says that it is going to block (`block_in_place`).
//!
//! It keeps its core, as a worker that is stuck without a word does, and others see to its work in the same way: they
//! steal it. What it says is only that they shall not wait for the monitor. So it
//!
//! 1. leaves on its lanes nothing that thieves leave alone, and marks its slot, so that even a single task on its lanes
//!    counts as work that somebody should come for;
//! 2. counts itself as aside (`balance.rs`); if there are now too few spares and no worker sleeps, starts one;
//! 3. otherwise wakes a sleeper, if there is a task on its lanes, or nobody is in the drivers. If nobody sleeps, those
//!    who are up come by: a spare that was about to retire finds that it is needed, and one that was about to lie down
//!    looks at all lanes after it has said so (`idle/`), and finds the mark.
//!
//! While it is aside the thread is outside of the runtime: what the blocking code spawns or wakes takes the way of
//! foreign threads, and it may even block on a future.
//!
//! # Shutdown
//!
//! does not wait for the blocking code: that may itself wait for a task which only shutdown ends. The core is lent
//! (`lifecycle.rs`), so the scheduler can be ended beside it. Then the poll at hand goes on without a core, as outside
//! of the runtime, until it returns. Its task was marked as cancelled, and is dropped then. The runtime's end as a
//! whole waits for that, as it does for blocking tasks.
//!
//! The thread that steps aside may be the last one in use while the runtime closes, or may close it. It does not end
//! the scheduler itself, in the middle of somebody's poll, but has a thread do it.
//!
//! A guest (`guest.rs`) lends its core in the same way, for the same reason; it needs nobody in its place.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Arc, mpsc};

use super::lifecycle::AllCores;
use super::{Multi, Shared, Worker};
use crate::context;
use crate::coop::Budget;
use crate::runtime::Inner;
use crate::scheduler::Place;
use crate::task::current;

/// Runs code that blocks on a thread that holds nobody up.
pub(crate) fn outside<R>(f: impl FnOnce() -> R) -> R {
    let _outside = context::leave_for_a_while();
    let _budget = current::replace_budget(Budget::UNCONSTRAINED);
    current::outside_of_poll(f)
}

impl Worker {
    /// Runs code that blocks in the middle of a poll.
    pub(crate) fn block_in_place<R>(&self, f: impl FnOnce() -> R) -> R {
        // Outside of a poll, in a hook, the worker is known to others as one that searches or sleeps.
        if !self.is_guest() && current::task_id().is_none() {
            return outside(f);
        }
        let place = context::take_place(Place::Aside(NonNull::from(&**self.runtime())));
        let _back = Back { worker: self, place: ManuallyDrop::new(place) };
        self.step_aside();
        outside(f)
    }

    #[cold]
    fn step_aside(&self) {
        let (shared, runtime) = (self.shared(), self.runtime());
        self.exchange_dead();
        self.core.lanes.offer_lone();
        self.slot().current.step_aside(true);
        if let Some(cores) = shared.lifecycle.step_aside() {
            shared.finale_here_or_elsewhere(runtime, cores);
        }
        if self.is_guest() {
            // Nobody relies on it for anything.
            return;
        }
        let too_few = shared.spares.balance.step_aside();
        if too_few && !shared.has_sleepers() && shared.start_spare(runtime) {
            return;
        }
        // Somebody was woken for everything else.
        if self.has_queued() {
            shared.notify(runtime, || false);
        }
        shared.see_to_drivers(runtime);
    }
}

/// Brings a worker back that has stepped aside.
struct Back<'a, P> {
    worker: &'a Worker,
    /// What gives the thread its place back.
    place: ManuallyDrop<P>,
}

impl<P> Drop for Back<'_, P> {
    fn drop(&mut self) {
        let shared = self.worker.shared();
        if !self.worker.is_guest() {
            shared.spares.balance.step_back();
        }
        if shared.lifecycle.step_back() {
            self.worker.slot().current.step_aside(false);
            if !self.worker.is_guest() {
                // It may have slept while all others did.
                shared.monitor.wake_if_asleep();
            }
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.place) };
        } else {
            self.worker.lose_core();
            // For what is left of this poll, and of this worker. (A guest's future goes on after it, as outside.)
            let runtime = NonNull::from(&**self.worker.runtime());
            let place = if self.worker.is_guest() { Place::Outside } else { Place::Lost(runtime) };
            std::mem::forget(context::take_place(place));
        }
    }
}

impl Shared {
    /// Ends the scheduler: not in the middle of a poll of somebody who is aside, of whatever runtime.
    pub(super) fn finale_here_or_elsewhere(&self, runtime: &Arc<Inner>, cores: AllCores) {
        if !matches!(context::place(), Place::Aside(_) | Place::Lost(_)) {
            return self.finale(runtime, &cores);
        }
        let (send_cores, receive_cores) = mpsc::channel::<AllCores>();
        let for_thread = Arc::clone(runtime);
        let started = runtime.threads.finale_builder().spawn(move || {
            if let Ok(cores) = receive_cores.recv() {
                Multi::shared(&for_thread).finale(&for_thread, &cores);
            }
        });
        match started {
            Ok(thread) => {
                // Before the end is told, by whoever waits for it to join the threads.
                self.lifecycle.add_thread(thread);
                // The thread waits for it.
                let _ = send_cores.send(cores);
            }
            // Better in the middle of a poll than not at all.
            Err(_) => self.finale(runtime, &cores),
        }
    }
}
