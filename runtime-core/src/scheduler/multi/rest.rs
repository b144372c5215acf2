//! A worker that finds nothing: it looks out for work a little, lies down, sleeps, and gets up. (`idle/` has the protocol of
//! who sleeps and who wakes whom; `park.rs` the sleep itself.)
//!
//! Before it sleeps it looks at everything once more, and what the drivers woke in its sleep it queues when it counts as up.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::Worker;
use crate::clock::Clock;
use crate::scheduler::park::Slept;

impl Worker {
    /// Has found no work: looks out for some a little, and lies down if none comes.
    #[cold]
    pub(super) fn idle(&self) {
        self.call_foreign_wakers();
        if self.may_retire() {
            return;
        }
        // Only a searcher does, because the others rely on somebody who searches; and one is enough, for each takes a processor.
        // It glances at the injector only: what has come onto another worker's lane this very moment is mostly better left there.
        let glance = || !self.shared().injector.is_empty();
        let may_look_out = self.searching.get() && self.shared().idle.is_only_searcher();
        if may_look_out && self.look_out(None, glance, || self.has_work_come()) {
            // That was no poll.
            self.pacing.resume(Clock::real());
            return;
        }
        if !self.leave_drivers() {
            self.sleep();
        }
    }

    /// A look at the queues and, if nobody waits in them, the drivers.
    fn has_work_come(&self) -> bool {
        let shared = self.shared();
        if shared.has_surplus() || self.has_held() || shared.is_closing() {
            return true;
        }
        if shared.driver.is_attended() {
            return false;
        }
        self.poll_drivers();
        !self.core.lanes.is_empty()
    }

    /// Goes to sleep, unless there is work after all.
    fn sleep(&self) {
        self.exchange_dead();
        self.counters().parks.add(1);
        self.slot().current.polls_nothing();
        if self.runtime.hooks.has_park() {
            self.stop_searching();
            self.slot().current.calls_foreign();
            self.runtime.hooks.on_park();
            self.slot().current.polls_nothing();
        }
        // The hook may have spawned or woken something.
        let slept = self.core.lanes.is_empty() && self.lie_down();
        // Before anything that may block.
        self.shared().monitor.wake_if_asleep();
        self.note_seen(Clock::real());
        // Relaxed, as all that the monitor reads: should it see the one without the other, it takes the poll for older than it
        // is, but by no more than has passed since its last look.
        self.slot().polls_before.store(self.counters().polls.get(), Relaxed);
        self.call_foreign_wakers();
        if self.runtime.hooks.has_unpark() {
            self.stop_searching();
            self.slot().current.calls_foreign();
            self.runtime.hooks.on_unpark();
            self.slot().current.polls_nothing();
        }
        if slept {
            // Not the time from above: foreign code was no poll.
            self.pacing.restart(Clock::real());
        }
    }

    /// Sleeps, unless there is work. Whether it has.
    fn lie_down(&self) -> bool {
        let shared = self.shared();
        let index = self.core.index;
        shared.idle.start_sleep(index, self.searching.replace(false));
        if shared.has_surplus() || self.has_held() {
            if !shared.idle.end_sleep(index) {
                shared.idle.resume_search();
            }
            self.searching.set(true);
            return false;
        }
        self.hand_on_held();
        self.collecting.set(true);
        self.slot().current.rest(true);
        let mut slept = Slept::NotAtAll;
        if !shared.is_closing() {
            slept = self.slot().wakeup.park(&self.core.parker, &shared.driver, None);
            // In the drivers this is after they have delivered what there was.
            self.slot().wake_latency.note_up(self.shared().nanos_since_start());
        }
        if slept == Slept::InDriver {
            self.counters().driver_polls.add(1);
        }
        self.slot().current.rest(false);
        self.collecting.set(false);
        // Up first, and only then queue what the drivers woke: the worker to be notified of it must not be this one.
        self.searching.set(shared.idle.end_sleep(index));
        self.queue_batch();
        slept != Slept::NotAtAll
    }

    /// Looks out for the guest's wake, and sleeps if none comes, until its future is woken or it has tasks to free.
    pub(super) fn wait_as_guest(&self, is_woken: impl Fn() -> bool) {
        if !self.look_out(Some(&thread::yield_now), &is_woken, &is_woken) {
            self.slot().wakeup.park_thread(&self.core.parker);
            self.slot().wake_latency.note_up(self.shared().nanos_since_start());
        }
    }

    fn look_out(&self, yields: Option<&dyn Fn()>, glance: impl Fn() -> bool, mut look: impl FnMut() -> bool) -> bool {
        // On a single processor nobody brings anything while this thread looks.
        if self.shared().single_cpu {
            return look();
        }
        self.core.patience.look_out(self.slot().wake_latency.average(), Clock::real, yields, glance, look)
    }
}
