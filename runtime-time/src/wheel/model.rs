//! The wheel beside a sorted map: the same operations on both must give the same nodes in the same order.
//!
//! The property test (`tests.rs`) and the fuzz target `timer_wheel` both run [`Op`]s through [`run`]; they differ in
//! where the operations come from.

use std::collections::BTreeMap;

use super::*;

/// What a user of the wheel may do. Picks are taken modulo what there is.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    /// File a new node this number of ticks ahead.
    Insert(u64),
    /// File a new node under this tick, which may lie in the past.
    InsertAt(u64),
    /// Take one of the filed nodes out.
    Cancel(usize),
    /// Take one out and file it again, this number of ticks ahead.
    Reset(usize, u64),
    /// Let this number of ticks pass, and fire what is due.
    Advance(u64),
    /// Let the first number of ticks pass, and fire the second number of nodes at most: a shard fires in batches, and
    /// unlocks in between.
    FireSome(u64, usize),
    /// Fire what is due at this tick, which may lie in the past: two threads read the clock, and the later one comes
    /// first.
    FireAt(u64),
    /// Let the time pass up to the earliest deadline, or one tick short of it.
    AdvanceToDeadline {
        /// One tick short.
        short: bool,
    },
    /// Do what a driver does: sleep until the tick that the wheel names, and fire.
    Sleep,
    /// Ask for the earliest deadline.
    ExactNext,
}

/// Runs the operations, then lets all time pass.
///
/// # Panics
///
/// If the wheel does something else than the model.
pub fn run(ops: impl IntoIterator<Item = Op>) {
    let mut pair = Pair::new();
    for op in ops {
        pair.apply(op);
    }
    pair.advance(u64::MAX);
    assert!(pair.model.is_empty(), "lost: {:?}", pair.model);
}

/// A deadline, and how many nodes were inserted before.
type Key = (u64, u64);

/// A wheel beside its model. Nodes are boxed, and stay in `nodes` while they are filed.
pub(super) struct Pair {
    pub(super) wheel: Wheel,
    /// The latest tick that the wheel was told.
    now: u64,
    /// Which nodes are filed, in the order in which they must come out.
    pub(super) model: BTreeMap<Key, usize>,
    /// Where each node stands in the model; the box is what the wheel points to.
    nodes: Vec<(Box<Node>, Option<Key>)>,
    inserted: u64,
    /// How many sleeps may still end in vain: one for each node that was taken out.
    excuses: usize,
}

impl Pair {
    pub(super) fn new() -> Self {
        Self { wheel: Wheel::new(), now: 0, model: BTreeMap::new(), nodes: Vec::new(), inserted: 0, excuses: 0 }
    }

    fn apply(&mut self, op: Op) {
        let elapsed = self.wheel.elapsed;
        match op {
            Op::Insert(by) => self.insert(self.now.saturating_add(by)),
            Op::InsertAt(when) => self.insert(when),
            Op::Cancel(pick) => {
                self.cancel(pick);
            }
            Op::Reset(pick, by) => {
                if let Some(id) = self.cancel(pick) {
                    self.file(id, self.now.saturating_add(by));
                }
            }
            Op::Advance(by) => self.advance(self.now.saturating_add(by)),
            Op::FireSome(by, most) => {
                self.fire(self.now.saturating_add(by), most);
            }
            Op::FireAt(tick) => {
                self.fire(tick, usize::MAX);
            }
            Op::AdvanceToDeadline { short } => {
                if let Some(earliest) = self.earliest() {
                    self.advance(earliest - u64::from(short));
                }
            }
            Op::Sleep => self.sleep(),
            Op::ExactNext => {
                assert_eq!(self.wheel.exact_next(), self.earliest());
                assert_eq!(self.wheel.next(), self.earliest());
            }
        }
        assert!(self.wheel.elapsed >= elapsed, "the wheel's time went back");
        self.check();
    }

    fn file(&mut self, id: usize, when: u64) {
        let key = (when.min(MAX_TICK), self.inserted);
        self.inserted += 1;
        // SAFETY: the node is boxed, kept until the wheel is gone, and filed nowhere (its key is `None`).
        match unsafe { self.wheel.insert(NonNull::from(&*self.nodes[id].0), when) } {
            Ok(()) => {
                self.nodes[id].1 = Some(key);
                self.model.insert(key, id);
                self.check_place(key.0, id);
            }
            Err(Due) => assert!(key.0 <= self.now, "refused a deadline that lies ahead"),
        }
    }

    pub(super) fn insert(&mut self, when: u64) {
        self.nodes.push((Box::new(Node::new()), None));
        self.file(self.nodes.len() - 1, when);
    }

    fn cancel(&mut self, pick: usize) -> Option<usize> {
        let id = *self.model.values().nth(pick % self.model.len().max(1))?;
        let key = self.nodes[id].1.take().expect("the model only holds filed nodes");
        self.model.remove(&key);
        // SAFETY: the model says that it is filed.
        unsafe { self.wheel.remove(NonNull::from(&*self.nodes[id].0)) };
        self.excuses += 1;
        Some(id)
    }

    /// Lets the time pass, and fires everything that is due.
    pub(super) fn advance(&mut self, to: u64) {
        self.fire(self.now.max(to), usize::MAX);
    }

    /// Fires `most` nodes at most that are due at this tick. Returns how many there were.
    fn fire(&mut self, tick: u64, most: usize) -> usize {
        self.now = self.now.max(tick);
        for fired in 0..most {
            let Some(node) = self.wheel.pop_due(tick) else {
                if let Some(earliest) = self.earliest() {
                    assert!(earliest > tick, "due at {earliest} and not fired at {tick}");
                }
                if let Some(next) = self.wheel.next() {
                    assert!(next > tick, "a driver would not sleep, although nothing is due");
                }
                self.check();
                self.model.iter().for_each(|(&(when, _), &id)| self.check_place(when, id));
                return fired;
            };
            let ((when, seq), id) = self.model.pop_first().expect("the wheel fired more than was set");
            assert_eq!(node, NonNull::from(&*self.nodes[id].0), "order of deadline, then of insertion");
            assert!(when <= tick, "fired early");
            assert_eq!(self.nodes[id].1.take(), Some((when, seq)));
        }
        most
    }

    fn sleep(&mut self) {
        let Some(next) = self.wheel.next() else { return };
        if self.fire(self.now.max(next), usize::MAX) == 0 {
            self.excuses = self.excuses.checked_sub(1).expect("woken in vain more often than nodes were taken out");
        }
    }

    fn earliest(&self) -> Option<u64> {
        self.model.first_key_value().map(|(&(when, _), _)| when)
    }

    /// Rules 1 and 2 of the module, for one node.
    fn check_place(&self, when: u64, id: usize) {
        let elapsed = self.wheel.elapsed;
        // SAFETY: filed, and the wheel is at hand.
        let (filed_under, index) = unsafe { list::place(NonNull::from(&*self.nodes[id].0)) };
        let level = index / SLOTS;
        let from_level_up = |tick: u64| tick >> (BITS * level as u32);
        let above_level = |tick: u64| from_level_up(tick) >> BITS;
        assert_eq!(filed_under, when);
        assert_eq!(from_level_up(when) % SLOTS as u64, (index % SLOTS) as u64, "the digit that names the slot");
        assert!(when >= elapsed && (when > elapsed || level == 0));
        if level < TOP {
            assert_eq!(above_level(when), above_level(elapsed), "the level is too low");
        }
        assert!(level == 0 || from_level_up(when) > from_level_up(elapsed), "the level is too high");
    }

    fn check(&mut self) {
        assert!(self.wheel.elapsed <= self.now, "the wheel is ahead of the time");
        match (self.wheel.next(), self.earliest()) {
            (Some(next), Some(earliest)) => assert!(next <= earliest && next >= self.wheel.elapsed),
            (None, None) => {}
            other => panic!("the wheel and the model disagree on being empty: {other:?}"),
        }
    }
}
