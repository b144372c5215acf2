//! Tasks that do what a random string of bytes tells them, on a current-thread runtime, beside an account of what must
//! be true of them.
//!
//! The fuzz target `task_life` runs the same model with strings of its own.

use proptest::prelude::*;

use crate::script_model;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tasks_that_follow_a_random_script_keep_every_promise(script in prop::collection::vec(any::<u8>(), 0..600)) {
        script_model::run(&script);
    }
}
