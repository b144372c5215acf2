//! The section in the report.

use std::fmt;

use rt_benches::Runs;

use super::results::{Figures, Measured, Servers};
use super::scenario::Scenario;
use crate::row::{Aim, Figure, quotient};

const ABOUT: &str = "\
Servers in processes of their own, by the same source on rt and on Tokio, loaded from another process on the same machine:
`hello`, `work` and `bodies` are HTTP/1.1 by hyper, loaded by wrk; `lines` is Redis' protocol on plain streams, loaded by
redis-benchmark. Both clients have one thread. [`benches/servers`](benches/servers) tells what each does. Every cell has rt's figure,
Tokio's, and their ratio, medians of three runs in turn, each with a new process. More requests in a second are better; of all else
less is. CPU is the server's processor time a request, switches its threads' context switches a request, waits how often it
asked the system for events a request. A figure in bold misses its aim: requests in a second at least those of Tokio, the 99th
percentile at most Tokio's, and the processor time at most 1.0 of Tokio's for `hello` and 0.9 for `work`.
";

/// The section.
pub(crate) struct ServerSection<'a>(pub(crate) &'a Servers);

impl fmt::Display for ServerSection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## Servers\n\n{ABOUT}")?;
        if let Some(failure) = &self.0.failure {
            return writeln!(f, "Not measured: {failure}.");
        }
        writeln!(f, "| server | requests/s | p50, us | p99, us | p99.9, us | CPU, us | switches | waits |")?;
        writeln!(f, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
        let mut aims = Aims::default();
        for measured in &self.0.measured {
            line(f, measured, &mut aims)?;
        }
        let Aims { met, all } = aims;
        writeln!(f, "\nOf {all} aims of servers, {met} are met.")
    }
}

#[derive(Default)]
struct Aims {
    met: usize,
    all: usize,
}

fn line(f: &mut fmt::Formatter<'_>, measured: &Measured, aims: &mut Aims) -> fmt::Result {
    let Measured { scenario, sides, failure } = measured;
    if let Some(failure) = failure {
        return writeln!(f, "| {scenario} | not measured: {} |", failure.replace(['|', '\n'], " "));
    }
    let median = |of: fn(&Figures) -> &Runs| sides.each_ref().map(|figures| of(figures).median());
    let requests = median(|figures| &figures.requests_per_second);
    let is_enough = hundredths(quotient(requests[0], requests[1])) >= hundredths(Scenario::REQUESTS);
    write!(f, "| {scenario} | {} |", Cell(requests, aims.note(is_enough)))?;
    let at_most = |[rt, tokio]: [f64; 2], aim: Option<Aim>| match aim {
        Some(Aim::Ratio(most)) => Some(hundredths(quotient(rt, tokio)) <= hundredths(most)),
        Some(Aim::Figure(most)) => Some(rt <= most),
        None => None,
    };
    let cells = [
        (median(|figures| &figures.latency_us[0]), None),
        (median(|figures| &figures.latency_us[1]), Some(Scenario::P99)),
        (median(|figures| &figures.latency_us[2]), None),
        (median(|figures| &figures.cpu_us), scenario.cpu()),
        (median(|figures| &figures.switches), None),
    ];
    for (figures, aim) in cells {
        let misses = at_most(figures, aim).is_some_and(|is_met| aims.note(is_met));
        write!(f, " {} |", Cell(figures, misses))?;
    }
    match sides.each_ref().map(|figures| figures.waits) {
        [Some(rt), Some(tokio)] => writeln!(f, " {} |", Cell([rt, tokio], false)),
        _ => writeln!(f, " not counted |"),
    }
}

impl Aims {
    /// Counts an aim. True if it is missed.
    fn note(&mut self, is_met: bool) -> bool {
        self.all += 1;
        self.met += usize::from(is_met);
        !is_met
    }
}

/// As precise as it is printed.
fn hundredths(ratio: f64) -> f64 {
    (ratio * 100.0).round()
}

/// rt's figure, Tokio's, and whether an aim is missed.
struct Cell([f64; 2], bool);

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([rt, tokio], misses) = *self;
        let mark = if misses { "**" } else { "" };
        write!(f, "{mark}{} / {} ({:.2}){mark}", Figure(rt), Figure(tokio), quotient(rt, tokio))
    }
}
