//! When the monitor helps, and how: a function of what a sample saw, and nothing else.
//!
//! - Nothing is done unless some worker is stuck *and* something waits: a task on a stuck worker's queues, one in the
//!   injector while no worker moves that would come for it, timers and sockets that nobody looks after.
//! - If a worker sleeps, it is woken: it steals what is stranded, and sees to the drivers.
//! - Workers that block in place have seen to their replacement themselves; should that have failed, or the worker that
//!   they relied on have got stuck, they count as stuck asleep.
//! - If nobody moves, spares are started: as many as are blocked, and at each further sample as many again as there are
//!   threads, because hundreds of tasks may block one after another. While such trouble is fresh, a worker that has not
//!   moved for one sample is taken to be stuck.
//! - The very first is the *responder*, which keeps free of what keeps the others busy (`../responder.rs`). It counts
//!   neither among those that move nor among the spares. One that gets stuck itself is no responder any more, but a
//!   spare; the next one is started also if somebody else lacks a processor. There may be as many such spares as there
//!   are sites that a responder can know.
//! - If others move, those that are stuck asleep are replaced, one for one: their processors are idle, and there is
//!   more to do. Those that are stuck computing are not: their processors are not idle.
//! - Threads that compute are no reason to start ever more. Beyond the number of those asleep there are at most
//!   [`MAX_FOR_COMPUTING`] spares for each worker. Of a thread of which the operating system tells nothing it is
//!   assumed that it sleeps, but not of more than [`MAX_FOR_UNKNOWN`].

use super::monitor::MAX_THREAD_READINGS;
use super::sample_interval::Cadence;
use crate::scheduler::multi::responder::MAX_SITES;

/// The most spares for each worker beyond those that stand in for sleeping threads.
const MAX_FOR_COMPUTING: usize = 2;
/// The most spares that stand in for threads of which nothing is known: as many as two samples read.
const MAX_FOR_UNKNOWN: usize = 2 * MAX_THREAD_READINGS;
/// And this many more that have been the responder, and got stuck: one for each site. (A limit of its own: those that
/// were started for threads which slept, and compute now, must not leave the others without a responder.)
const FORMER_RESPONDERS: usize = MAX_SITES;

/// What a sample saw. Spare workers count as workers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    /// There is a responder. In no other number it is counted.
    pub(super) has_responder: bool,
    /// Spares that have been the responder.
    pub(super) former_responders: usize,
    /// Workers in another poll than at the last sample, or that would be, had they a processor.
    pub(super) moving: usize,
    /// Of these, the latter.
    pub(super) preempted: usize,
    /// In the same poll, but for less than the threshold.
    pub(super) slow: usize,
    pub(super) stuck: usize,
    /// In `block_in_place`.
    pub(super) blocking_in_place: usize,
    /// Of the slow and the stuck, those whose threads sleep.
    pub(super) asleep: usize,
    /// Of the slow and the stuck, those of whose threads nothing is known.
    pub(super) unknown: usize,
    /// Of the stuck alone.
    pub(super) stuck_asleep: usize,
    /// Spares that were started and are not there yet.
    pub(super) starting: usize,
    /// Tasks on the queues of those that do not move.
    pub(super) stranded: usize,
    /// Tasks that anybody may take: in the injector.
    pub(super) injected: usize,
    /// All tasks that are queued anywhere.
    pub(super) queued: usize,
    /// Timers and sockets wait, and nobody looks after them.
    pub(super) drivers_wait: bool,
    /// A worker has nothing to do.
    pub(super) has_sleepers: bool,
    pub(super) spares: usize,
    /// Of the threads that the user asked for.
    pub(super) workers: usize,
    /// Nobody moved, not long ago.
    pub(super) recent_standstill: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) wake: bool,
    pub(super) start: usize,
    /// One more, as the responder.
    pub(super) respond: bool,
}

impl Snapshot {
    fn blocked(&self) -> usize {
        self.slow + self.stuck + self.blocking_in_place
    }

    /// Nobody does anything that could be done, and nobody is on the way.
    pub(super) fn is_standstill(&self) -> bool {
        self.moving == 0 && !self.has_sleepers && self.starting == 0 && self.blocked() > 0
    }

    /// The same, but for workers that lack a processor.
    pub(super) fn is_nobody_moving(&self) -> bool {
        self.moving == self.preempted && !self.has_sleepers && self.starting == 0 && self.blocked() > 0
    }

    /// How much waits for a worker.
    pub(super) fn waits(&self) -> usize {
        self.queued + usize::from(self.drivers_wait)
    }

    /// How soon to look again, after such help.
    pub(super) fn cadence(&self, action: Action) -> Cadence {
        match (self.stuck, self.slow) {
            // Help for workers that block in place may be refused for as long as they are.
            (0, 0) => Cadence::Normal,
            (0, _) => Cadence::Fast,
            _ if self.recent_standstill || action != Action::default() => Cadence::Fast,
            // That can last.
            (_, 0) if self.moving == 0 && self.waits() == 0 => Cadence::Idle,
            _ => Cadence::Normal,
        }
    }

    pub(super) fn action(&self) -> Action {
        let is_stuck = self.stuck > 0 || self.recent_standstill && self.slow > 0;
        if !is_stuck && self.blocking_in_place <= self.spares {
            return Action::default();
        }
        // Workers that move come for what is injected.
        let does_anybody_come = self.moving > self.preempted;
        let is_wanted = self.drivers_wait || self.stranded > 0 || self.injected > 0 && !does_anybody_come;
        if self.has_sleepers {
            return Action { wake: is_wanted, ..Action::default() };
        }
        let waits = self.waits();
        let assumed =
            self.asleep + self.blocking_in_place + self.unknown.min(MAX_FOR_UNKNOWN) + MAX_FOR_COMPUTING * self.workers;
        let may_respond = !self.has_responder && self.former_responders < FORMER_RESPONDERS;
        if is_stuck && self.is_nobody_moving() && waits > 0 && may_respond {
            return Action { respond: true, ..Action::default() };
        }
        let start = if self.is_standstill() {
            waits.min(self.blocked())
        } else if self.starting == 0 {
            (self.stuck_asleep + self.blocking_in_place).saturating_sub(self.spares).min(waits)
        } else {
            0
        };
        let room = assumed.saturating_sub(self.spares);
        // The responder may sleep.
        Action { wake: self.has_responder && is_wanted, start: start.min(room), ..Action::default() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const NONE: Action = Action { wake: false, start: 0, respond: false };
    const WAKE: Action = Action { wake: true, ..NONE };
    const RESPOND: Action = Action { respond: true, ..NONE };

    fn start(start: usize) -> Action {
        Action { start, ..NONE }
    }

    /// Two workers asleep in a system call, ten tasks behind them, and a responder.
    const BLOCKED: Snapshot = Snapshot {
        has_responder: true,
        former_responders: 0,
        moving: 0,
        preempted: 0,
        slow: 0,
        stuck: 2,
        blocking_in_place: 0,
        asleep: 2,
        unknown: 0,
        stuck_asleep: 2,
        starting: 0,
        stranded: 0,
        injected: 0,
        queued: 10,
        drivers_wait: false,
        has_sleepers: false,
        spares: 0,
        workers: 2,
        recent_standstill: false,
    };

    #[test]
    fn nobody_is_helped_who_holds_nobody_up() {
        let snapshot = Snapshot { queued: 0, ..BLOCKED };
        assert_eq!(snapshot.action(), NONE);
        let action = Snapshot { drivers_wait: true, ..snapshot }.action();
        assert_eq!(action, Action { wake: true, ..start(1) }, "timers and sockets count");
    }

    #[test]
    fn the_next_look_is_soon_if_it_may_find_somebody_stuck() {
        let nobody = Snapshot { stuck: 0, stuck_asleep: 0, asleep: 0, queued: 0, ..BLOCKED };
        let cadence = |snapshot: Snapshot| snapshot.cadence(snapshot.action());
        assert_eq!(cadence(nobody), Cadence::Normal);
        assert_eq!(cadence(Snapshot { slow: 1, ..nobody }), Cadence::Fast);
        let stuck = Snapshot { stuck: 2, ..nobody };
        assert_eq!(cadence(stuck), Cadence::Idle, "nobody waits for them");
        assert_eq!(cadence(Snapshot { moving: 1, ..stuck }), Cadence::Normal, "that one may get stuck, too");
        assert_eq!(cadence(Snapshot { slow: 1, ..stuck }), Cadence::Normal);
        assert_eq!(cadence(Snapshot { recent_standstill: true, ..stuck }), Cadence::Fast);
        assert_eq!(cadence(BLOCKED), Cadence::Fast, "spares are on their way");
        assert_eq!(cadence(Snapshot { spares: 100, ..BLOCKED }), Cadence::Normal, "there may be no more");
    }

    #[test]
    fn a_worker_that_sleeps_is_preferred_to_a_spare() {
        let snapshot = Snapshot { has_sleepers: true, stuck: 1, ..BLOCKED };
        assert_eq!(snapshot.action(), NONE);
        assert_eq!(Snapshot { stranded: 10, ..snapshot }.action(), WAKE);
        assert_eq!(Snapshot { injected: 1, ..snapshot }.action(), WAKE, "nobody has come for it");
        assert_eq!(Snapshot { injected: 1, moving: 1, ..snapshot }.action(), NONE, "that one will");
        assert_eq!(Snapshot { injected: 1, moving: 1, preempted: 1, ..snapshot }.action(), WAKE, "had it a processor");
    }

    #[test]
    fn workers_that_are_aside_and_lack_a_spare_get_one() {
        let blocking_in_place = Snapshot { blocking_in_place: 2, stuck: 0, asleep: 0, stuck_asleep: 0, ..BLOCKED };
        assert_eq!(blocking_in_place.action(), start(2));
        assert_eq!(Snapshot { moving: 1, ..blocking_in_place }.action(), start(2));
        assert_eq!(Snapshot { spares: 2, moving: 2, ..blocking_in_place }.action(), NONE);
        assert_eq!(Snapshot { queued: 0, ..blocking_in_place }.action(), NONE, "for nothing");
        let many =
            Snapshot { blocking_in_place: 100, spares: 100, stuck: 1, workers: 1, queued: 5, ..blocking_in_place };
        assert_eq!(many.action(), start(2), "those that stand in for them are no reason to have no more");
    }

    #[test]
    fn threads_of_which_nothing_is_known_get_a_bounded_number_of_spares() {
        let unknown = Snapshot { asleep: 0, unknown: 200, stuck: 200, queued: 1000, workers: 2, ..BLOCKED };
        assert_eq!(unknown.action(), start(68));
        assert_eq!(Snapshot { spares: 68, ..unknown }.action(), NONE);
    }

    #[test]
    fn spares_double_while_all_are_blocked() {
        assert_eq!(BLOCKED.action(), start(2));
        let next = Snapshot { slow: 2, asleep: 4, spares: 2, queued: 300, recent_standstill: true, ..BLOCKED };
        assert_eq!(next.action(), start(4), "as many as there are threads");
        assert_eq!(Snapshot { starting: 1, ..next }.action(), NONE, "one is about to look");
        assert_eq!(Snapshot { queued: 1, ..next }.action(), start(1), "but no more than wait");
    }

    #[test]
    fn a_slow_worker_is_suspect_only_in_trouble() {
        let slow = Snapshot { stuck: 0, stuck_asleep: 0, slow: 2, ..BLOCKED };
        assert_eq!(slow.action(), NONE);
        assert_eq!(Snapshot { recent_standstill: true, ..slow }.action(), start(2));
    }

    #[test]
    fn threads_asleep_are_replaced_and_threads_that_compute_are_not() {
        let one = Snapshot { moving: 1, stuck: 1, asleep: 1, stuck_asleep: 1, ..BLOCKED };
        assert_eq!(one.action(), start(1));
        assert_eq!(Snapshot { spares: 1, ..one }.action(), NONE, "it has its spare");
        assert_eq!(Snapshot { asleep: 0, stuck_asleep: 0, ..one }.action(), NONE);
    }

    #[test]
    fn the_first_spare_is_the_responder() {
        let blocked = Snapshot { has_responder: false, ..BLOCKED };
        assert_eq!(blocked.action(), RESPOND);
        assert_eq!(Snapshot { asleep: 0, stuck_asleep: 0, ..blocked }.action(), RESPOND, "also where all compute");
        assert_eq!(Snapshot { moving: 1, preempted: 1, ..blocked }.action(), RESPOND, "or lack a processor");
        assert_eq!(Snapshot { moving: 1, ..blocked }.action(), start(2), "one that moves responds");
        assert_eq!(Snapshot { queued: 0, ..blocked }.action(), NONE, "to nothing");
        let many = Snapshot { spares: 500, former_responders: FORMER_RESPONDERS - 1, ..blocked };
        assert_eq!(many.action(), RESPOND, "however many were started while others slept");
        assert_eq!(Snapshot { former_responders: FORMER_RESPONDERS, ..many }.action(), NONE);
        let asleep = Snapshot { former_responders: FORMER_RESPONDERS, ..blocked };
        assert_eq!(asleep.action(), start(2), "threads that sleep get spares all the same");
        assert!(!BLOCKED.action().wake, "what is in quarantine is not for it");
        assert!(Snapshot { stranded: 1, ..BLOCKED }.action().wake);
        assert!(Snapshot { drivers_wait: true, ..BLOCKED }.action().wake);
    }

    #[test]
    fn threads_that_compute_get_a_bounded_number_of_spares() {
        let burning = Snapshot { asleep: 0, stuck_asleep: 0, queued: 100, ..BLOCKED };
        assert_eq!(burning.action(), start(2));
        let more = Snapshot { slow: 4, spares: 4, recent_standstill: true, ..burning };
        assert_eq!(more.action(), NONE, "six threads are as good as more on these processors");
        assert_eq!(Snapshot { asleep: 3, ..more }.action(), start(3));
    }
}
