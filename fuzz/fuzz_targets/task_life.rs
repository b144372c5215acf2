//! Whole tasks that follow a script, against the books that are kept of them. The books are in `tests/scripts/model/`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/scripts/model/mod.rs"]
mod model;

fuzz_target!(|script: &[u8]| model::run(script));
