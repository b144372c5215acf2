//! The wheel against a sorted map: the same operations on both must give the same nodes in the same order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A deadline, and how many nodes were inserted before.
type Key = (u64, u64);

/// A wheel beside its model. Nodes are boxed, and stay in `nodes` while they are filed.
struct Pair {
    wheel: Wheel,
    now: u64,
    /// Which nodes are filed, in the order in which they must come out.
    model: BTreeMap<Key, usize>,
    /// Where each node stands in the model; the box is what the wheel points to.
    nodes: Vec<(Box<Node>, Option<Key>)>,
    inserted: u64,
}

impl Pair {
    fn new() -> Self {
        Self { wheel: Wheel::new(), now: 0, model: BTreeMap::new(), nodes: Vec::new(), inserted: 0 }
    }

    fn file(&mut self, id: usize, when: u64) {
        let key = (when.min(MAX_TICK), self.inserted);
        self.inserted += 1;
        // SAFETY: the node is boxed, kept until the wheel is gone, and filed nowhere (its key is `None`).
        match unsafe { self.wheel.insert(NonNull::from(&*self.nodes[id].0), when) } {
            Ok(()) => {
                self.nodes[id].1 = Some(key);
                self.model.insert(key, id);
            }
            Err(Due) => assert!(key.0 <= self.now, "refused a deadline that lies ahead"),
        }
    }

    fn insert(&mut self, when: u64) {
        self.nodes.push((Box::new(Node::new()), None));
        self.file(self.nodes.len() - 1, when);
    }

    fn cancel(&mut self, pick: usize) -> Option<usize> {
        let id = *self.model.values().nth(pick % self.model.len().max(1))?;
        let key = self.nodes[id].1.take().expect("the model only holds filed nodes");
        self.model.remove(&key);
        // SAFETY: the model says that it is filed.
        unsafe { self.wheel.remove(NonNull::from(&*self.nodes[id].0)) };
        Some(id)
    }

    fn advance(&mut self, to: u64) {
        self.now = self.now.max(to);
        while let Some(node) = self.wheel.pop_due(self.now) {
            let ((when, seq), id) = self.model.pop_first().expect("the wheel fired more than was set");
            assert_eq!(node, NonNull::from(&*self.nodes[id].0), "order of deadline, then of insertion");
            assert!(when <= self.now, "fired early");
            assert_eq!(self.nodes[id].1.take(), Some((when, seq)));
        }
        if let Some((&(when, _), _)) = self.model.first_key_value() {
            assert!(when.min(MAX_TICK) > self.now.min(MAX_TICK), "something due was not fired");
        }
        self.check();
    }

    fn check(&mut self) {
        let earliest = self.model.first_key_value().map(|(&(when, _), _)| when);
        match (self.wheel.next(), earliest) {
            (Some(next), Some(earliest)) => assert!(next <= earliest && next > self.wheel.elapsed),
            (None, None) => {}
            other => panic!("the wheel and the model disagree on being empty: {other:?}"),
        }
    }
}

#[derive(Debug, Clone)]
enum Op {
    Insert(u64),
    Cancel(usize),
    Reset(usize, u64),
    Advance(u64),
    /// Advance to exactly the next deadline, or one tick short of it.
    AdvanceToNext {
        short: bool,
    },
    ExactNext,
}

/// Distances of every order of magnitude, crowded around the powers of 256 where levels meet.
fn distance() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..200_u64,
        4 => (0..8_u32, -2..3_i64).prop_map(|(digit, off)| (1_u64 << (digit * 8).min(61)).saturating_add_signed(off)),
        2 => (0..62_u32, any::<u64>()).prop_map(|(bits, random)| random >> (63 - bits)),
        1 => Just(u64::MAX),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => distance().prop_map(Op::Insert),
        3 => any::<usize>().prop_map(Op::Cancel),
        2 => (any::<usize>(), distance()).prop_map(|(pick, by)| Op::Reset(pick, by)),
        2 => distance().prop_map(Op::Advance),
        3 => any::<bool>().prop_map(|short| Op::AdvanceToNext { short }),
        1 => Just(Op::ExactNext),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn behaves_like_a_sorted_map(ops in prop::collection::vec(op(), 1..120)) {
        let mut pair = Pair::new();
        for op in ops {
            match op {
                Op::Insert(by) => pair.insert(pair.now.saturating_add(by)),
                Op::Cancel(pick) => {
                    pair.cancel(pick);
                }
                Op::Reset(pick, by) => {
                    if let Some(id) = pair.cancel(pick) {
                        pair.file(id, pair.now.saturating_add(by));
                    }
                }
                Op::Advance(by) => pair.advance(pair.now.saturating_add(by)),
                Op::AdvanceToNext { short } => {
                    if let Some((&(when, _), _)) = pair.model.first_key_value() {
                        pair.advance(when - u64::from(short));
                    }
                }
                Op::ExactNext => {
                    let earliest = pair.model.first_key_value().map(|(&(when, _), _)| when);
                    prop_assert_eq!(pair.wheel.exact_next(), earliest);
                }
            }
            pair.check();
        }
        pair.advance(u64::MAX);
        prop_assert!(pair.model.is_empty() || pair.now < MAX_TICK);
    }
}

#[test]
fn a_lone_far_timer_needs_no_stop_on_the_way() {
    let mut pair = Pair::new();
    pair.insert(3_600_000);
    assert_eq!(pair.wheel.next(), Some(3_600_000));
    pair.advance(3_599_999);
    assert_eq!(pair.wheel.next(), Some(3_600_000));
    pair.advance(3_600_000);
    assert!(pair.model.is_empty());
}

#[test]
fn parked_beyond_the_span_and_filed_again() {
    let span = 1_u64 << (BITS * LEVELS as u32);
    let mut pair = Pair::new();
    // All three share a top-level slot, in three different rounds.
    for round in [3, 1, 2] {
        pair.insert(round * span + (5 << 32) + 7);
    }
    pair.insert((5 << 32) + 7);
    for round in 0..4 {
        let when = round * span + (5 << 32) + 7;
        assert_eq!(pair.wheel.next(), Some(when));
        pair.advance(when - 1);
        assert_eq!(pair.model.len() as u64, 4 - round);
        pair.advance(when);
        assert_eq!(pair.model.len() as u64, 3 - round);
    }
}

#[test]
fn an_unused_wheel_has_no_slots() {
    let mut wheel = Wheel::new();
    assert_eq!((wheel.next(), wheel.exact_next(), wheel.pop_due(1000)), (None, None, None));
    assert!(wheel.slots.is_empty());
}
