//! Wrong uses of the macros: what the compiler says about each is written down in `ui/*.stderr`.
//!
//! The messages are part of the interface. After a change, `TRYBUILD=overwrite` writes them anew, to be read and
//! judged like any other change. Those of the compiler itself may also differ from one of its releases to the next.

#[test]
fn wrong_uses_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
