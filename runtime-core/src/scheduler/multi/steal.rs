//! How a worker comes by tasks that are not on its own lanes: from the injector, from the attendant, and from other workers,
//! when it has none left or when one of them is missing.

use std::hint::spin_loop;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::lanes::{LaneStealers, Lanes};
use super::sharing::{Look, Verdict, WINDOW};
use super::{Slot, Worker};
use crate::clock::Clock;
use crate::task::Notified;

/// A worker is missing if for so many microseconds it has neither got up nor had its maintenance. A multiple of what
/// `pacing.rs` aims at.
pub(super) const MISSING: u64 = 400;
/// And after so many if there are more workers than processors: then to wait for one is nothing unusual.
pub(super) const MISSING_IN_A_CROWD: u64 = 5_000;

/// A worker that watches goes round so often, which takes a fifth of a millisecond, before it looks after everything else.
const ROUNDS: u32 = 20;
/// And pauses so often between its looks at the clock.
const PAUSES: u32 = 3;

/// What a worker that searches makes of tasks on others' LIFO lanes.
#[derive(Clone, Copy)]
enum Stance {
    Takes,
    Watches,
    /// Somebody else watches them.
    Leaves,
}

/// What it has come by at the others.
enum Round {
    Taken(Notified),
    /// There are tasks, which it watches, or leaves to somebody who does.
    Watched,
    Left,
    Nothing,
}

/// Whether a worker that was not seen for so long is missing. If the own interval took as long this worker does not know
/// better: two with long polls would take the same tasks from each other all the time, and some would never get to the
/// front of a line.
fn is_missing(unseen: u64, own_interval: u64, missing_after: u64) -> bool {
    unseen >= missing_after && unseen >= 2 * own_interval
}

impl Worker {
    /// Moves a fair share of the injector's tasks here, and one that the attendant holds. Returns one of them.
    pub(super) fn take_injected(&self) -> Option<Notified> {
        let shared = self.shared();
        let held = self.take_held();
        let task = match (self.core.lanes.take_batch(&shared.injector, shared.processors), held) {
            (Some(task), Some(held)) => {
                self.core.lanes.push_event(held);
                task
            }
            (task, held) => task.or(held)?,
        };
        // Whoever pushed them may have seen that they were taken, and woken nobody. (A searcher offers what it has when
        // it stops.)
        if !self.searching.get() && !self.core.lanes.is_empty() {
            shared.notify(&self.runtime, || false);
        }
        Some(task)
    }

    /// Looks for work at the other workers.
    pub(super) fn search(&self) -> Option<Notified> {
        let shared = self.shared();
        self.settle_trial();
        if !self.searching.get() {
            if !shared.idle.start_search() {
                return None;
            }
            self.searching.set(true);
        }
        self.counters().steal_attempts.add(1);
        self.watches.set(false);
        let round = self.go_round(|| self.stance());
        self.leaves.set(matches!(round, Round::Left));
        let stolen = match round {
            Round::Watched => self.watch(),
            Round::Taken(task) => Some(task),
            Round::Left | Round::Nothing => None,
        };
        stolen.or_else(|| self.take_injected()).or_else(|| self.steal_lone())
    }

    /// Goes round again and again, as long as there is something that it had better leave where it is. Not for long, because it has other
    /// duties than to search; it comes back then.
    #[cold]
    fn watch(&self) -> Option<Notified> {
        let mut rounds = 0;
        let round = loop {
            if self.is_called_away() {
                break Round::Nothing;
            }
            let round = self.go_round(|| match self.stance() {
                // Should somebody else come to search now, it is he who leaves.
                Stance::Leaves => Stance::Watches,
                stance => stance,
            });
            rounds += 1;
            if !matches!(round, Round::Watched) {
                self.counters().steals_spared.add(u64::from(matches!(round, Round::Nothing)));
                break round;
            }
            if rounds == ROUNDS {
                break round;
            }
        };
        // That was no poll.
        self.pacing.resume(Clock::real());
        match round {
            Round::Taken(task) => return Some(task),
            Round::Watched => {
                // Nothing was done meanwhile of what a worker does in passing.
                self.pacing.forget();
                self.watches.set(true);
            }
            Round::Left | Round::Nothing => {}
        }
        None
    }

    /// Looks at all other workers, and takes from the first that has something worth taking (`sharing.rs`).
    fn go_round(&self, stance: impl Fn() -> Stance) -> Round {
        let shared = self.shared();
        let victims = shared.num_victims();
        let start = self.core.victims.below(victims as u32) as usize;
        let mut round = Round::Nothing;
        for number in (start..victims).chain(0..start) {
            let Some(victim) = shared.victim(number) else { continue };
            if ptr::eq(victim, self.slot()) || !victim.may_have_work() {
                continue;
            }
            let stolen = self
                .steal(victim, Lanes::steal_due_from)
                .or_else(|| self.steal_newer(number, victim, &stance, &mut round))
                .or_else(|| self.steal(victim, Lanes::steal_fair_from));
            if let Some(task) = stolen {
                return Round::Taken(task);
            }
        }
        round
    }

    fn stance(&self) -> Stance {
        let shared = self.shared();
        let (experience, now) = (&shared.experience, shared.nanos_since_start());
        // A spare worker was called for what there is; and the only processor there is is better left to whoever has the work.
        if experience.is_trusting(now) || self.index().is_none() || shared.single_cpu {
            return Stance::Takes;
        }
        if experience.is_reluctant(now) {
            return if shared.idle.is_only_searcher() { Stance::Watches } else { Stance::Leaves };
        }
        // To watch takes a processor, perhaps from those who have the work.
        let balance = &shared.spares.balance;
        let up = (shared.workers + balance.running()).saturating_sub(shared.idle.sleepers() + balance.aside());
        if shared.idle.is_only_searcher() && up <= shared.processors { Stance::Watches } else { Stance::Takes }
    }

    fn steal_newer(
        &self,
        number: usize,
        victim: &Slot,
        stance: impl Fn() -> Stance,
        round: &mut Round,
    ) -> Option<Notified> {
        let shared = self.shared();
        if !victim.lanes.has_newer() {
            return None;
        }
        // Asked no sooner: mostly there is nothing, and it takes a look at the clock.
        let verdict = match stance() {
            Stance::Takes => Verdict::Take,
            Stance::Watches => self.core.sharing.borrow_mut().judge(number, self.look_at(victim), &shared.experience),
            // Whoever watches may have been called, and not have come yet.
            Stance::Leaves if victim.current.is_aside() || victim.unseen(self.now()) >= MISSING => Verdict::Take,
            Stance::Leaves => {
                *round = Round::Left;
                return None;
            }
        };
        if verdict == Verdict::Leave {
            *round = Round::Watched;
            return None;
        }
        let task = self.steal(victim, Lanes::steal_newer_from)?;
        if let Verdict::TakeForTrial(alone) = verdict {
            let both = self.look_at_both(victim);
            shared.experience.begin_trial(both.now);
            self.core.sharing.borrow_mut().has_taken(number, alone, both);
        }
        Some(task)
    }

    /// In microseconds since the start.
    fn now(&self) -> u64 {
        self.shared().since_start(Clock::real())
    }

    fn look_at(&self, victim: &Slot) -> Look {
        let counters = &victim.counters;
        Look {
            now: self.shared().nanos_since_start(),
            polls: counters.polls.get(),
            pushes: counters.local_schedules.get(),
            refilled: victim.refilled.load(Relaxed),
            parks: counters.parks.get(),
        }
    }

    /// The victim, and the polls of this worker in addition.
    fn look_at_both(&self, victim: &Slot) -> Look {
        let mut look = self.look_at(victim);
        look.polls = look.polls.wrapping_add(self.counters().polls.get());
        look
    }

    /// It has done what it took from another for trial, if it did.
    fn settle_trial(&self) {
        let mut sharing = self.core.sharing.borrow_mut();
        if let Some(victim) = sharing.on_trial().and_then(|number| self.shared().victim(number)) {
            let both = self.look_at_both(victim);
            self.shared().experience.end_trial();
            if let Some(outcome) = sharing.settle(both) {
                self.shared().experience.learn(outcome, both.now);
            }
        }
    }

    /// Until it is time for the next look at those that it watches. True, at once, if it should stop that.
    fn is_called_away(&self) -> bool {
        let shared = self.shared();
        let until = shared.nanos_since_start() + WINDOW;
        loop {
            let told = shared.signal.get();
            let has_other_work = !shared.injector.is_empty() || !shared.foreign_wakers.is_empty() || self.has_held();
            if told.is_closing() || told.drivers_wait() || has_other_work {
                return true;
            }
            if shared.nanos_since_start() >= until {
                return false;
            }
            (0..PAUSES).for_each(|_| spin_loop());
        }
    }

    /// Takes a task that lies alone on the lanes of a worker which does not come for it.
    fn steal_lone(&self) -> Option<Notified> {
        let shared = self.shared();
        let mut lone = shared.victims().filter(|slot| slot.may_have_work() && slot.lanes.has_lone()).peekable();
        lone.peek()?;
        let now = shared.since_start(Clock::real());
        // In a crowd, too: who waits for a processor is not about to run it.
        let task = lone.find_map(|slot| if slot.unseen(now) < MISSING { None } else { self.steal_lone_from(slot) })?;
        self.count_stolen(1);
        Some(task)
    }

    /// The same, of a certain worker. Waits for the kernel, and so for other processors: nobody must rely on this worker
    /// meanwhile as on one that searches. (If it gets nothing it goes on like any other that has found nothing.)
    fn steal_lone_from(&self, slot: &Slot) -> Option<Notified> {
        if !slot.lanes.has_lone() {
            return None;
        }
        self.stop_searching();
        slot.lanes.steal_lone()
    }

    #[cold]
    pub(super) fn stop_search(&self) {
        self.searching.set(false);
        let shared = self.shared();
        // The last one out sees to it that what pushers left to the searchers is not left lying.
        // That includes its own lanes: what came with the task it is about to run has nobody else yet.
        let is_any_left = || !self.core.lanes.is_empty() || shared.does_work_wait();
        if shared.idle.stop_search() && is_any_left() {
            shared.notify(&self.runtime, || false);
        }
    }

    /// Tells the neighbours that this worker is not missing.
    pub(super) fn note_seen(&self, now: Instant) -> u64 {
        let now = self.shared().since_start(now);
        // Relaxed: nothing else is read by whoever sees it, and to see it late costs a steal too many.
        self.slot().last_seen.store(now, Relaxed);
        now
    }

    /// Another worker, at random (the one after this has two chances), and for how many microseconds it has not been seen.
    pub(super) fn neighbour(&self, now: u64) -> Option<(&Slot, u64)> {
        let shared = self.shared();
        let victims = shared.num_victims();
        let first = self.core.victims.below(victims as u32) as usize;
        let slots = [first, (first + 1) % victims].into_iter().filter_map(|number| shared.victim(number));
        let slot = slots.into_iter().find(|&slot| !ptr::eq(slot, self.slot()))?;
        Some((slot, slot.unseen(now)))
    }

    /// Takes half of the tasks of a neighbour that has not been seen for a while: it may be in a long poll, or the operating
    /// system lets its thread wait. A worker that is fed by the drivers is never idle, and would leave those tasks where
    /// they are until then.
    pub(super) fn help_if_missing(&self, slot: &Slot, unseen: u64, own_interval: u64) {
        if is_missing(unseen, own_interval, self.shared().missing_after) && slot.has_any_work() {
            self.counters().steal_attempts.add(1);
            let before = self.slot().lanes.len();
            // Its lone task, too, even if others wait here: as long as there are any this worker does not search, and there
            // may be nobody else.
            if !self.core.lanes.relieve(&slot.lanes)
                && let Some(task) = self.steal_lone_from(slot)
            {
                self.core.lanes.push_event(task);
            }
            self.count_stolen(self.slot().lanes.len().saturating_sub(before));
            self.offer_surplus();
        }
    }

    fn steal(&self, victim: &Slot, steal: impl FnOnce(&Lanes, &LaneStealers) -> Option<Notified>) -> Option<Notified> {
        let before = self.slot().lanes.len();
        let task = steal(&self.core.lanes, &victim.lanes)?;
        self.count_stolen(1 + self.slot().lanes.len().saturating_sub(before));
        Some(task)
    }

    /// Nobody else fills this worker's lanes: what is there now and was not before was stolen.
    fn count_stolen(&self, tasks: usize) {
        if tasks > 0 {
            self.counters().steals.add(1);
            self.counters().stolen_tasks.add(tasks as u64);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_missing_only_in_comparison() {
        assert!(!is_missing(399, 200, MISSING));
        assert!(is_missing(400, 200, MISSING));
        assert!(!is_missing(1999, 1000, MISSING), "all have long polls");
        assert!(is_missing(2000, 1000, MISSING));
    }
}
