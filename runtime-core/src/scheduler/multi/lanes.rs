//! A worker's lanes, and the order in which it serves them.
//!
//! Three lanes: a LIFO deque for what was spawned or woken (its newest task is the one whose data is in the cache), a
//! FIFO fair lane for tasks that yielded and those woken by sockets, and a FIFO *due lane* for those woken by timers.
//! All can be stolen from; a task that is alone on the LIFO lane, and about to be run, only if the worker is missing
//! (`lifo_slot.rs`).
//!
//! # The bound
//!
//! LIFO order alone lets two tasks that wake each other starve everything below them. So of every four ticks one takes
//! the deque's oldest task and one the fair lane's; the other two serve the due lane or, if it is empty, the deque's
//! newest. If a lane is empty its tick goes to the others. And after every 61 ticks (`global_queue_interval`), sooner
//! if polls are long, the injector has its turn (`injector_turns.rs`).
//!
//! A task with `n` others in front of it on its lane is therefore polled within `4 * (n + 1)` ticks (and one, if it had
//! just yielded), and the injector's turns in between. Those come every `i` ticks: 61 as long as polls are shorter than
//! a third of a microsecond, and 2 at the least, if polls are of 10 us and more and there always is something in the
//! injector. With K runnable tasks on the worker each is polled within `4 * K * i / (i - 1) + 61` ticks, whatever the
//! others do. (A task that goes into quarantine, `responder.rs`, begins its wait anew when it comes out.) Steals only
//! shorten the line; a task that is stolen begins at the end of its lane here, with at most a batch of others that came
//! with it. A task that is taken from the injector begins at the end of the due lane, with so few others that they are
//! polled before the next turn; on a worker without tasks, on the fair lane.
//!
//! Beside many timers the fair lane has a sixteenth of the ticks (`fair_interval`). The bound holds all the same, if
//! tasks that go from the fair lane to the due lane meanwhile (each sets a timer, and that fires) are counted twice.
//!
//! The due lane is in FIFO order, because on top of the deque each turn of the timers buried those of the turns before:
//! of 200 timers of 2 ms beside tasks that burn the processor, one in a hundred was 25 ms late.

use std::cell::Cell;

use crossbeam_deque::{Steal, Stealer, Worker as Deque};

use super::lifo_slot::{self, LifoSlot, LifoSlotStealer};
use crate::primitive::Injector;
use crate::scheduler::injector_turns::InjectorTurns;
use crate::scheduler::pacing::Pacing;
use crate::task::Notified;

/// How often the deque's oldest task has its turn, and the fair lane's.
const EVERY: u32 = 4;
/// How often the fair lane has its turn beside many timers.
const EVERY_BESIDE_TIMERS: u32 = EVERY * EVERY;

/// What a timer woke is late already, and mostly short; what yields has had a turn, and is mostly longer. So while much
/// more is due than yields the fair lane's turns are fewer: two hundred timers beside eight tasks that compute for 100
/// us at a time would else wait for fifty of their polls.
///
/// "Much more" is so much that the bound holds. With `n` tasks due at most, turns come after 16 ticks only while no
/// more than `n / 3` tasks are on the fair lane. So no task waits for more than `n / 3` such turns. If it waits for `p`
/// turns in all, that is at most `4 * p + 12 * n / 3 = 4 * (p + n)` ticks. (And up to 12 for the turn that is under way
/// when it comes, which the bound has to spare: that of the injector, for tasks that are on a lane already.)
fn fair_interval(due: usize, fair: usize) -> u32 {
    const MORE: usize = (EVERY_BESIDE_TIMERS / EVERY - 1) as usize;
    if due > 0 && due / MORE >= fair { EVERY_BESIDE_TIMERS } else { EVERY }
}

/// The private side of a worker's lanes.
pub(crate) struct Lanes {
    /// The oldest task of the LIFO lane, if it was pushed onto the empty lane.
    lifo_slot: LifoSlot,
    lifo: Deque<Notified>,
    fair: Deque<Notified>,
    due: Deque<Notified>,
    /// The cold end of the own deque.
    oldest: Stealer<Notified>,
    tick: Cell<u32>,
    /// Ticks until the fair lane's turn; zero if it has come, and was not taken yet.
    fair_turn_in: Cell<u32>,
    /// The last poll ended with a yield.
    just_yielded: Cell<bool>,
    injector_turns: InjectorTurns,
}

/// The public side.
pub(crate) struct LaneStealers {
    lifo_slot: LifoSlotStealer,
    lifo: Stealer<Notified>,
    fair: Stealer<Notified>,
    due: Stealer<Notified>,
}

impl Lanes {
    pub(crate) fn new(injector_interval: u32) -> (Self, LaneStealers) {
        let (lifo, fair, due) = (Deque::new_lifo(), Deque::new_fifo(), Deque::new_fifo());
        let (lifo_slot, slot_stealer) = lifo_slot::new();
        let stealers =
            LaneStealers { lifo_slot: slot_stealer, lifo: lifo.stealer(), fair: fair.stealer(), due: due.stealer() };
        let oldest = lifo.stealer();
        let lanes = Self {
            lifo_slot,
            lifo,
            fair,
            due,
            oldest,
            tick: Cell::new(0),
            fair_turn_in: Cell::new(EVERY + 1),
            just_yielded: Cell::new(false),
            injector_turns: InjectorTurns::new(injector_interval),
        };
        (lanes, stealers)
    }

    /// Queues a task that was woken or spawned.
    #[inline]
    pub(crate) fn push(&self, task: Notified) {
        if self.lifo_slot.is_empty() && self.lifo.is_empty() {
            self.lifo_slot.fill(task);
        } else {
            self.lifo.push(task);
        }
    }

    /// How many tasks are on the LIFO lane.
    #[inline]
    fn lifo_len(&self) -> usize {
        self.lifo.len() + usize::from(!self.lifo_slot.is_empty())
    }

    /// Takes the newest task of the LIFO lane.
    #[inline]
    fn pop_newest(&self) -> Option<Notified> {
        pop(&self.lifo).or_else(|| self.lifo_slot.take())
    }

    /// Takes the oldest task of the LIFO lane.
    fn pop_oldest(&self) -> Option<Notified> {
        self.lifo_slot.take().or_else(|| self.oldest.steal().success())
    }

    /// Queues a task that yielded.
    #[inline]
    pub(crate) fn push_yielded(&self, task: Notified) {
        self.just_yielded.set(true);
        self.fair.push(task);
    }

    /// Queues a task that a socket woke.
    pub(crate) fn push_event(&self, task: Notified) {
        self.fair.push(task);
    }

    /// Queues a task that a timer woke.
    pub(crate) fn push_due(&self, task: Notified) {
        self.due.push(task);
    }

    /// How many tasks are on all lanes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.lifo_len() + self.fair.len() + self.due.len()
    }

    /// Whether there is more than the one task that the worker is going to run next.
    #[inline]
    pub(crate) fn has_surplus(&self) -> bool {
        let lifo = self.lifo_len();
        lifo > 1 || lifo + self.fair.len() + self.due.len() > 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the task that has just yielded may go on at once, because nobody else waits here and it is not the
    /// injector's turn. Counts the tick if so.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.is_empty() && self.injector_turns.tick_unless_turn()
    }

    /// Counts a tick. Whether it is the injector's turn.
    #[inline]
    pub(crate) fn is_injectors_turn(&self) -> bool {
        self.injector_turns.tick()
    }

    /// The worker has measured how long its polls take: so often the injector has its turn from now on.
    pub(crate) fn pace_injector(&self, pacing: &Pacing) {
        self.injector_turns.pace(pacing);
    }

    /// The next task of the own lanes, in the order that the module states.
    #[inline]
    pub(crate) fn next(&self) -> Option<Notified> {
        // The injector's turns do not count: else, with an unlucky interval, they would always fall on the same lane's.
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        // Before the other turn, which may end the call: every tick counts.
        self.fair_turn_in.set(self.fair_turn_in.get().saturating_sub(1));
        if tick.is_multiple_of(EVERY)
            // A lone task is the newest too; but the due lane goes before that.
            && self.lifo_len() > usize::from(self.due.is_empty())
            && let Some(task) = self.pop_oldest()
        {
            return Some(task);
        }
        let just_yielded = self.just_yielded.replace(false);
        // The task that has just yielded is not to run again at once: alone on its lane, it lets one of the others go
        // first.
        let lets_others_go = just_yielded && self.fair.len() == 1 && self.lifo_len() + self.due.len() > 0;
        if self.fair_turn_in.get() == 0 && !lets_others_go {
            self.fair_turn_in.set(fair_interval(self.due.len(), self.fair.len()));
            if let Some(task) = pop(&self.fair) {
                return Some(task);
            }
        }
        pop(&self.due).or_else(|| self.pop_newest()).or_else(|| pop(&self.fair))
    }

    /// Moves a fair share of the injector's tasks here, and returns the task that is to run next.
    ///
    /// On empty lanes they go to the fair lane: so they run in their order, and one that yields lets all others go
    /// first. Else they go to the due lane. In front of them are only those that timers woke, and what was injected
    /// before; what has yielded has had a turn, and what was spawned here is mostly newer.
    pub(crate) fn take_batch(&self, injector: &Injector<Notified>, sharers: usize) -> Option<Notified> {
        if injector.is_empty() {
            return None;
        }
        let is_alone = self.is_empty();
        let share = (injector.len() / sharers + 1).min(self.injector_turns.share(is_alone));
        let lane = if is_alone { &self.fair } else { &self.due };
        let mut taken = 0;
        let mut first = None;
        if lane.is_empty() {
            first = Some(until_settled(|| injector.steal_batch_with_limit_and_pop(lane, share))?);
            taken = 1 + lane.len();
        }
        // A call moves what lies in one of the injector's blocks, at most; of the last block it moves half of what is
        // there. So a share takes a few calls, which is little beside the polls of its tasks.
        while taken < share && !injector.is_empty() {
            let before = lane.len();
            until_settled(|| injector.steal_batch_with_limit(lane, share - taken));
            // Others may have stolen some already.
            taken += lane.len().saturating_sub(before).max(1);
        }
        self.injector_turns.have_taken(taken, is_alone);
        first.or_else(|| pop(lane))
    }

    /// Moves the one task that lies on the LIFO lane alone to where anybody may take it.
    pub(crate) fn offer_lone(&self) {
        if let Some(task) = self.lifo_slot.take() {
            self.fair.push(task);
        }
    }

    /// Steals half of what timers woke on another worker's lanes, up to a batch, and returns one of the tasks.
    pub(crate) fn steal_due_from(&self, victim: &LaneStealers) -> Option<Notified> {
        steal(&victim.due, &self.due)
    }

    /// The same, of what was spawned or woken. Leaves it the one that lies on its LIFO lane alone.
    pub(crate) fn steal_newer_from(&self, victim: &LaneStealers) -> Option<Notified> {
        steal(&victim.lifo, &self.lifo)
    }

    /// The same, of what yielded or was woken by sockets.
    pub(crate) fn steal_fair_from(&self, victim: &LaneStealers) -> Option<Notified> {
        steal(&victim.fair, &self.fair)
    }

    /// Takes over half of a lane of another worker that is missing. What timers woke stays what timers woke; else it
    /// would wait here at the end of a line, and be taken to the next one's end before it gets to the front. False if
    /// there was nothing, but perhaps a task that lies on the LIFO lane alone.
    pub(crate) fn relieve(&self, victim: &LaneStealers) -> bool {
        if !victim.due.is_empty() {
            return until_settled(|| victim.due.steal_batch(&self.due)).is_some();
        }
        let stolen = self.steal_newer_from(victim).or_else(|| self.steal_fair_from(victim));
        // Not in front of the tasks that are here: they are as old.
        stolen.map(|task| self.push_event(task)).is_some()
    }

    /// Steals, up to a batch each, from what timers and sockets have woken on another worker's lanes.
    pub(crate) fn steal_events_from(&self, victim: &LaneStealers) {
        for (from, to) in [(&victim.due, &self.due), (&victim.fair, &self.fair)] {
            if !from.is_empty() {
                let _ = until_settled(|| from.steal_batch(to));
            }
        }
    }

    /// Takes out everything, at shutdown or when the worker leaves.
    pub(crate) fn drain(&self) -> impl Iterator<Item = Notified> {
        std::iter::from_fn(|| pop(&self.due).or_else(|| self.pop_newest()).or_else(|| pop(&self.fair)))
    }
}

fn steal(from: &Stealer<Notified>, to: &Deque<Notified>) -> Option<Notified> {
    if from.is_empty() { None } else { until_settled(|| from.steal_batch_and_pop(to)) }
}

/// Mostly a lane is empty, and then this is no call.
#[inline]
fn pop(lane: &Deque<Notified>) -> Option<Notified> {
    if lane.is_empty() { None } else { lane.pop() }
}

impl LaneStealers {
    pub(crate) fn has_lone(&self) -> bool {
        !self.lifo_slot.is_empty()
    }

    /// Takes the task that lies on the LIFO lane alone. Its worker is about to run it, so only from one that is
    /// missing.
    pub(crate) fn steal_lone(&self) -> Option<Notified> {
        self.lifo_slot.steal()
    }

    /// Takes out everything, one by one, at shutdown, when nobody is at the private side any more.
    pub(crate) fn drain(&self) -> impl Iterator<Item = Notified> {
        debug_assert!(
            self.lifo_slot.is_empty(),
            "a core that was put down has been drained, and one that is lent has offered its lone task"
        );
        let lanes = [&self.due, &self.lifo, &self.fair];
        std::iter::from_fn(move || lanes.into_iter().find_map(|lane| until_settled(|| lane.steal())))
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(!self.lifo_slot.is_empty()) + self.lifo.len() + self.fair.len() + self.due.len()
    }
}

/// Takes the oldest out of an injector.
pub(crate) fn take_one<T>(injector: &Injector<T>) -> Option<T> {
    if injector.is_empty() { None } else { until_settled(|| injector.steal()) }
}

/// A `Retry` says that another thread took something at the same moment: somebody makes progress, so try again.
fn until_settled<T>(mut steal: impl FnMut() -> Steal<T>) -> Option<T> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many ticks pass until the last of a line on the fair lane has its turn, while as many others are due all the
    /// time.
    fn wait_of_the_last(due: usize, line: usize) -> usize {
        let interval = |left| fair_interval(due, left) as usize;
        // The turn that is under way when it comes, and those of all in front of it.
        interval(1) + (1..line).map(|taken| interval(line - taken + 1)).sum::<usize>()
    }

    #[test]
    fn the_last_of_a_line_has_its_turn_within_the_bound_whatever_is_due() {
        for due in [0, 1, 3, 10, 100, 400, 1000] {
            for line in [1, 2, 3, 30, 33, 34, 60, 133, 400, 2000] {
                let (wait, bound) = (wait_of_the_last(due, line), 4 * (due + line) + 12);
                assert!(wait <= bound, "{due} due, {line} in the line: {wait} > {bound}");
            }
        }
    }

    #[test]
    fn a_line_has_fewer_turns_only_beside_much_more_that_is_due() {
        assert_eq!(fair_interval(0, 0), EVERY);
        assert_eq!(fair_interval(2, 1), EVERY);
        assert_eq!(fair_interval(3, 1), EVERY_BESIDE_TIMERS);
        assert_eq!(fair_interval(100, 33), EVERY_BESIDE_TIMERS);
        assert_eq!(fair_interval(100, 34), EVERY);
    }
}
