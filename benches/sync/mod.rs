//! Channels and locks: rt's beside Tokio's, and beside those of crates that belong to no runtime.
//!
//! Here libraries are compared, not runtimes. Tokio's are measured twice: on Tokio, where its users have them, and on
//! rt. The crates are measured on rt. So what differs in all columns but Tokio's own is the library alone. On Tokio and
//! on rt a task has a budget of operations, which the runtime's own library counts; the crates count nothing, nor does
//! Tokio's on rt.
//!
//! Each workload is a function, generic over the runtime and over one of the traits in [`kinds`], which the files in
//! [`libraries`] implement. Where a library has nothing of a kind the row has no figure of it.
//!
//! A run is short: it measures nanoseconds, and there are many rows.

mod alone;
mod channels;
mod countdown;
mod fan_out;
pub mod kinds;
pub mod libraries;
mod taking_turns;
mod threads;

use std::fmt;
use std::time::Duration;

use crate::measure::rounds_that_fill;
use crate::runtime::Runtime;
use crate::runtimes::{Rt, Tokio};

/// About how long a run is.
const RUN: Duration = Duration::from_millis(20);

/// The runtimes that the libraries are run on, both alive, one idle.
#[derive(Debug)]
pub struct Hosts {
    rt: Rt,
    tokio: Tokio,
}

impl Hosts {
    /// Starts both.
    pub fn start(workers: usize) -> Self {
        Self { rt: Rt::start(workers), tokio: Tokio::start(workers) }
    }
}

type Run = fn(&Hosts, u64) -> Duration;

/// One row: the same work with each library.
#[derive(Clone)]
pub struct LibraryRow {
    title: &'static str,
    operations: u64,
    runs: [Option<Run>; Self::NAMES.len()],
}

impl LibraryRow {
    /// What the libraries are called.
    pub const NAMES: [&'static str; 6] =
        ["rt", "Tokio", "Tokio's on rt", "smol's on rt", "flume on rt", "futures on rt"];

    /// One operation each of what nobody else uses meanwhile.
    pub fn alone() -> Vec<Self> {
        alone::rows()
    }

    /// Between plain threads.
    pub fn on_threads() -> Vec<Self> {
        threads::rows()
    }

    /// Between tasks.
    pub fn between_tasks() -> Vec<Self> {
        [channels::rows(), fan_out::rows(), taking_turns::rows()].concat()
    }

    /// Nothing of it happens in a runtime, so that Tokio's is measured once.
    fn without_runtime(mut self) -> Self {
        self.runs[2] = None;
        self
    }

    /// What an operation is, and the unit.
    pub fn title(&self) -> String {
        format!("{}, ns", self.title)
    }

    /// Warms up one of the libraries, if it has this. Returns how many rounds make a run of a good length.
    pub fn prepare(&self, hosts: &Hosts, library: usize) -> Option<u64> {
        let run = self.runs[library]?;
        Some(rounds_that_fill(RUN, |rounds| run(hosts, rounds)))
    }

    /// One run of that many rounds: nanoseconds an operation.
    ///
    /// # Panics
    ///
    /// If this library does not have it.
    pub fn run(&self, hosts: &Hosts, library: usize, rounds: u64) -> f64 {
        let run = self.runs[library].expect("only what was prepared is run");
        run(hosts, rounds).as_nanos() as f64 / (rounds * self.operations) as f64
    }
}

impl fmt::Debug for LibraryRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryRow").field("title", &self.title).finish_non_exhaustive()
    }
}

/// A row of a workload, which is a function with two parameters of type: the library's implementation, and the runtime.
macro_rules! row {
    ($title:expr, $operations:expr, $work:ident: $rt:ty, $tokio:ty $(, smol $smol:ty)? $(, flume $flume:ty)?
        $(, futures $futures:ty)?) => {{
        #[allow(unused_mut)]
        let mut runs: [Option<$crate::sync::Run>; 6] = [
            Some(|hosts, rounds| $work::<$rt, _>(&hosts.rt, rounds)),
            Some(|hosts, rounds| $work::<$tokio, _>(&hosts.tokio, rounds)),
            Some(|hosts, rounds| $work::<$tokio, _>(&hosts.rt, rounds)),
            None,
            None,
            None,
        ];
        $(runs[3] = Some(|hosts, rounds| $work::<$smol, _>(&hosts.rt, rounds));)?
        $(runs[4] = Some(|hosts, rounds| $work::<$flume, _>(&hosts.rt, rounds));)?
        $(runs[5] = Some(|hosts, rounds| $work::<$futures, _>(&hosts.rt, rounds));)?
        $crate::sync::LibraryRow { title: $title, operations: $operations, runs }
    }};
}
use row;
