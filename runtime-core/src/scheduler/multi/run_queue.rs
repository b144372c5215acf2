//! A worker's queues, and the order in which it serves them.
//!
//! Four queues: a LIFO deque for what was spawned or woken (its newest task is the one whose data is in the cache), a
//! *FIFO queue* for tasks that woke themselves and those woken by sockets, a *timer queue* (FIFO) for those woken by
//! timers, and one for those that have given way (`given_way.rs`). All can be stolen from; a task that is alone on the
//! LIFO queue, and about to be run, only if the worker is stalled (`lifo_slot.rs`).
//!
//! # The bound
//!
//! LIFO order alone lets two tasks that wake each other starve everything below them. So of every four ticks one takes
//! the deque's oldest task and one the FIFO queue's; the other two serve the timer queue or, if it is empty, the
//! deque's newest. If that one keeps coming back (`comebacks.rs`), those that are below it come next, the oldest first,
//! up to and including the first that was never polled. If a queue is empty its tick goes to the others. What has given
//! way has its turn when there are no others; and after a round of 61 ticks it takes turns with the FIFO queue. And
//! after every 61 ticks (`global_queue_interval`), sooner if polls are long, the injector has its turn
//! (`injector_turns.rs`).
//!
//! A task with `n` others in front of it on its queue (for the FIFO queue and what is released, on both) is therefore
//! polled within `4 * (n + 1)` ticks (and one, if it had just woken itself), and the injector's turns in between. Those
//! come every `i` ticks: 61 as long as polls are shorter than a third of a microsecond, and 2 at the least, if polls
//! are of 10 us and more and there always is something in the injector. With K runnable tasks on the worker each is
//! polled within `4 * K * i / (i - 1) + 61` ticks, whatever the others do; and 61 more if it has given way. (A task
//! that goes into quarantine, `responder.rs`, begins its wait anew when it comes out.) Steals only shorten the line; a
//! task that is stolen begins at the end of its queue here, with at most a batch of others that came with it. A task
//! that is taken from the injector begins at the end of the timer queue, with so few others that they are polled before
//! the next turn; on a worker whose queues are empty, but for what gave way, on the FIFO queue.
//!
//! Beside many timers the FIFO queue has a sixteenth of the ticks (`fifo_interval`). The bound holds all the same, if
//! tasks that go from the FIFO queue to the timer queue meanwhile (each sets a timer, and that fires) are counted
//! twice.
//!
//! The timer queue is in FIFO order, because on top of the deque each turn of the timers buried those of the turns
//! before: of 200 timers of 2 ms beside tasks that burn the processor, one in a hundred was 25 ms late.

use std::cell::Cell;

use crossbeam_deque::{Steal, Stealer, Worker as Deque};

use super::comebacks::Comebacks;
use super::given_way::GivenWay;
use super::lifo_slot::{self, LifoSlot, LifoSlotStealer};
use crate::primitive::Injector;
use crate::scheduler::injector_turns::{InjectorTurns, Others};
use crate::scheduler::poll_interval::PollInterval;
use crate::task::Notified;

/// How often the deque's oldest task has its turn, and the FIFO queue's (or what is released of those that gave way).
pub(super) const TURN_INTERVAL: u32 = 4;
/// How often the FIFO queue has its turn beside many timers.
const FIFO_INTERVAL_BESIDE_TIMERS: u32 = TURN_INTERVAL * TURN_INTERVAL;

/// What a timer woke is late already, and mostly short; what wakes itself has had a turn, and is mostly longer. So
/// while much more is due than that the FIFO queue's turns are fewer: two hundred timers beside eight tasks that
/// compute for 100 us at a time would else wait for fifty of their polls.
///
/// "Much more" is so much that the bound holds. With `n` tasks due at most, turns come after 16 ticks only while no
/// more than `n / 3` tasks are on the FIFO queue. So no task waits for more than `n / 3` such turns. If it waits for
/// `p` turns in all, that is at most `4 * p + 12 * n / 3 = 4 * (p + n)` ticks. (And up to 12 for the turn that is under
/// way when it comes, which the bound has to spare: that of the injector, for tasks that are on a queue already.)
fn fifo_interval(timers: usize, fifo: usize) -> u32 {
    const MORE: usize = (FIFO_INTERVAL_BESIDE_TIMERS / TURN_INTERVAL - 1) as usize;
    if timers > 0 && timers / MORE >= fifo { FIFO_INTERVAL_BESIDE_TIMERS } else { TURN_INTERVAL }
}

/// The private side of a worker's queues.
pub(crate) struct RunQueue {
    /// The oldest task of the LIFO queue, if it was pushed onto the empty queue.
    lifo_slot: LifoSlot,
    lifo: Deque<Notified>,
    comebacks: Comebacks,
    /// How many tasks of the LIFO queue have their turn before its newest, from the oldest on. If others have stolen
    /// some, newer ones may be counted in their place.
    from_below: Cell<usize>,
    fifo: Deque<Notified>,
    timers: Deque<Notified>,
    given_way: GivenWay,
    /// The cold end of the own deque.
    lifo_stealer: Stealer<Notified>,
    tick: Cell<u32>,
    /// Ticks until the FIFO queue's turn; zero if it has come, and was not taken yet.
    fifo_turn_in: Cell<u32>,
    /// The last poll was of a task that woke itself, and did not give way.
    just_woke_itself: Cell<bool>,
    /// How many tasks have woken themselves, or were put there for another reason, since a socket last woke one.
    behind_events: Cell<usize>,
    injector_turns: InjectorTurns,
}

/// The public side.
pub(crate) struct RunQueueStealer {
    lifo_slot: LifoSlotStealer,
    lifo: Stealer<Notified>,
    fifo: Stealer<Notified>,
    timers: Stealer<Notified>,
    given_way: Stealer<Notified>,
}

impl RunQueue {
    pub(crate) fn new(injector_interval: u32) -> (Self, RunQueueStealer) {
        let (lifo, fifo, timers) = (Deque::new_lifo(), Deque::new_fifo(), Deque::new_fifo());
        let given_way = GivenWay::new();
        let (lifo_slot, slot_stealer) = lifo_slot::new();
        let stealers = RunQueueStealer {
            lifo_slot: slot_stealer,
            lifo: lifo.stealer(),
            fifo: fifo.stealer(),
            timers: timers.stealer(),
            given_way: given_way.stealer(),
        };
        let lifo_stealer = lifo.stealer();
        let run_queue = Self {
            lifo_slot,
            lifo,
            comebacks: Comebacks::new(),
            from_below: Cell::new(0),
            fifo,
            timers,
            given_way,
            lifo_stealer,
            tick: Cell::new(0),
            fifo_turn_in: Cell::new(TURN_INTERVAL + 1),
            just_woke_itself: Cell::new(false),
            behind_events: Cell::new(0),
            injector_turns: InjectorTurns::new(injector_interval),
        };
        (run_queue, stealers)
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

    /// How many tasks are on the LIFO queue.
    #[inline]
    fn lifo_len(&self) -> usize {
        self.lifo.len() + usize::from(!self.lifo_slot.is_empty())
    }

    /// Takes the newest task of the LIFO queue or, while those below have their turn, the oldest.
    #[inline]
    fn pop_lifo(&self) -> Option<Notified> {
        if self.from_below.get() > 0
            && let Some(task) = self.pop_oldest()
        {
            return Some(task);
        }
        // Below the one in the slot there is nothing.
        let Some(task) = pop(&self.lifo) else { return self.lifo_slot.take() };
        if self.comebacks.note(task.header().id()) {
            self.from_below.set(self.lifo_len());
        }
        Some(task)
    }

    /// Takes the oldest task of the LIFO queue.
    fn pop_oldest(&self) -> Option<Notified> {
        let task = self.lifo_slot.take().or_else(|| self.lifo_stealer.steal().success());
        let below = self.from_below.get();
        if below > 0 {
            // One that begins may spawn, and what it spawns is to come before the others. Without a task a thief is in
            // the way, or has taken all.
            let goes_on = task.as_ref().is_some_and(|task| task.task().has_been_polled());
            self.from_below.set(if goes_on { (below - 1).min(self.lifo_len()) } else { 0 });
        }
        task
    }

    /// Queues a task that has given way.
    #[inline]
    pub(crate) fn push_given_way(&self, task: Notified) {
        self.given_way.push(task);
    }

    /// Queues a task that woke itself.
    #[inline]
    pub(crate) fn push_self_woken(&self, task: Notified) {
        self.just_woke_itself.set(true);
        self.behind_events.set(self.behind_events.get() + 1);
        self.fifo.push(task);
    }

    /// Queues a task that a socket woke.
    pub(crate) fn push_event(&self, task: Notified) {
        self.behind_events.set(0);
        self.fifo.push(task);
    }

    /// Queues a task that was taken over from somebody else.
    pub(crate) fn push_taken_over(&self, task: Notified) {
        self.behind_events.set(self.behind_events.get() + 1);
        self.fifo.push(task);
    }

    /// About how many tasks still wait that sockets woke: those on the FIFO queue up to the last of them. What woke
    /// itself before that one counts as well, and what was moved there with others.
    pub(crate) fn events_left(&self) -> usize {
        self.fifo.len().saturating_sub(self.behind_events.get())
    }

    /// Queues a task that a timer woke.
    pub(crate) fn push_timer(&self, task: Notified) {
        self.timers.push(task);
    }

    /// How many tasks are on all queues.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.lifo_len() + self.fifo.len() + self.timers.len() + self.given_way.len()
    }

    /// Whether there is more than the one task that the worker is going to run next.
    #[inline]
    pub(crate) fn has_surplus(&self) -> bool {
        let lifo = self.lifo_len();
        lifo > 1 || lifo + self.fifo.len() + self.timers.len() + self.given_way.len() > 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all that are here have given way.
    pub(crate) fn has_only_given_way(&self) -> bool {
        self.len() == self.given_way.len()
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
    pub(crate) fn adapt_injector_interval(&self, poll_interval: &PollInterval) {
        self.injector_turns.adapt(poll_interval);
    }

    /// The next task of the own queues, in the order that the module states.
    #[inline]
    pub(crate) fn next(&self) -> Option<Notified> {
        // The injector's turns do not count: else, with an unlucky interval, they would always fall on the same
        // queue's.
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        // Before the other turn, which may end the call: every tick counts.
        self.fifo_turn_in.set(self.fifo_turn_in.get().saturating_sub(1));
        self.given_way.tick();
        if tick.is_multiple_of(TURN_INTERVAL)
            // A lone task is the newest too; but the timer queue goes before that.
            && self.lifo_len() > usize::from(self.timers.is_empty())
            && let Some(task) = self.pop_oldest()
        {
            return Some(task);
        }
        let just_woke_itself = self.just_woke_itself.replace(false);
        // The task that has just woken itself is not to run again at once: alone on its queue, it lets one of the
        // others go first.
        let lets_others_go = just_woke_itself && self.fifo.len() == 1 && self.lifo_len() + self.timers.len() > 0;
        if self.fifo_turn_in.get() == 0 && !lets_others_go {
            let wait_for_it = self.fifo.len() + self.given_way.released();
            self.fifo_turn_in.set(fifo_interval(self.timers.len(), wait_for_it));
            if let Some(task) = self.pop_fifo_or_released() {
                return Some(task);
            }
        }
        self.pop_any()
    }

    /// At the FIFO queue's turn.
    fn pop_fifo_or_released(&self) -> Option<Notified> {
        if self.given_way.take_turn() {
            self.given_way.pop_released().or_else(|| pop(&self.fifo))
        } else {
            pop(&self.fifo).or_else(|| self.given_way.pop_released())
        }
    }

    #[inline]
    fn pop_any(&self) -> Option<Notified> {
        let others = pop(&self.timers).or_else(|| self.pop_lifo()).or_else(|| pop(&self.fifo));
        others.or_else(|| self.given_way.pop())
    }

    /// Moves a fair share of the injector's tasks here, and returns the task that is to run next.
    ///
    /// On empty queues they go to the FIFO queue: so they run in their order, and one that wakes itself lets all others
    /// go first. Else they go to the timer queue. In front of them are only those that timers woke, and what was
    /// injected before; what has woken itself has had a turn, and what was spawned here is mostly newer.
    pub(crate) fn take_batch(&self, injector: &Injector<Notified>, sharers: usize) -> Option<Notified> {
        if injector.is_empty() {
            return None;
        }
        let others = self.others();
        let share = (injector.len() / sharers + 1).min(self.injector_turns.share(others));
        let queue = if others == Others::Waiting { &self.timers } else { &self.fifo };
        let mut taken = 0;
        let mut first = None;
        if queue.is_empty() {
            first = Some(until_settled(|| injector.steal_batch_with_limit_and_pop(queue, share))?);
            taken = 1 + queue.len();
        }
        // A call moves what lies in one of the injector's blocks, at most; of the last block it moves half of what is
        // there. So a share takes a few calls, which is little beside the polls of its tasks.
        while taken < share && !injector.is_empty() {
            let before = queue.len();
            until_settled(|| injector.steal_batch_with_limit(queue, share - taken));
            // Others may have stolen some already.
            taken += queue.len().saturating_sub(before).max(1);
        }
        self.injector_turns.have_taken(taken, others);
        first.or_else(|| pop(queue))
    }

    /// Who waits here when tasks come from the injector.
    fn others(&self) -> Others {
        match (self.lifo_len() + self.fifo.len() + self.timers.len(), self.given_way.len()) {
            (0, 0) => Others::Nobody,
            // They have their turn when the queues are empty again.
            (0, tasks) => Others::GaveWay { ticks: tasks },
            _ => Others::Waiting,
        }
    }

    /// Moves the one task that lies on the LIFO queue alone to where anybody may take it.
    pub(crate) fn offer_lone(&self) {
        if let Some(task) = self.lifo_slot.take() {
            self.fifo.push(task);
        }
    }

    /// Steals half of what timers woke on another worker's queues, up to a batch, and returns one of the tasks.
    pub(crate) fn steal_timers_from(&self, victim: &RunQueueStealer) -> Option<Notified> {
        steal(&victim.timers, &self.timers)
    }

    /// The same, of what was spawned or woken. Leaves it the one that lies on its LIFO queue alone.
    pub(crate) fn steal_lifo_from(&self, victim: &RunQueueStealer) -> Option<Notified> {
        steal(&victim.lifo, &self.lifo)
    }

    /// The same, of what woke itself or was woken by sockets.
    pub(crate) fn steal_fifo_from(&self, victim: &RunQueueStealer) -> Option<Notified> {
        steal(&victim.fifo, &self.fifo)
    }

    /// The same, of what has given way.
    pub(crate) fn steal_given_way_from(&self, victim: &RunQueueStealer) -> Option<Notified> {
        steal(&victim.given_way, self.given_way.queue())
    }

    /// Takes over half of a queue of another worker, but not of what has given way there. What timers woke stays what
    /// timers woke; else it would wait here at the end of a line, and be taken to the next one's end before it gets to
    /// the front. False if there was nothing, but perhaps a task that lies on the LIFO queue alone.
    pub(crate) fn take_over_ready(&self, victim: &RunQueueStealer) -> bool {
        if !victim.timers.is_empty() {
            return until_settled(|| victim.timers.steal_batch(&self.timers)).is_some();
        }
        let stolen = self.steal_lifo_from(victim).or_else(|| self.steal_fifo_from(victim));
        // Not in front of the tasks that are here: they are as old.
        stolen.map(|task| self.push_taken_over(task)).is_some()
    }

    /// The same, and else half of what has given way. Of a worker that is stalled.
    pub(crate) fn take_over(&self, victim: &RunQueueStealer) -> bool {
        let take_given_way = || self.steal_given_way_from(victim).map(|task| self.push_given_way(task)).is_some();
        self.take_over_ready(victim) || take_given_way()
    }

    /// Steals, up to a batch each, from what timers and sockets have woken on another worker's queues.
    pub(crate) fn steal_events_from(&self, victim: &RunQueueStealer) {
        for (from, to) in [(&victim.timers, &self.timers), (&victim.fifo, &self.fifo)] {
            if !from.is_empty() {
                let _ = until_settled(|| from.steal_batch(to));
            }
        }
    }

    /// Takes out everything, at shutdown or when the worker leaves.
    pub(crate) fn drain(&self) -> impl Iterator<Item = Notified> {
        std::iter::from_fn(|| self.pop_any())
    }
}

fn steal(from: &Stealer<Notified>, to: &Deque<Notified>) -> Option<Notified> {
    if from.is_empty() { None } else { until_settled(|| from.steal_batch_and_pop(to)) }
}

/// Mostly a queue is empty, and then this is no call.
#[inline]
fn pop(queue: &Deque<Notified>) -> Option<Notified> {
    if queue.is_empty() { None } else { queue.pop() }
}

impl RunQueueStealer {
    pub(crate) fn has_lone(&self) -> bool {
        !self.lifo_slot.is_empty()
    }

    /// Takes the task that lies on the LIFO queue alone. Its worker is about to run it, so only from one that is
    /// stalled.
    pub(crate) fn steal_lone(&self) -> Option<Notified> {
        self.lifo_slot.steal()
    }

    /// Takes out everything, one by one, at shutdown, when nobody is at the private side any more.
    pub(crate) fn drain(&self) -> impl Iterator<Item = Notified> {
        debug_assert!(
            self.lifo_slot.is_empty(),
            "a core that was put down has been drained, and one that is lent has offered its lone task"
        );
        let queues = [&self.timers, &self.lifo, &self.fifo, &self.given_way];
        std::iter::from_fn(move || queues.into_iter().find_map(|queue| until_settled(|| queue.steal())))
    }

    pub(crate) fn len(&self) -> usize {
        let lone = usize::from(!self.lifo_slot.is_empty());
        lone + self.lifo.len() + self.fifo.len() + self.timers.len() + self.given_way.len()
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

    /// How many ticks pass until the last of a line on the FIFO queue has its turn, while as many others are due all
    /// the time.
    fn wait_of_the_last(timers: usize, line: usize) -> usize {
        let interval = |left| fifo_interval(timers, left) as usize;
        // The turn that is under way when it comes, and those of all in front of it.
        interval(1) + (1..line).map(|taken| interval(line - taken + 1)).sum::<usize>()
    }

    #[test]
    fn the_last_of_a_line_has_its_turn_within_the_bound_whatever_is_due() {
        for timers in [0, 1, 3, 10, 100, 400, 1000] {
            for line in [1, 2, 3, 30, 33, 34, 60, 133, 400, 2000] {
                let (wait, bound) = (wait_of_the_last(timers, line), 4 * (timers + line) + 12);
                assert!(wait <= bound, "{timers} due, {line} in the line: {wait} > {bound}");
            }
        }
    }

    #[test]
    fn a_line_has_fewer_turns_only_beside_much_more_that_is_due() {
        assert_eq!(fifo_interval(0, 0), TURN_INTERVAL);
        assert_eq!(fifo_interval(2, 1), TURN_INTERVAL);
        assert_eq!(fifo_interval(3, 1), FIFO_INTERVAL_BESIDE_TIMERS);
        assert_eq!(fifo_interval(100, 33), FIFO_INTERVAL_BESIDE_TIMERS);
        assert_eq!(fifo_interval(100, 34), TURN_INTERVAL);
    }
}
