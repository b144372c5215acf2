//! Running the scenarios, and what came of them.

use std::io;
use std::time::Duration;

use rt_benches::Runtime;
use rt_benches::runtimes::{Rt, Tokio};

use super::load::{self, Seen};
use super::process::Server;
use super::scenario::Scenario;
use crate::contest::turn;
use crate::sweep::Sweep;

/// Two processes of one server differ by more than two runs of one process, so there are more processes, and shorter
/// runs.
const RUN: Duration = Duration::from_secs(1);

/// What one run has shown. Times are microseconds, and but for the first all is of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) requests_per_second: f64,
    /// The 50th, 99th and 99.9th percentile.
    pub(crate) latency_us: [f64; 3],
    /// Of the server's process.
    pub(crate) cpu_us: f64,
    pub(crate) switches: f64,
}

/// A runtime's runs, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) runs: Vec<Run>,
    /// How often the server has asked for events. Empty where that cannot be counted.
    pub(crate) waits: Option<f64>,
}

/// What came of a scenario.
pub(crate) struct Measured {
    pub(crate) scenario: Scenario,
    /// In the order of [`Servers::runtimes`].
    pub(crate) sides: Vec<Figures>,
    /// Why there is nothing.
    pub(crate) failure: Option<String>,
}

/// The scenarios, and what came of them so far.
pub(crate) struct Servers {
    workers: usize,
    /// What is compared, by the names that [`serve_if_told`](rt_benches::servers::serve_if_told) knows.
    runtimes: &'static [&'static str],
    /// Of each scenario on each runtime.
    runs: usize,
    /// Whether a run more, in the first process, counts system calls, which takes time itself.
    counts_waits: bool,
    pub(crate) measured: Vec<Measured>,
    /// Why nothing can be measured.
    pub(crate) failure: Option<String>,
}

impl Servers {
    /// rt beside Tokio, in the scenarios whose titles contain the filter.
    pub(crate) fn new(filter: &str, workers: usize) -> Self {
        let scenarios = Scenario::all().into_iter().filter(|scenario| scenario.to_string().contains(filter));
        Self { counts_waits: true, ..Self::of(scenarios, &[Rt::NAME, Tokio::NAME], 7, workers) }
    }

    pub(crate) fn of(
        scenarios: impl Iterator<Item = Scenario>,
        runtimes: &'static [&'static str],
        runs: usize,
        workers: usize,
    ) -> Self {
        let (failure, counts_waits) = (load::check().err(), false);
        let none = vec![Figures::default(); runtimes.len()];
        let measured = scenarios.map(|scenario| Measured { scenario, sides: none.clone(), failure: None });
        Self { workers, runtimes, runs, counts_waits, measured: measured.collect(), failure }
    }

    /// Tells what it is at on standard error.
    pub(crate) fn run(&mut self, sweep: Sweep) {
        if let Some(failure) = &self.failure {
            eprintln!("{sweep}no servers: {failure}");
            return;
        }
        for measured in &mut self.measured {
            let runtimes = self.runtimes.join(", ");
            eprintln!("{sweep}{} workers: {} ({runtimes})", self.workers, measured.scenario);
            for round in sweep.share(self.runs) {
                measured.run_round(round, self.runtimes, self.workers, self.counts_waits && round == 0);
            }
        }
    }
}

impl Measured {
    fn run_round(&mut self, round: usize, runtimes: &[&str], workers: usize, counts_waits: bool) {
        for side in turn(round, runtimes.len()) {
            if self.failure.is_some() {
                return;
            }
            if let Err(error) = self.sides[side].run(&self.scenario, runtimes[side], workers, counts_waits) {
                eprintln!("  {}: {error}", runtimes[side]);
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
