//! The section about what it costs that a program can be looked into: rt beside itself without the measuring, and with
//! a flight recorder that runs.

use std::ops::Range;
use std::{fmt, iter};

use rt_benches::runtimes::{Recorded, Rt, RtWith, Unmeasured};
use rt_benches::servers::Kind;
use rt_benches::workloads::{
    Chain, Detached, Echo, ForkJoin, Join, ManySenders, PingPong, Sleepers, ThereAndBack, Yielding,
};
use rt_benches::{Measure, PerOperation, Runtime, Workload};

use crate::cell::{Cell, RatioAim, Verdicts};
use crate::contest::in_turn;
use crate::servers::{Run, Scenario, Servers};
use crate::sweep::Sweep;

const ABOUT: &str = "\
rt measures how long polls take and how long tasks wait for them, unless it is told not to. Here it is beside itself
without that (`Builder::metrics_histograms`), and with the flight recorder on beside itself with it off. The three run
in turn, fifteen times, and every cell has the one median, the other one, and the median of the fifteen ratios of a run
to the one beside it; where there is an aim also the range of the middle half of these ratios. Rows of servers are as
under Servers; CPU is processor time a request.

The aims: measuring takes at most 2 % of the time of any row, and of servers 1 %; the recorder takes at most 5 % of
servers'. Ratios are compared as they are printed. (The recorder writes several records for each poll. Tasks that do
next to nothing in a poll show what these cost, and have no aim.) A figure in bold misses its aim. One in italics misses
it too, but by less than its runs differ.
";

/// The variants, in the order of a round's figures.
const VARIANTS: &[&str] = &[Rt::NAME, RtWith::<Unmeasured>::NAME, RtWith::<Recorded>::NAME];

/// What is sought is smaller than what runs differ by, so there are more of them than of other rows.
const RUNS: usize = 15;

/// What measuring may cost a row, and a server; and what the recorder may cost a server.
const MEASURING: f64 = 1.02;
const MEASURING_SERVERS: f64 = 1.01;
const RECORDING_SERVERS: f64 = 1.05;

/// What is told of a server.
struct ServerFigure {
    what: &'static str,
    of: fn(&Run) -> f64,
    /// What the ratio is meant to be if a cost of that much is allowed.
    aim: fn(f64) -> RatioAim,
}

const SERVER_FIGURES: [ServerFigure; 2] = [
    // More is better: what the cost leaves.
    ServerFigure { what: "requests/s", of: |run| run.requests_per_second, aim: |cost| RatioAim::AtLeast(2.0 - cost) },
    ServerFigure { what: "CPU, us", of: |run| run.cpu_us, aim: RatioAim::AtMost },
];

/// The rows, and what came of them so far.
pub(crate) struct Seeing {
    workers: usize,
    rows: Vec<Timed>,
    servers: Servers,
}

struct Timed {
    workload: Box<dyn Comparable>,
    /// Of each round, of each variant.
    rounds: Vec<[f64; 3]>,
}

/// A workload that can be in a list with others.
trait Comparable {
    fn title(&self) -> String;

    fn run(&self, workers: usize, rounds: Range<usize>) -> Vec<[f64; 3]>;
}

impl<W: Workload> Comparable for PerOperation<W> {
    fn title(&self) -> String {
        self.titles().concat()
    }

    fn run(&self, workers: usize, rounds: Range<usize>) -> Vec<[f64; 3]> {
        let mut figures = Vec::new();
        let take = |round: [Vec<f64>; 3]| figures.push(round.map(|figures| figures[0]));
        in_turn::<_, Rt, RtWith<Unmeasured>, RtWith<Recorded>>(self, workers, rounds, take);
        figures
    }
}

impl Seeing {
    /// The rows whose titles contain the filter.
    pub(crate) fn new(filter: &str, workers: usize) -> Self {
        let all: [Box<dyn Comparable>; 11] = [
            Box::new(PerOperation(Join)),
            Box::new(PerOperation(Detached)),
            Box::new(PerOperation(Chain)),
            Box::new(PerOperation(ForkJoin)),
            Box::new(PerOperation(Yielding::MANY)),
            Box::new(PerOperation(Yielding::ONE)),
            Box::new(PerOperation(PingPong)),
            Box::new(PerOperation(ThereAndBack::TASKS)),
            Box::new(PerOperation(ManySenders)),
            Box::new(PerOperation(Sleepers)),
            Box::new(PerOperation(Echo::MANY)),
        ];
        let wanted = all.into_iter().filter(|workload| workload.title().contains(filter));
        let rows = wanted.map(|workload| Timed { workload, rounds: Vec::new() }).collect();
        let scenarios = [Scenario::by_wrk(Kind::Hello, 64), Scenario::by_wrk(Kind::Work, 64)];
        let scenarios = scenarios.into_iter().filter(|scenario| scenario.to_string().contains(filter));
        Self { workers, rows, servers: Servers::of(scenarios, VARIANTS, RUNS, workers) }
    }

    /// Tells what it is at on standard error.
    pub(crate) fn run(&mut self, sweep: Sweep) {
        for row in &mut self.rows {
            eprintln!("{sweep}{} workers: {} ({})", self.workers, row.workload.title(), VARIANTS.join(", "));
            row.rounds.extend(row.workload.run(self.workers, sweep.share(RUNS)));
        }
        self.servers.run(sweep);
    }

    /// The titles, and the cells about measuring and about recording.
    fn lines(&self) -> Vec<(String, [Cell; 2])> {
        let timed = self.rows.iter().map(|row| {
            let beside = |one: usize, other: usize| row.rounds.iter().map(move |round| [round[one], round[other]]);
            let measuring = Cell::paired(beside(0, 1), Some(RatioAim::AtMost(MEASURING)));
            (row.workload.title(), [measuring, Cell::paired(beside(2, 0), None)])
        });
        let mut lines: Vec<_> = timed.collect();
        let servers = self.servers.measured.iter().filter(|_| self.servers.failure.is_none());
        for measured in servers.filter(|measured| measured.failure.is_none()) {
            let [on, off, recorded] = &measured.sides[..] else { continue };
            let beside = |one: &[Run], other: &[Run], of: fn(&Run) -> f64, aim| {
                Cell::paired(iter::zip(one, other).map(|(one, other)| [of(one), of(other)]), Some(aim))
            };
            for ServerFigure { what, of, aim } in SERVER_FIGURES {
                let measuring = beside(&on.runs, &off.runs, of, aim(MEASURING_SERVERS));
                let recording = beside(&recorded.runs, &on.runs, of, aim(RECORDING_SERVERS));
                lines.push((format!("{}: {what}", measured.scenario), [measuring, recording]));
            }
        }
        lines
    }
}

impl fmt::Display for Seeing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## What it costs to be able to see\n\n{ABOUT}")?;
        writeln!(f, "| row | measured / not | recorded / not |\n|---|--:|--:|")?;
        let lines = self.lines();
        for (title, [measuring, recording]) in &lines {
            writeln!(f, "| {title} | {measuring} | {recording} |")?;
        }
        for measured in &self.servers.measured {
            if let Some(failure) = &measured.failure {
                writeln!(f, "| {}: not measured: {} | | |", measured.scenario, failure.replace(['|', '\n'], " "))?;
            }
        }
        if let Some(failure) = &self.servers.failure {
            writeln!(f, "\nServers were not measured: {failure}.")?;
        }
        let verdicts: Vec<_> = lines.iter().flat_map(|(_, cells)| cells).filter_map(|cell| cell.verdict).collect();
        writeln!(f, "\nOf {} of these aims {}.", verdicts.len(), Verdicts(verdicts))
    }
}
