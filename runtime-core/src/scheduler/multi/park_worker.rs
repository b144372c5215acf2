//! A worker that finds nothing: it spins a little, goes to sleep, sleeps, and wakes up. (`idle/` has the protocol of
//! who sleeps and who wakes whom; `park.rs` the sleep itself.)
//!
//! Before it sleeps it looks at everything once more, and what the drivers woke in its sleep it queues when it counts
//! as up.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

use super::driver_events::{Collector, EventBatch};
use super::{Slot, Worker};
use crate::clock::Moment;
use crate::metrics::WorkerState;
use crate::scheduler::park::Slept;
use crate::spin::Spun;
use crate::task::current;

impl Worker {
    /// The worker has found no work: it spins a little, and goes to sleep if none comes.
    #[cold]
    pub(super) fn idle(&self, batch: &mut EventBatch) {
        self.call_external_wakers();
        if self.may_retire() {
            return;
        }
        // Only a searcher spins, because the others rely on a thread that searches; and one is enough, for each takes a
        // processor. It does not poll the drivers: while it sleeps in them it hears of everything at once, and has the
        // events of a whole batch for one system call.
        let now = Moment::now();
        self.measure().end_polls(now);
        self.turn_to(WorkerState::Searching, now);
        let may_spin = self.searching.get() && self.shared().idle.is_only_searcher();
        let looks = Cell::new(0);
        let spin = || self.spin(|| self.has_work_come(looks.replace(looks.get() + 1)));
        let spun = if may_spin { spin() } else { Spun::NotAtAll };
        if spun == Spun::Found {
            // That was no poll.
            let now = Moment::now();
            self.poll_interval.resume(now);
            self.turn_to(WorkerState::Busy, now);
            self.measure().begin_polls_with_tick(now);
            return;
        }
        let has_taken_time = spun == Spun::InVain && self.poll_times.is_on();
        self.turn_to(WorkerState::Parked, if has_taken_time { Moment::now() } else { now });
        self.park(now, batch);
    }

    /// A look while it spins: at what is everybody's, and at one of the other workers, in turn. (To look at the queues
    /// of all each time would pull the lines into which they push, and take a fence for each queue. Before it sleeps
    /// the worker looks at everything.)
    fn has_work_come(&self, look: usize) -> bool {
        let shared = self.shared();
        let is_any_common = shared.has_common_surplus() || self.has_quarantined();
        let victim = || shared.victim(look % shared.num_victims());
        is_any_common || shared.is_closing() || victim().is_some_and(Slot::has_surplus)
    }

    /// Goes to sleep, unless there is work after all. It has had none since `began`.
    fn park(&self, began: Moment, batch: &mut EventBatch) {
        self.exchange_frees();
        let counters = self.counters();
        if counters.parks.get() > 0 && counters.polls.get() == self.slot().polls_at_unpark.load(Relaxed) {
            counters.idle_wakes.add(1);
        }
        counters.parks.add(1);
        self.slot().activity.polls_nothing();
        if self.runtime.hooks.has_park() {
            self.stop_searching();
            self.slot().activity.calls_user_code();
            self.runtime.hooks.on_park();
            self.slot().activity.polls_nothing();
        }
        // The hook may have spawned or woken something.
        let slept = self.core.run_queue.is_empty() && self.park_if_no_work(began, batch);
        // Before anything that may block.
        self.shared().monitor.wake_if_asleep();
        let now = Moment::now();
        self.note_maintenance(now);
        self.turn_to(WorkerState::Busy, now);
        let counters = self.counters();
        counters.unparks.add(1);
        // Relaxed, as all that the monitor reads. Should the monitor see the one without the other, it overestimates
        // the age of the poll, by the time since its last sample at most.
        self.slot().polls_at_unpark.store(counters.polls.get(), Relaxed);
        let mut was_called_out = self.call_external_wakers();
        if self.runtime.hooks.has_unpark() {
            was_called_out = true;
            self.stop_searching();
            self.slot().activity.calls_user_code();
            self.runtime.hooks.on_unpark();
            self.slot().activity.polls_nothing();
        }
        // User code was no poll.
        self.record_passing();
        let now = if was_called_out { Moment::now() } else { now };
        if slept {
            self.poll_interval.restart(now);
            self.restart_polls(now);
        } else {
            self.measure().begin_polls_with_tick(now);
        }
    }

    /// Sleeps, unless there is work. Whether it has.
    fn park_if_no_work(&self, began: Moment, batch: &mut EventBatch) -> bool {
        let shared = self.shared();
        let index = self.core.index;
        self.slot().ended.publish(self.counters());
        // It ends with the fence that `ends.rs` asks for.
        shared.idle.start_sleep(index, self.searching.replace(false));
        if shared.has_surplus() || self.has_quarantined() {
            if !shared.idle.end_sleep(index) {
                shared.idle.resume_search();
            }
            self.searching.set(true);
            return false;
        }
        self.tell_end();
        self.slot().activity.set_parked(true);
        self.record_sleep(true);
        let mut slept = Slept::NotAtAll;
        if !shared.is_closing() {
            let mut woken = Collector { worker: self, batch };
            // It will be old.
            current::forget_time_here();
            slept = self.slot().wakeup.park(&self.core.parker, &shared.driver, &mut woken);
            // In the drivers this is after they have delivered what there was. (A call that came before the sleep was
            // not timed.)
            if slept != Slept::NotAtAll {
                self.note_unparked(began);
            }
            match slept {
                Slept::InDriver { has_left } => {
                    self.counters().driver_polls.add(1);
                    self.counters().driver_waits.add(1);
                    self.poll_interval.note_turn(has_left);
                }
                // Another worker has called it because there was more than that one could do at once.
                Slept::OnThread => self.poll_interval.note_turn(true),
                Slept::NotAtAll => {}
            }
        }
        self.record_sleep(false);
        self.slot().activity.set_parked(false);
        // Awake first, and only then queue what the drivers woke: the worker to be notified of it must not be this one.
        self.searching.set(shared.idle.end_sleep(index));
        self.queue_batch(batch);
        slept != Slept::NotAtAll
    }

    #[inline]
    fn record_sleep(&self, is_asleep: bool) {
        if let Some(events) = self.runtime.events.heard() {
            events.record_sleep(self.lane(), is_asleep);
        }
    }

    /// The worker has published what it has ended, and passed a fence: should all tasks have ended, tells those in
    /// `Runtime::run`.
    pub(super) fn tell_end(&self) {
        if self.runtime.ends.is_awaited() {
            self.runtime.tell_end();
        }
    }

    /// Spins until the `block_on` thread is woken, or sleeps until its future is woken or it has tasks to free.
    pub(super) fn wait_in_block_on(&self, is_woken: impl Fn() -> bool) {
        let now = Moment::now();
        if self.runtime.measures_polls {
            self.look_whom_to_follow(now);
        }
        if is_woken() {
            return;
        }
        if self.spin(is_woken) != Spun::Found && self.slot().wakeup.park_thread(&self.core.parker) != Slept::NotAtAll {
            self.note_unparked(now);
        }
    }

    fn spin(&self, look: impl Fn() -> bool) -> Spun {
        // On a single processor nobody brings anything while this thread looks.
        if self.shared().single_cpu {
            return Spun::NotAtAll;
        }
        self.core.spinner.spin(self.slot().wake_latency.average(), Moment::now, look)
    }

    /// The thread is awake again, and has waited since `began`.
    fn note_unparked(&self, began: Moment) {
        let called_at = self.slot().wake_latency.note_awake(Moment::now);
        let waited = called_at.map(|called_at| called_at.since(began));
        self.core.spinner.note_wait(waited);
    }
}
