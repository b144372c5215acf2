//! The section about real servers: each in a process of its own, loaded by wrk or redis-benchmark, on rt and on Tokio.
//!
//! A [`Scenario`](scenario::Scenario) is a server, a number of connections, and what else happens on the machine. All
//! scenarios are gone through in sweeps, as the other rows are; within one the two runtimes have their runs in turn,
//! each with a new process.

mod load;
mod place;
mod process;
mod results;
mod scenario;
mod table;

pub(crate) use self::process::burn_if_told;
pub(crate) use self::results::{Run, Servers};
pub(crate) use self::scenario::Scenario;
pub(crate) use self::table::{ServerAims, ServerSection};
