//! Looks into a running program on the [rt](https://docs.rs/rt) async runtime, over HTTP.
//!
//! One thread of its own, `rt-inspect`, serves all runtimes of the process that ask for the same address. It uses
//! nothing of theirs but counters that they write anyway: so it answers while every worker is stuck. The facade's
//! builder calls [`prepare`] before it makes a runtime, [`Prepared::observe`] with the configuration, and
//! [`Prepared::register`] when the runtime is there; what that returns is dropped with the runtime.
//!
//! What it must never do: keep a runtime alive, wait for one, or be waited for by one; grow with the number or the
//! behaviour of its clients.
//!
//! | path | what |
//! |---|---|
//! | `/` | which paths there are |
//! | `/metrics` | OpenMetrics, or Prometheus' older text for a client that does not ask for it |
//! | `/workers` | JSON: the runtimes, their workers and counts |
//! | `/tasks` | JSON: the tasks, and what they wait for |
//! | `/blocked` | JSON: the last reports of tasks that blocked their worker |
//! | `/events` | the same as `/workers`, as an event each second (SSE) |
//!
//! Where to begin reading: `server.rs` (the thread), `registry.rs` (how it starts and ends), `routes.rs`.

mod connection;
mod json;
mod openmetrics;
mod registry;
mod reports;
mod request;
mod response;
mod routes;
mod server;
mod settings;
mod token;
mod views;

pub use self::registry::{Prepared, Registration, prepare, prepare_from_environment};
pub use self::settings::{ADDRESS_VAR, Settings, TOKEN_VAR, from_environment};
