//! Blocking in place: what a worker does when its task says that it is going to block (`block_in_place`).
//!
//! It keeps its core, as a worker that is stuck without a word does, and others see to its work in the same way: they
//! steal it. What it says is only that they shall not wait for the monitor. So it
//!
//! 1. leaves on its queues nothing that thieves leave alone, and marks its slot, so that even a single task on its
//!    queues counts as work that somebody should come for;
//! 2. counts itself as blocking in place (`spare_count.rs`); if there are now too few spares and no worker sleeps,
//!    starts one;
//! 3. otherwise wakes a sleeper, if there is a task on its queues, or nobody is in the drivers. If nobody sleeps, those
//!    who are awake come by: a spare that was about to retire finds that it is needed, and one that was about to go to
//!    sleep looks at all queues after it has said so (`idle/`), and finds the mark.
//!
//! While it blocks in place the thread is outside of the runtime: what the blocking code spawns or wakes takes the way
//! of remote threads, and it may even block on a future.
//!
//! # Shutdown
//!
//! does not wait for the blocking code: that may itself wait for a task which only shutdown ends. The core is lent
//! (`cores.rs`), so the scheduler can be ended beside it. Then the poll at hand goes on without a core, as outside of
//! the runtime, until it returns. Its task was marked as cancelled, and is dropped then. The runtime's end as a whole
//! waits for that, as it does for blocking tasks.
//!
//! The thread that begins to block in place may be the last one in use while the runtime closes, or may close it. It
//! does not end the scheduler itself, in the middle of somebody's poll, but has a thread do it.
//!
//! A `block_on` thread (`block_on.rs`) lends its core in the same way, for the same reason; it needs nobody in its
//! place.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Arc, mpsc};

use super::cores::AllCores;
use super::{Multi, Shared, Worker};
use crate::context;
use crate::coop::Budget;
use crate::runtime::{Inner, Thread};
use crate::scheduler::ThreadRole;
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
        // Outside of a poll the worker is known to others as one that searches or sleeps, and may have something in its
        // hands: so in a hook, even if that drives or drops a task by itself.
        if !self.is_block_on() && !self.slot().activity.is_polling() {
            return outside(f);
        }
        let role = context::take_role(ThreadRole::BlockingInPlace(NonNull::from(&**self.runtime())));
        let _back = Back { worker: self, role: ManuallyDrop::new(role) };
        self.begin_block_in_place();
        outside(f)
    }

    #[cold]
    fn begin_block_in_place(&self) {
        let (shared, runtime) = (self.shared(), self.runtime());
        self.exchange_frees();
        self.core.run_queue.offer_lone();
        self.slot().activity.set_blocking_in_place(true);
        if let Some(cores) = shared.cores.begin_block_in_place() {
            shared.finale_here_or_elsewhere(runtime, cores);
        }
        if self.is_block_on() {
            // Nobody relies on it for anything.
            return;
        }
        let too_few = shared.spares.count.begin_block_in_place();
        if too_few && !shared.has_sleepers() && shared.start_spare(runtime) {
            return;
        }
        // Somebody was woken for everything else.
        if self.has_queued() {
            shared.notify(runtime, || false);
        }
        shared.ensure_driver_attended(runtime);
    }
}

/// Brings a worker back that blocks in place.
struct Back<'a, P> {
    worker: &'a Worker,
    /// What gives the thread its role back.
    role: ManuallyDrop<P>,
}

impl<P> Drop for Back<'_, P> {
    fn drop(&mut self) {
        let shared = self.worker.shared();
        if !self.worker.is_block_on() {
            shared.spares.count.end_block_in_place();
        }
        if shared.cores.end_block_in_place() {
            self.worker.slot().activity.set_blocking_in_place(false);
            if !self.worker.is_block_on() {
                // It may have slept while all others did.
                shared.monitor.wake_if_asleep();
            }
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.role) };
        } else {
            self.worker.revoke_core();
            // For what is left of this poll, and of this worker. (A `block_on` thread's future goes on after it, as
            // outside.)
            let runtime = NonNull::from(&**self.worker.runtime());
            let role = if self.worker.is_block_on() { ThreadRole::External } else { ThreadRole::CoreRevoked(runtime) };
            std::mem::forget(context::take_role(role));
        }
    }
}

impl Shared {
    /// Ends the scheduler: not in the middle of a poll of a thread that blocks in place, of whatever runtime.
    pub(super) fn finale_here_or_elsewhere(&self, runtime: &Arc<Inner>, cores: AllCores) {
        if !matches!(context::role(), ThreadRole::BlockingInPlace(_) | ThreadRole::CoreRevoked(_)) {
            return self.finale(runtime, &cores);
        }
        let (send_cores, receive_cores) = mpsc::channel::<AllCores>();
        let for_thread = Arc::clone(runtime);
        let started = Thread::start(runtime.threads.finale_builder(), move || {
            if let Ok(cores) = receive_cores.recv() {
                Multi::shared(&for_thread).finale(&for_thread, &cores);
            }
        });
        match started {
            Ok(thread) => {
                // Before the end is told, by the thread that waits for it to join the others.
                self.cores.add_thread(thread);
                // The thread waits for it.
                let _ = send_cores.send(cores);
            }
            // Better in the middle of a poll than not at all.
            Err(_) => self.finale(runtime, &cores),
        }
    }
}
