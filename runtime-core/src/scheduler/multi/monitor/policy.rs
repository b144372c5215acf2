//! When the monitor helps, and how: a function of what a sample saw, and nothing else.
//!
//! - Nothing is done unless some worker is stuck *and* something waits: a task on a stuck worker's lanes, one in the
//!   injector that nobody comes for, timers and sockets that nobody looks after.
//! - If a worker sleeps, it is woken: it steals what is stranded, and sees to the drivers.
//! - If nobody moves, spares are started: one at first, and at each further sample as many again as there are threads,
//!   because hundreds of tasks may block one after another. While such trouble is fresh, a worker that has not moved
//!   for one sample is taken to be stuck.
//! - If others move, those that are stuck asleep are replaced, one for one: their processors are idle, and there is
//!   more to do. Those that are stuck computing are not: their processors are not idle.
//! - Threads that compute are no reason to start ever more. Beyond the number of those asleep there are at most
//!   [`COMPUTING`] spares for each worker.

/// So many spares for each worker may be in use beyond those whose place is that of a sleeping thread.
const COMPUTING: usize = 2;

/// What a sample saw. Spare workers count as workers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Situation {
    /// Workers in another poll than at the last sample.
    pub(super) moving: usize,
    /// In the same poll, but not for so long.
    pub(super) slow: usize,
    pub(super) stuck: usize,
    /// Of the slow and the stuck, those whose threads sleep.
    pub(super) asleep: usize,
    /// Of the stuck alone.
    pub(super) stuck_asleep: usize,
    /// Spares that were started and are not there yet.
    pub(super) coming: usize,
    /// Tasks on the lanes of those that do not move.
    pub(super) stranded: usize,
    /// Tasks on all lanes and in the injector.
    pub(super) queued: usize,
    /// Timers and sockets wait, and nobody looks after them.
    pub(super) drivers_wait: bool,
    /// A worker has nothing to do.
    pub(super) has_sleepers: bool,
    pub(super) spares: usize,
    /// Of the threads that the user asked for.
    pub(super) workers: usize,
    /// Nobody moved, not long ago.
    pub(super) in_trouble: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Help {
    pub(super) wake: bool,
    pub(super) start: usize,
}

impl Situation {
    /// Nobody does anything that could be done, and nobody is on the way.
    pub(super) fn is_standstill(&self) -> bool {
        self.moving == 0 && !self.has_sleepers && self.coming == 0 && self.slow + self.stuck > 0
    }

    pub(super) fn help(&self) -> Help {
        let is_suspect = self.stuck > 0 || self.in_trouble && self.slow > 0;
        if !is_suspect {
            return Help::default();
        }
        let waits = usize::from(self.drivers_wait) + if self.is_standstill() { self.queued } else { self.stranded };
        if self.has_sleepers {
            return Help { wake: waits > 0, start: 0 };
        }
        let start = if self.is_standstill() {
            waits.min(self.slow + self.stuck)
        } else if self.coming == 0 {
            self.stuck_asleep.saturating_sub(self.spares).min(self.queued + usize::from(self.drivers_wait))
        } else {
            0
        };
        let room = (self.asleep + COMPUTING * self.workers).saturating_sub(self.spares);
        Help { wake: false, start: start.min(room) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const NONE: Help = Help { wake: false, start: 0 };

    fn start(start: usize) -> Help {
        Help { wake: false, start }
    }

    /// Two workers asleep in a system call, and ten tasks behind them.
    const BLOCKED: Situation = Situation {
        moving: 0,
        slow: 0,
        stuck: 2,
        asleep: 2,
        stuck_asleep: 2,
        coming: 0,
        stranded: 10,
        queued: 10,
        drivers_wait: false,
        has_sleepers: false,
        spares: 0,
        workers: 2,
        in_trouble: false,
    };

    #[test]
    fn nobody_is_helped_who_holds_nobody_up() {
        let situation = Situation { stranded: 0, queued: 0, ..BLOCKED };
        assert_eq!(situation.help(), NONE);
        assert_eq!(Situation { drivers_wait: true, ..situation }.help(), start(1), "timers and sockets count");
    }

    #[test]
    fn a_worker_that_sleeps_is_preferred_to_a_spare() {
        let situation = Situation { has_sleepers: true, stuck: 1, ..BLOCKED };
        assert_eq!(situation.help(), Help { wake: true, start: 0 });
        assert_eq!(Situation { stranded: 0, ..situation }.help(), NONE);
    }

    #[test]
    fn spares_double_while_all_are_blocked() {
        assert_eq!(BLOCKED.help(), start(2));
        let next = Situation { slow: 2, asleep: 4, spares: 2, queued: 300, in_trouble: true, ..BLOCKED };
        assert_eq!(next.help(), start(4), "as many as there are threads");
        assert_eq!(Situation { coming: 1, ..next }.help(), NONE, "one is about to look");
        assert_eq!(Situation { queued: 1, stranded: 1, ..next }.help(), start(1), "but no more than wait");
    }

    #[test]
    fn a_slow_worker_is_suspect_only_in_trouble() {
        let slow = Situation { stuck: 0, stuck_asleep: 0, slow: 2, ..BLOCKED };
        assert_eq!(slow.help(), NONE);
        assert_eq!(Situation { in_trouble: true, ..slow }.help(), start(2));
    }

    #[test]
    fn threads_asleep_are_replaced_and_threads_that_compute_are_not() {
        let one = Situation { moving: 1, stuck: 1, asleep: 1, stuck_asleep: 1, ..BLOCKED };
        assert_eq!(one.help(), start(1));
        assert_eq!(Situation { spares: 1, ..one }.help(), NONE, "it has its spare");
        assert_eq!(Situation { asleep: 0, stuck_asleep: 0, ..one }.help(), NONE);
    }

    #[test]
    fn threads_that_compute_get_a_bounded_number_of_spares() {
        let burning = Situation { asleep: 0, stuck_asleep: 0, queued: 100, ..BLOCKED };
        assert_eq!(burning.help(), start(2));
        let more = Situation { slow: 4, spares: 4, in_trouble: true, ..burning };
        assert_eq!(more.help(), NONE, "six threads are as good as more on these processors");
        assert_eq!(Situation { asleep: 3, ..more }.help(), start(3));
    }
}
