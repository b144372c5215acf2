//! When a worker's fair lane has its turn (`lanes.rs`): every fourth tick, and less often while timers are due.
//!
//! A tick of a task that a timer woke is mostly much shorter than one of a task that yields because it has more to do. If the
//! fair lane kept its fourth of the ticks, two hundred timers beside eight tasks that burn the processor for 100 us at a time
//! would wait for fifty such polls. So with `n` tasks on the due lane the fair lane's turn comes every `2 * n / m + 2` ticks,
//! where `m` is the length of its own line: what is due goes by in half a line. [`PATIENT`] ticks are the most, and soon after
//! nothing is due any more the turn has come.
//!
//! # The bound
//!
//! `m` is read once a *round*, which has `m` turns. (With the length of the moment, each turn of a line that gets shorter would
//! be later than the one before, and the last of `m` tasks would wait for `n * ln(m)` ticks.)
//!
//! Let a task find `p` others in front of it, and let never more than `n` be due while it waits. It waits for `q` turns of a
//! round of `m >= q` turns, and for `p + 1 - q` turns of the next round, which has at least as many. A turn costs
//! `max(4, 2 * n / m + 2)` ticks, so those of one round cost the larger of `4 * q` and `2 * n + 2 * q`, and those of both rounds no
//! more than `4 * (n + p + 1)`. The turn that is under way when the task comes may have been put off for tasks that are gone
//! by now: that makes some more, `PATIENT - 4` at most, and no more than the injector's interval, which the bound of `lanes.rs`
//! has to spare for tasks that are on a lane already.

use std::cell::Cell;

use super::lanes::EVERY;

/// Ticks from one turn to the next, at most, unless the injector's interval is less.
const PATIENT: u32 = 64;

/// See the module.
#[derive(Debug)]
pub(super) struct FairTurns {
    /// Ticks until the next turn.
    in_ticks: Cell<u32>,
    /// A turn has come, and was not taken yet.
    has_come: Cell<bool>,
    /// How many turns the round has.
    round: Cell<u32>,
    /// And how many of them are still to be given.
    left: Cell<u32>,
    patient: u32,
}

impl FairTurns {
    pub(super) fn new(injector_interval: u32) -> Self {
        Self {
            in_ticks: Cell::new(EVERY),
            has_come: Cell::new(false),
            round: Cell::new(1),
            left: Cell::new(0),
            patient: injector_interval.clamp(EVERY, PATIENT),
        }
    }

    /// Counts a tick. The closures tell the lengths of the due lane and of the fair lane.
    #[inline]
    pub(super) fn tick(&self, due: impl Fn() -> usize, fair: impl Fn() -> usize) {
        let in_ticks = self.in_ticks.get() - 1;
        if in_ticks == 0 || in_ticks > EVERY && due() == 0 {
            self.has_come.set(true);
            self.in_ticks.set(self.interval(due(), fair));
        } else {
            self.in_ticks.set(in_ticks);
        }
    }

    /// Whether the turn has come.
    #[inline]
    pub(super) fn has_come(&self) -> bool {
        self.has_come.get()
    }

    #[inline]
    pub(super) fn take(&self) {
        self.has_come.set(false);
    }

    /// Ticks until the turn after the one that has come now.
    #[inline]
    fn interval(&self, due: usize, fair: impl Fn() -> usize) -> u32 {
        if self.left.get() == 0 {
            let round = u32::try_from(fair()).unwrap_or(u32::MAX).max(1);
            self.round.set(round);
            self.left.set(round);
        }
        self.left.set(self.left.get() - 1);
        if due == 0 {
            return EVERY;
        }
        let ticks = 2 * due as u64 / u64::from(self.round.get()) + 2;
        ticks.clamp(EVERY.into(), self.patient.into()) as u32
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// What comes in a tick, and what goes.
    #[derive(Clone, Copy, Debug)]
    struct Step {
        /// So many timers fire.
        fired: usize,
        /// So many sockets are ready.
        ready: usize,
        /// The task that is polled yields, if it is one of the fair lane.
        yields: bool,
        /// Another worker takes so many from the due lane.
        stolen: usize,
    }

    fn step() -> impl Strategy<Value = Step> {
        let fired = prop_oneof![20 => Just(0), 4 => 1_usize..4, 1 => 50_usize..500];
        let ready = prop_oneof![20 => Just(0), 4 => 1_usize..4, 1 => 20_usize..100];
        let stolen = prop_oneof![30 => Just(0), 1 => 1_usize..300];
        (fired, ready, any::<bool>(), stolen).prop_map(|(fired, ready, yields, stolen)| Step {
            fired,
            ready,
            yields,
            stolen,
        })
    }

    /// A task of the fair lane: when it came, how many were in front of it then, and how many were due since, at most.
    struct Waiting {
        since: usize,
        front: usize,
        due: usize,
    }

    proptest! {
        /// The two lanes as `Lanes::next` serves them, with an empty deque.
        #[test]
        fn each_task_of_the_fair_lane_has_its_turn_within_the_bound(steps in vec(step(), 1..60), interval in 2_u32..100) {
            let turns = FairTurns::new(interval);
            let (mut due, mut fair) = (0, VecDeque::<Waiting>::new());
            // Round and round, and then until all is done.
            for now in 0.. {
                let step = match steps.get(now % steps.len()) {
                    Some(&step) if now < 1500 => step,
                    _ => Step { fired: 0, ready: 0, yields: false, stolen: 0 },
                };
                if due < 1000 {
                    due += step.fired;
                }
                due = due.saturating_sub(step.stolen);
                if fair.len() < 300 {
                    let front = fair.len();
                    fair.extend((0..step.ready).map(|n| Waiting { since: now, front: front + n, due: 0 }));
                }
                if due + fair.len() == 0 && now >= 1500 {
                    break;
                }
                fair.iter_mut().for_each(|task| task.due = task.due.max(due));
                turns.tick(|| due, || fair.len());
                let from_fair = if turns.has_come() {
                    turns.take();
                    !fair.is_empty()
                } else {
                    due == 0
                };
                if !from_fair {
                    due = due.saturating_sub(1);
                } else if let Some(task) = fair.pop_front() {
                    let bound = 4 * (task.due + task.front + 1) + interval as usize;
                    prop_assert!(now + 1 - task.since <= bound, "{} > {bound}", now + 1 - task.since);
                    if step.yields {
                        fair.push_back(Waiting { since: now + 1, front: fair.len(), due: 0 });
                    }
                }
            }
        }
    }

    /// How long the last of a line waits, if nobody yields, and as many tasks are due all the time. The first of the line
    /// were there when the round began; the others came right after that.
    fn wait_of_the_last(due: usize, first: usize, others: usize) -> usize {
        let turns = FairTurns::new(61);
        while !turns.has_come() {
            turns.tick(|| due, || first);
        }
        let mut line = first + others;
        for tick in 0.. {
            if turns.has_come() {
                turns.take();
                line -= 1;
                if line == 0 {
                    return tick;
                }
            }
            turns.tick(|| due, || line);
        }
        unreachable!("the line moves")
    }

    #[test]
    fn the_last_of_a_line_has_its_turn_within_the_bound() {
        for due in [1, 10, 100, 400, 1000] {
            for (first, others) in [(1, 0), (60, 0), (300, 0), (30, 30), (30, 31), (100, 100), (10, 300), (1, 60)] {
                let (wait, bound) = (wait_of_the_last(due, first, others), 4 * (due + first + others));
                assert!(wait <= bound, "{due} due, {first} and {others} in the line: {wait} > {bound}");
            }
        }
    }

    /// A line of which each task sets a timer when it is polled, and is due all the time from then on. Those who came later wait
    /// for all those who were before them, and these are in front of them once more.
    #[test]
    fn those_who_leave_the_line_and_become_due_count_twice() {
        let (first, others) = (1000, 35);
        let turns = FairTurns::new(61);
        while !turns.has_come() {
            turns.tick(|| 0, || first);
        }
        let (mut line, mut due, mut ticks) = (first + others, 0, 0);
        while line > 0 {
            if turns.has_come() {
                turns.take();
                (line, due) = (line - 1, due + 1);
            }
            ticks += 1;
            turns.tick(|| due, || line);
        }
        let tasks = first + others;
        assert!(ticks > 4 * tasks + 61, "not a bound: {ticks} <= {}", 4 * tasks + 61);
        assert!(ticks <= 4 * (tasks + due), "{ticks} > {}", 4 * (tasks + due));
    }

    /// Polls what is due, with a line of `fair` tasks that yield beside it. How many of these have had a turn before all was done.
    fn turns_beside(mut due: usize, fair: usize) -> usize {
        let turns = FairTurns::new(61);
        let mut given = 0;
        while due > 0 {
            turns.tick(|| due, || fair);
            if turns.has_come() {
                turns.take();
                given += 1;
            } else {
                due -= 1;
            }
        }
        given
    }

    #[test]
    fn what_is_due_waits_for_few_turns_of_a_short_line() {
        let few = turns_beside(100, 4);
        assert!(few <= 7, "{few} turns");
        assert!((30..=34).contains(&turns_beside(100, 1000)), "a fourth of the ticks");
        // The most is a turn every so many ticks, however much is due.
        assert!(turns_beside(10_000, 1) >= 10_000 / 61);
    }

    #[test]
    fn the_turn_comes_at_once_when_nothing_is_due_any_more() {
        let turns = FairTurns::new(61);
        (0..EVERY).for_each(|_| turns.tick(|| 1000, || 1));
        assert!(turns.has_come());
        turns.take();
        turns.tick(|| 1000, || 1);
        assert!(!turns.has_come());
        turns.tick(|| 0, || 1);
        assert!(turns.has_come());
    }
}
