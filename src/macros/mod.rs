//! The macros of the facade: `select!`, `join!`, `try_join!` and `pin!`, and the attributes `#[rt::main]` and
//! `#[rt::test]`.
//!
//! The work is done by procedural macros in `runtime-macros`. What stands here is what only the facade can give: the
//! documentation, `$crate`, by which an expansion finds this crate whatever its users call it, and [`support`], the few
//! names that expansions use. Expansions must use nothing else of this crate, except that the attributes use the public
//! `runtime::Builder`.

mod attributes;
mod join;
mod pin;
mod select;
#[doc(hidden)]
pub mod support;

pub use attributes::{main, test};
