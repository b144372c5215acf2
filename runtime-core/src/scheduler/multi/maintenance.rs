//! A worker's *maintenance*: what it does at the end of an interval of polls (`poll_interval.rs`), between two tasks.

use super::Worker;
use super::driver_events::EventBatch;
use crate::clock::Moment;

impl Worker {
    /// At the end of an interval of polls, by the time it is.
    pub(super) fn maintain(&self, now: Moment, batch: &mut EventBatch) {
        self.exchange_frees();
        if self.may_retire() {
            return;
        }
        self.look_whom_to_follow(now);
        let has_given_way = self.poll_interval.has_given_way();
        let is_drivers_turn = self.poll_interval.end_interval(now, || self.core.run_queue.events_left());
        self.measure().limit_part();
        self.core.run_queue.adapt_injector_interval(&self.poll_interval);
        let own_interval = self.slot().since_maintenance(now);
        self.note_maintenance(now);
        self.help_stalled_peer(now, own_interval);
        if let Some(events) = self.runtime.events.heard() {
            events.record_depths(self.lane(), self.core.run_queue.len(), self.shared().injector_depth());
        }
        if is_drivers_turn {
            self.poll_drivers(batch);
            if has_given_way {
                self.give_way_to_peers();
            }
            if self.poll_times.is_on() {
                self.measure().begin_polls(Moment::now());
            }
        }
    }

    /// Frees the tasks of this worker's arena that other threads have returned, and returns theirs.
    pub(super) fn exchange_frees(&self) {
        self.local_arena().flush_and_drain();
    }
}
