//! Running the scenarios, and what came of them.

use std::io;
use std::time::Duration;

use rt_benches::Runtime;
use rt_benches::runtimes::{Rt, Tokio};

use super::load::{self, Seen};
use super::process::Server;
use super::scenario::Scenario;
use crate::sweep::Sweep;

/// The runtimes, in the order of the columns.
pub(super) const SIDES: [&str; 2] = [Rt::NAME, Tokio::NAME];

/// Of each scenario on each runtime. Two processes of one server differ by more than two runs of one process, so there
/// are more processes, and shorter runs. A run more, in the first of them, counts system calls, which takes time
/// itself.
const RUNS: usize = 7;
const RUN: Duration = Duration::from_secs(1);

/// What one run has shown. Times are microseconds, and but for the first all is of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) requests_per_second: f64,
    /// The 50th, 99th and 99.9th percentile.
    pub(super) latency_us: [f64; 3],
    /// Of the server's process.
    pub(super) cpu_us: f64,
    pub(super) switches: f64,
}

/// A runtime's runs, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) runs: Vec<Run>,
    /// How often the server has asked for events. Empty where that cannot be counted.
    pub(super) waits: Option<f64>,
}

/// What came of a scenario.
pub(super) struct Measured {
    pub(super) scenario: Scenario,
    pub(super) sides: [Figures; SIDES.len()],
    /// Why there is nothing.
    pub(super) failure: Option<String>,
}

/// The scenarios, and what came of them so far.
pub(crate) struct Servers {
    workers: usize,
    pub(super) measured: Vec<Measured>,
    /// Why nothing can be measured.
    pub(super) failure: Option<String>,
}

impl Servers {
    /// The scenarios whose titles contain the filter.
    pub(crate) fn new(filter: &str, workers: usize) -> Self {
        let scenarios = Scenario::all().into_iter().filter(|scenario| scenario.to_string().contains(filter));
        let measured = scenarios.map(|scenario| Measured { scenario, sides: Default::default(), failure: None });
        Self { workers, measured: measured.collect(), failure: load::check().err() }
    }

    /// Tells what it is at on standard error.
    pub(crate) fn run(&mut self, sweep: Sweep) {
        if let Some(failure) = &self.failure {
            eprintln!("{sweep}no servers: {failure}");
            return;
        }
        for measured in &mut self.measured {
            eprintln!("{sweep}{} workers: {}", self.workers, measured.scenario);
            for round in sweep.share(RUNS) {
                measured.run_round(round, self.workers);
            }
        }
    }
}

impl Measured {
    fn run_round(&mut self, round: usize, workers: usize) {
        for side in (0..SIDES.len()).map(|place| (round + place) % SIDES.len()) {
            if self.failure.is_some() {
                return;
            }
            let counts_waits = round == 0;
            if let Err(error) = self.sides[side].run(&self.scenario, SIDES[side], workers, counts_waits) {
                eprintln!("  {}: {error}", SIDES[side]);
                self.failure = Some(error.to_string());
            }
        }
    }
}

impl Figures {
    fn run(&mut self, scenario: &Scenario, runtime: &str, workers: usize, counts_waits: bool) -> io::Result<()> {
        let mut server = Server::start(scenario, runtime, workers)?;
        // Connects, and makes whatever is made once.
        load::run(scenario, server.port, RUN)?;
        let before = server.usage()?;
        let Seen { requests, requests_per_second, latency_us } = load::run(scenario, server.port, RUN)?;
        let used = server.usage()?.since(before);
        self.runs.push(Run {
            requests_per_second,
            latency_us,
            cpu_us: used.cpu.as_secs_f64() * 1e6 / requests,
            switches: used.switches as f64 / requests,
        });
        if counts_waits && let Some(count) = server.count_waits() {
            let seen = load::run(scenario, server.port, RUN)?;
            drop(server);
            self.waits = count.end().map(|waits| waits / seen.requests);
        }
        Ok(())
    }
}
