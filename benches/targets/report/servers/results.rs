//! Running the scenarios, and what came of them.

use std::io;
use std::time::Duration;

use rt_benches::runtimes::{Rt, Tokio};
use rt_benches::{Runs, Runtime};

use super::load::{self, Seen};
use super::process::Server;
use super::scenario::Scenario;
use crate::sweep::Sweep;

/// The runtimes, in the order of the columns.
pub(super) const SIDES: [&str; 2] = [Rt::NAME, Tokio::NAME];

/// Of each scenario on each runtime. A run more, a short one, counts system calls, which takes time itself.
const RUNS: usize = 3;
const RUN: Duration = Duration::from_secs(2);
const SHORT_RUN: Duration = Duration::from_secs(1);

/// What a request has cost, and how many there were. In the order of the columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) requests_per_second: Runs,
    /// The 50th, 99th and 99.9th percentile.
    pub(super) latency_us: [Runs; 3],
    /// Of the server's process.
    pub(super) cpu_us: Runs,
    pub(super) switches: Runs,
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
        load::run(scenario, server.port, SHORT_RUN)?;
        let before = server.usage()?;
        let seen = load::run(scenario, server.port, RUN)?;
        let used = server.usage()?.since(before);
        let Seen { requests, requests_per_second, latency_us } = seen;
        self.requests_per_second.push(requests_per_second);
        std::iter::zip(&mut self.latency_us, latency_us).for_each(|(runs, latency)| runs.push(latency));
        self.cpu_us.push(used.cpu.as_secs_f64() * 1e6 / requests);
        self.switches.push(used.switches as f64 / requests);
        if counts_waits && let Some(count) = server.count_waits() {
            let seen = load::run(scenario, server.port, SHORT_RUN)?;
            drop(server);
            self.waits = count.end().map(|waits| waits / seen.requests);
        }
        Ok(())
    }
}
