//! The procedural half of rt's macros.
//!
//! Nobody depends on this crate directly. The facade `rt` re-exports [`macro@main`] and [`macro@test`] as they are, and
//! puts a `macro_rules!` front before the three expanders (`select_internal`, `join_internal`, `try_join_internal`):
//! the front hands over `$crate`, so that what comes out finds the facade under whatever name the user gave it.
//!
//! What comes out of here is user code: it is compiled in the user's crate, under the user's edition and lints. Hence
//! three rules that every expander keeps.
//!
//! - It names nothing but absolute paths and its own hygienic (mixed-site) locals, so that no name of the user's can
//!   get in the way, nor any of ours be seen. (The attributes of the drop-in, `tokio_main` and `tokio_test`, name
//!   `tokio`, which the user may have from wherever they like, as with Tokio's.)
//! - The user's tokens go through unchanged, with their spans. Whatever is wrong with them, be it a type, a borrow or
//!   a missing `.await`, is then reported where the user wrote it.
//! - A wrong use is an error on the token that is wrong, saying what to write instead. The rest of the item is still
//!   emitted, so that one mistake is one message and editors keep understanding the function.
//!
//! It must never emit `unsafe` code, nor know how the runtime works: all it relies on is the public builder and the
//! hidden module `rt::macros::support`. Nor does it parse Rust, which the compiler does anyway: see `tokens.rs`.

mod entry;
mod error;
mod join;
mod select;
mod tokens;

use proc_macro::TokenStream;

use entry::{Attribute, Facade, Kind};

/// Turns an `async fn` into a plain one that starts a runtime and runs the body on it.
///
/// Its documentation, with examples, is on the re-export `rt::main`.
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute(Kind::Main, Facade::Rt, options, item)
}

/// Turns an `async fn` into a test that runs on a runtime of its own.
///
/// Its documentation, with examples, is on the re-export `rt::test`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute(Kind::Test, Facade::Rt, options, item)
}

/// [`macro@main`] for crates that have the runtime as `tokio`: what becomes of the function names `tokio::`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_main(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute(Kind::Main, Facade::Tokio, options, item)
}

/// [`macro@test`] for crates that have the runtime as `tokio`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand_attribute(Kind::Test, Facade::Tokio, options, item)
}

fn expand_attribute(kind: Kind, facade: Facade, options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(Attribute { kind, facade }, options.into(), item.into()).into()
}

/// What `rt::select!` expands through: `$crate; branches`.
#[doc(hidden)]
#[proc_macro]
pub fn select_internal(input: TokenStream) -> TokenStream {
    select::expand(input.into()).into()
}

/// What `rt::join!` expands through: `$crate; (rotate | biased); (future) (future) ..`.
#[doc(hidden)]
#[proc_macro]
pub fn join_internal(input: TokenStream) -> TokenStream {
    join::expand(join::Kind::Join, input.into()).into()
}

/// What `rt::try_join!` expands through: `$crate; (rotate | biased); (future) (future) ..`.
#[doc(hidden)]
#[proc_macro]
pub fn try_join_internal(input: TokenStream) -> TokenStream {
    join::expand(join::Kind::TryJoin, input.into()).into()
}
