//! The end of the scheduler: how its threads stop, and what happens to the tasks. (`threads.rs` has the beginning.)
//!
//! Closing sets a flag and wakes every thread that has a core (`cores.rs`); each finishes its poll, puts its core down,
//! and goes. The last one to put its core down performs the *finale*, alone: nobody polls tasks of the runtime any
//! more, and none ever will, but for those threads that block in place.
//!
//! 1. The spawn locks of the remote arenas are closed: their spawns are refused from now on. (Workers' own arenas get
//!    tasks from workers only.)
//! 2. Every task in every arena that is not complete is cancelled: its future is dropped, its joiner told. One that is
//!    being polled by a thread that blocks in place (`block_in_place.rs`) is marked, and cancelled by that thread.
//! 3. All queues are closed (`../closing.rs`) and emptied. What is in them belongs to complete tasks: references,
//!    nothing more. A waker that was past its change of state but not yet in the queue finds the flag after its push
//!    and empties the queue itself.
//! 4. The driver is closed: each task that still waits on a socket or a timer is woken and finds an error. So are those
//!    that the workers were yet to wake.
//! 5. The arenas are given up, and the tasks still held by somebody are counted (`task/outstanding.rs`).
//!
//! Then the threads that wait for the end are told.

use std::sync::Arc;
use std::time::Duration;
use std::{iter, ptr};

use super::cores::AllCores;
use super::{Shared, take_one};
use crate::clock::Clock;
use crate::context::{self, RuntimeGuard};
use crate::runtime::{Inner, join_threads};
use crate::scheduler::ThreadRole;
use crate::task::{Notified, Runner};

impl Shared {
    /// Begins the shutdown. Any number of threads may; it happens once.
    pub(crate) fn close(&self, runtime: &Arc<Inner>) {
        let (is_first, cores) = self.cores.close(|| self.control.close());
        if !is_first {
            return;
        }
        self.all_slots().for_each(|slot| slot.wakeup.unpark(&*runtime.drivers.unpark, || ()));
        self.spares.close();
        self.monitor.unpark();
        if let Some(cores) = cores {
            self.finale_here_or_elsewhere(runtime, cores);
        }
    }

    /// Waits until the finale is over and the threads are gone. False if that takes longer than the limit.
    pub(crate) fn wait_closed(&self, runtime: &Inner, limit: Option<Duration>) -> bool {
        // Not for itself.
        let own = match context::role() {
            ThreadRole::BlockingInPlace(of) | ThreadRole::CoreRevoked(of) => usize::from(ptr::eq(of.as_ptr(), runtime)),
            _ => 0,
        };
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        let Some(threads) = self.cores.wait_finished(own, limit) else { return false };
        join_threads(threads, deadline);
        // Only now is nobody left that could start one.
        join_threads(self.spares.take_threads(), deadline);
        true
    }

    /// Ends the scheduler, in the steps that the module explains.
    pub(super) fn finale(&self, runtime: &Arc<Inner>, cores: &AllCores) {
        // What runs here of the user's finds the runtime around it, as on a worker, even if this thread is not one.
        let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
        let _entered = context::try_enter();
        // It counts as the owner of no arena: what dies while the arenas are walked goes to the return stacks.
        let completions = Some(&self.remote_spawns[0].locked_counters().completions);
        let runner = Runner { events: Some(&runtime.events), completions, ..Runner::NOBODY };
        self.remote_spawns.iter().for_each(|remote| remote.close_spawns());
        // SAFETY: no core is in use. So nobody polls tasks of this runtime but those who block in place, and those do
        // not touch their arenas until they are back, and not then either: all arenas are this thread's. It has no role
        // at the scheduler, so a task released meanwhile goes to its arena's return stack.
        self.arenas().for_each(|arena| unsafe { arena.guard().cancel_all(&runner) });
        self.queues.close(|| {
            self.empty_queues();
            cores.iter().flat_map(|core| core.run_queue.drain()).for_each(drop::<Notified>);
            // Of those whose cores are lent; nobody pushes there any more.
            self.all_slots().flat_map(|slot| slot.run_queue.drain()).for_each(drop::<Notified>);
        });
        self.driver.shutdown();
        self.call_external_wakers(|| ());
        // SAFETY: as above.
        let left = self.arenas().map(|arena| unsafe { arena.guard().close() }).sum();
        runtime.add_outstanding(left);
        self.cores.finish();
    }

    /// Drops the references that lie in the queues that belong to no worker, all of tasks that are complete. (Waking
    /// may still inject.)
    pub(super) fn empty_queues(&self) {
        iter::from_fn(|| take_one(&self.injector)).chain(self.quarantine.drain()).for_each(drop::<Notified>);
    }
}
