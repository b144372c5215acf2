//! A worker's lanes, and the order in which it serves them.
//!
//! Two lanes: a LIFO deque for what a task has woken or spawned (its newest task is the one whose data is in the
//! cache), and a FIFO fair lane for tasks that yielded and those woken by sockets. Both can be stolen from.
//!
//! # The bound
//!
//! LIFO order alone lets two tasks that wake each other starve everything below them. So of every four ticks one takes
//! the deque's oldest task and one takes the fair lane's; the other two serve the deque's newest. If one of the two
//! lanes is empty its tick goes to the other. And every 61st tick (`global_queue_interval`) takes from the injector. A
//! task with `n` others in front of it on its lane is therefore polled within `4 * (n + 1)` ticks (and one, if it had
//! just yielded), and one more in 61 for the injector's: with K runnable tasks on the worker, within `4 * K * 61/60 +
//! 61` whatever the others do. Steals only shorten the line; a task that is stolen begins again at the thief, behind at
//! most a batch of others that came with it.

use std::cell::Cell;

use crossbeam_deque::{Injector, Steal, Stealer, Worker as Deque};

use super::bottom::{self, Bottom, BottomStealer};
use crate::task::Notified;

/// At most so many tasks are moved from the injector at once.
const BATCH: usize = 32;

/// The private side of a worker's lanes.
pub(crate) struct Lanes {
    /// The oldest task of the LIFO lane, if it was pushed onto the empty lane.
    bottom: Bottom,
    lifo: Deque<Notified>,
    fair: Deque<Notified>,
    /// The cold end of the own deque.
    oldest: Stealer<Notified>,
    tick: Cell<u32>,
    /// The fair lane's turn has come, and was not taken yet.
    fair_is_due: Cell<bool>,
    /// The last poll ended with a yield.
    just_yielded: Cell<bool>,
    /// Ticks until the injector's turn.
    injector_in: Cell<u32>,
    injector_interval: u32,
}

/// The public side.
pub(crate) struct LaneStealers {
    bottom: BottomStealer,
    lifo: Stealer<Notified>,
    fair: Stealer<Notified>,
}

impl Lanes {
    pub(crate) fn new(injector_interval: u32) -> (Self, LaneStealers) {
        let (lifo, fair) = (Deque::new_lifo(), Deque::new_fifo());
        let (bottom, bottom_stealer) = bottom::new();
        let stealers = LaneStealers { bottom: bottom_stealer, lifo: lifo.stealer(), fair: fair.stealer() };
        let oldest = lifo.stealer();
        // An interval of one would never come to the lanes.
        let injector_interval = injector_interval.max(2);
        let lanes = Self {
            bottom,
            lifo,
            fair,
            oldest,
            tick: Cell::new(0),
            fair_is_due: Cell::new(false),
            just_yielded: Cell::new(false),
            injector_in: Cell::new(injector_interval),
            injector_interval,
        };
        (lanes, stealers)
    }

    /// Queues a task that was woken or spawned.
    #[inline]
    pub(crate) fn push(&self, task: Notified) {
        if self.bottom.is_empty() && self.lifo.is_empty() {
            self.bottom.fill(task);
        } else {
            self.lifo.push(task);
        }
    }

    /// How many tasks are on the LIFO lane.
    #[inline]
    fn lifo_len(&self) -> usize {
        self.lifo.len() + usize::from(!self.bottom.is_empty())
    }

    /// Takes the newest task of the LIFO lane.
    #[inline]
    fn pop_newest(&self) -> Option<Notified> {
        self.lifo.pop().or_else(|| self.bottom.take())
    }

    /// Takes the oldest task of the LIFO lane.
    fn pop_oldest(&self) -> Option<Notified> {
        self.bottom.take().or_else(|| self.oldest.steal().success())
    }

    /// Queues a task that yielded.
    #[inline]
    pub(crate) fn push_yielded(&self, task: Notified) {
        self.just_yielded.set(true);
        self.fair.push(task);
    }

    /// Queues a task that the drivers woke.
    pub(crate) fn push_event(&self, task: Notified) {
        self.fair.push(task);
    }

    /// Whether there is more than the one task that the worker is going to run next.
    #[inline]
    pub(crate) fn has_surplus(&self) -> bool {
        self.lifo_len() + self.fair.len() > 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lifo_len() == 0 && self.fair.is_empty()
    }

    /// The next task of the own lanes, or of the injector if it is its turn, in the order that the module states.
    #[inline]
    pub(crate) fn next(&self, injector: &Injector<Notified>) -> Option<Notified> {
        let left = self.injector_in.get() - 1;
        if left == 0 {
            self.injector_in.set(self.injector_interval);
            if let Some(task) = take_one(injector) {
                return Some(task);
            }
        } else {
            self.injector_in.set(left);
        }
        // The injector's turns do not count: else, with an unlucky interval, they would always fall on the same lane's.
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        match tick % 4 {
            0 if self.lifo_len() > 1 => {
                if let Some(task) = self.pop_oldest() {
                    return Some(task);
                }
            }
            2 => self.fair_is_due.set(true),
            _ => {}
        }
        let just_yielded = self.just_yielded.replace(false);
        // The task that has just yielded is not to run again at once: alone on its lane, it lets one of the others go
        // first.
        if self.fair_is_due.get() && !(just_yielded && self.fair.len() == 1 && self.lifo_len() > 0) {
            self.fair_is_due.set(false);
            if let Some(task) = self.fair.pop() {
                return Some(task);
            }
        }
        self.pop_newest().or_else(|| self.fair.pop())
    }

    /// Moves a fair share of the injector's tasks here, and returns one of them.
    pub(crate) fn take_batch(&self, injector: &Injector<Notified>, workers: usize) -> Option<Notified> {
        if injector.is_empty() {
            return None;
        }
        let share = (injector.len() / workers + 1).min(BATCH);
        until_settled(|| injector.steal_batch_with_limit_and_pop(&self.lifo, share))
    }

    /// Steals half of another worker's tasks, up to a batch, and returns one of them.
    pub(crate) fn steal_from(&self, victim: &LaneStealers) -> Option<Notified> {
        let lifo =
            if victim.lifo.is_empty() { None } else { until_settled(|| victim.lifo.steal_batch_and_pop(&self.lifo)) };
        lifo.or_else(|| victim.bottom.steal()).or_else(|| {
            if victim.fair.is_empty() { None } else { until_settled(|| victim.fair.steal_batch_and_pop(&self.fair)) }
        })
    }

    /// Takes out everything, at shutdown or when the worker leaves.
    pub(crate) fn drain(&self) -> impl Iterator<Item = Notified> {
        std::iter::from_fn(|| self.pop_newest().or_else(|| self.fair.pop()))
    }
}

impl LaneStealers {
    pub(crate) fn len(&self) -> usize {
        usize::from(!self.bottom.is_empty()) + self.lifo.len() + self.fair.len()
    }
}

/// Takes the injector's oldest task.
pub(crate) fn take_one(injector: &Injector<Notified>) -> Option<Notified> {
    if injector.is_empty() { None } else { until_settled(|| injector.steal()) }
}

/// A `Retry` says that another thread took something at the same moment: somebody makes progress, so try again.
fn until_settled(mut steal: impl FnMut() -> Steal<Notified>) -> Option<Notified> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
