//! The wheel against a sorted map, by random operations (`model.rs` compares) and by hand.

use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;

use super::model::{Op, Pair, run};
use super::*;

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
        1 => distance().prop_map(Op::InsertAt),
        3 => any::<usize>().prop_map(Op::Cancel),
        2 => (any::<usize>(), distance()).prop_map(|(pick, by)| Op::Reset(pick, by)),
        2 => distance().prop_map(Op::Advance),
        1 => (distance(), 0..4_usize).prop_map(|(by, most)| Op::FireSome(by, most)),
        1 => distance().prop_map(Op::FireAt),
        3 => any::<bool>().prop_map(|short| Op::AdvanceToDeadline { short }),
        2 => Just(Op::Sleep),
        1 => Just(Op::ExactNext),
    ]
}

proptest! {
    // The default generator takes several times as long as the wheel.
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    })]

    #[test]
    fn behaves_like_a_sorted_map(ops in prop::collection::vec(op(), 1..120)) {
        run(ops);
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
