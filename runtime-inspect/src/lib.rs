//! Looks into a running program on the rt async runtime, over HTTP.
//!
//! One thread of its own, `rt-inspect`, serves all runtimes of the process that ask for the same address. It uses
//! nothing of theirs but counters that they write anyway: so it answers while every worker is stuck. The facade's
//! builder calls [`prepare`] before it makes a runtime, [`Prepared::observe`] with the configuration, and
//! [`Prepared::register`] when the runtime is there; what that returns is dropped with the runtime.
//!
//! What it must never do: keep a runtime alive, wait for one, be waited for by one, or run the program's code; grow
//! with the number or the behaviour of its clients.
//!
//! What it answers, and the fields of the JSON, [`answers`] has.
//!
//! Where to begin reading: `server.rs` (the thread), `registry.rs` (how it starts and ends), `observed.rs` (how
//! runtimes are read), `routes.rs`.

#[doc = include_str!("../answers.md")]
pub mod answers {}
mod connection;
mod json;
mod observed;
mod openmetrics;
mod page;
mod recording;
mod registry;
mod reports;
mod request;
mod response;
mod routes;
mod server;
mod settings;
mod tasks;
mod token;
mod views;

pub use self::registry::{Prepared, Registration, prepare, prepare_from_environment};
pub use self::settings::{ADDRESS_VAR, Settings, TOKEN_VAR, from_environment};
