//! The state word of a task against an account of who holds it. The account is in runtime-core, `task/state/model.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runtime_core::fuzzing::task_state::{Op, run};

// One byte a step, so that any piece of one input can go on where another stops.
fuzz_target!(|steps: &[u8]| run(steps.iter().map(|&step| Op::ALL[usize::from(step) % Op::ALL.len()])));
