//! The macros of the facade: `select!`, `join!`, `try_join!` and `pin!`, and the attributes `#[rt::main]` and
//! `#[rt::test]`.
//!
//! The work is done by procedural macros in `runtime-macros`. What stands here is what only the facade can give: the
//! documentation, `$crate`, by which an expansion finds this crate whatever its users call it, and [`support`], the few
//! names that expansions use. Expansions must use nothing else of this crate, except that the attributes use the public
//! `runtime::Builder`. All but `pin!` is there with the feature `macros` only; `pin!` takes nothing that is not there
//! anyway.

#[cfg(feature = "macros")]
mod attributes;
#[cfg(feature = "macros")]
mod join;
mod pin;
#[cfg(feature = "macros")]
mod select;
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod support;

#[cfg(feature = "macros")]
pub use attributes::{main, test};
/// The attributes for the package `tokio` that stands in for Tokio: they name `tokio::` where [`main`] and [`test`]
/// name `::rt`.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use runtime_macros::{tokio_main, tokio_test};
