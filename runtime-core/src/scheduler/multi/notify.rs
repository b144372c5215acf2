//! How a thread that sleeps is woken, and whether there is anything to wake it for. Which one it is, and whether one is
//! needed at all, the protocol in `idle/` says.

use super::{Shared, Slot};
use crate::clock::Moment;
use crate::runtime::Inner;

impl Shared {
    /// Wakes a `block_on` thread, which may spin for the next call (`spin.rs`).
    pub(in crate::scheduler) fn wake_block_on(&self, runtime: &Inner, slot: usize) {
        let slot = self.slot(slot);
        slot.wakeup.unpark(&*runtime.drivers.unpark, || slot.wake_latency.note_call(Moment::now()));
    }

    /// Wakes a worker, or a `block_on` thread that has tasks to free. A thread that a worker wakes by this does not
    /// spin for the next call: the calling worker can poll by itself what it calls for, and spinning would take a
    /// processor from it or from a client.
    pub(super) fn wake_worker(&self, runtime: &Inner, slot: usize) {
        let slot = self.slot(slot);
        slot.wakeup.unpark(&*runtime.drivers.unpark, || {
            if !Self::is_worker_here(runtime) {
                slot.wake_latency.note_call(Moment::now());
            }
        });
    }

    /// Whether this thread is a worker of the runtime, not a `block_on` thread.
    fn is_worker_here(runtime: &Inner) -> bool {
        Self::worker_here(runtime).is_some_and(|worker| worker.with(|worker| !worker.is_block_on()))
    }

    /// Surplus work was made visible: wakes a worker for it, if need be. `is_taken` tells whether it has gone to
    /// somebody already; it must not look far.
    ///
    /// The responder is not woken for what lies on the queues of workers that go on (`responder.rs`).
    #[inline]
    pub(super) fn notify(&self, runtime: &Inner, is_taken: impl Fn() -> bool) {
        let spared = || self.quarantine.responder().filter(|_| !self.is_any_left_to_others());
        if let Some(worker) = self.idle.wake_one(spared, is_taken) {
            self.wake_worker(runtime, worker);
        }
    }

    /// Whether a worker sleeps that would take whatever there is. (Wrongly yes while the responder queues a part of
    /// what the drivers bring: the monitor looks again.)
    pub(super) fn has_sleepers(&self) -> bool {
        let responder = self.quarantine.responder().map(|index| self.slot(index));
        self.idle.sleepers() > usize::from(responder.is_some_and(|slot| slot.activity.is_parked()))
    }

    /// Wakes a worker that sleeps, if there is one: whether or not somebody searches.
    pub(super) fn wake_somebody(&self, runtime: &Inner) -> bool {
        let responder = self.quarantine.responder();
        // What there is may not be for the responder.
        let worker = self.idle.wake_one_of(|worker| Some(worker) != responder).or_else(|| self.idle.wake_any());
        if let Some(worker) = worker {
            self.wake_worker(runtime, worker);
        }
        worker.is_some()
    }

    /// A thread goes that may have been the one to look after the drivers: has another one come, if need be.
    pub(super) fn ensure_driver_attended(&self, runtime: &Inner) {
        // Those that are awake come by the drivers sooner or later, and look at everything before they sleep.
        if !self.driver.is_attended() {
            self.wake_somebody(runtime);
        }
    }

    /// Whether there is work that a worker on its way to sleep should stay awake for.
    pub(super) fn has_surplus(&self) -> bool {
        self.has_common_surplus() || self.victims().any(Slot::has_surplus)
    }

    /// Whether there is surplus that no worker comes to by itself. Read after the fence of `wake_one`: a worker that
    /// begins to block in place is a pusher of what it leaves, and may have relied on the searcher that asks this.
    fn is_any_left_to_others(&self) -> bool {
        let is_left_by = |slot: &Slot| slot.activity.is_blocking_in_place() && slot.has_surplus();
        self.has_common_surplus() || self.spares.count.blocking_in_place() > 0 && self.victims().any(is_left_by)
    }

    /// Whether there is surplus that is on no worker's queues.
    pub(super) fn has_common_surplus(&self) -> bool {
        !self.injector.is_empty() || !self.external_wakers.is_empty()
    }

    /// Whether work waits that somebody should be woken for: also what is in quarantine.
    pub(super) fn does_work_wait(&self) -> bool {
        self.has_surplus() || self.quarantine.quarantined() > 0
    }
}
