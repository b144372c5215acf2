//! Tasks that do what a string of bytes tells them, on a current-thread runtime: the books must balance.
//!
//! The fuzz target `task_life` runs the same model with strings of its own.

mod model;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_tasks_do_to_each_other_the_books_balance(script in prop::collection::vec(any::<u8>(), 0..600)) {
        model::run(&script);
    }
}
