//! The timing wheel against a sorted map. What is compared is in runtime-time, `wheel/model.rs`.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use runtime_time::fuzzing::wheel::{Op, run};

/// A number of ticks. A fuzzer that mutates bytes hardly ever meets the powers of 256, where the levels of the wheel
/// meet, by itself.
#[derive(Arbitrary, Debug)]
enum Ticks {
    Few(u8),
    AboutPower { bits: u8, off: i8 },
    UpTo { bits: u8, of: u64 },
    Any(u64),
    Never,
}

impl From<Ticks> for u64 {
    fn from(ticks: Ticks) -> Self {
        match ticks {
            Ticks::Few(ticks) => ticks.into(),
            Ticks::AboutPower { bits, off } => (1_u64 << (bits % 64)).saturating_add_signed(off.into()),
            Ticks::UpTo { bits, of } => of >> (bits % 64),
            Ticks::Any(ticks) => ticks,
            Ticks::Never => u64::MAX,
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    Insert(Ticks),
    InsertAt(Ticks),
    Cancel(u8),
    Reset(u8, Ticks),
    Advance(Ticks),
    FireSome(Ticks, u8),
    FireAt(Ticks),
    AdvanceToDeadline { short: bool },
    Sleep,
    ExactNext,
}

impl From<Step> for Op {
    fn from(step: Step) -> Self {
        match step {
            Step::Insert(by) => Op::Insert(by.into()),
            Step::InsertAt(when) => Op::InsertAt(when.into()),
            Step::Cancel(pick) => Op::Cancel(pick.into()),
            Step::Reset(pick, by) => Op::Reset(pick.into(), by.into()),
            Step::Advance(by) => Op::Advance(by.into()),
            Step::FireSome(by, most) => Op::FireSome(by.into(), usize::from(most % 8)),
            Step::FireAt(tick) => Op::FireAt(tick.into()),
            Step::AdvanceToDeadline { short } => Op::AdvanceToDeadline { short },
            Step::Sleep => Op::Sleep,
            Step::ExactNext => Op::ExactNext,
        }
    }
}

fuzz_target!(|steps: Vec<Step>| run(steps.into_iter().map(Op::from)));
