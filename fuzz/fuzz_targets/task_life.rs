//! Whole tasks that follow a script, beside an account of what must be true of them. The model is in
//! `tests/tasks/script_model/`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/tasks/script_model/mod.rs"]
mod script_model;

fuzz_target!(|script: &[u8]| script_model::run(script));
