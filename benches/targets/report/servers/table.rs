//! The section in the report.

use std::fmt;

use rt_benches::Runs;

use super::results::{Figures, Measured, Servers};
use super::scenario::Scenario;
use crate::row::{Figure, quotient};

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

/// How many of the section's aims are met.
pub(crate) struct ServerAims<'a>(pub(crate) &'a Servers);

impl fmt::Display for ServerSection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## Servers\n\n{ABOUT}")?;
        if self.0.failure.is_none() {
            writeln!(f, "| server | requests/s | p50, us | p99, us | p99.9, us | CPU, us | switches | waits |")?;
            writeln!(f, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
            self.0.measured.iter().try_for_each(|measured| writeln!(f, "| {} |", Line(measured)))?;
        }
        writeln!(f, "\n{}", ServerAims(self.0))
    }
}

impl fmt::Display for ServerAims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.0.failure {
            return write!(f, "Servers were not measured: {failure}.");
        }
        let aims: Vec<bool> = self.0.measured.iter().flat_map(cells).filter_map(|cell| cell.meets_aim).collect();
        let met = aims.iter().filter(|is_met| **is_met).count();
        write!(f, "Of {} aims of real servers beside Tokio's, {met} are met.", aims.len())
    }
}

struct Line<'a>(&'a Measured);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { scenario, failure, .. } = self.0;
        write!(f, "{scenario}")?;
        if let Some(failure) = failure {
            return write!(f, " | not measured: {}", failure.replace(['|', '\n'], " "));
        }
        cells(self.0).iter().try_for_each(|cell| write!(f, " | {cell}"))
    }
}

/// rt's figure and Tokio's. `None` where they cannot be had.
struct Cell {
    figures: Option<[f64; 2]>,
    meets_aim: Option<bool>,
}

/// The cells of a scenario, but for its title. None if it could not be measured.
fn cells(measured: &Measured) -> Vec<Cell> {
    let Measured { scenario, sides, failure } = measured;
    if failure.is_some() {
        return Vec::new();
    }
    let median = |of: fn(&Figures) -> &Runs| sides.each_ref().map(|figures| of(figures).median());
    let less = |figures: [f64; 2], aim: Option<f64>| Cell {
        figures: Some(figures),
        meets_aim: aim.map(|most| hundredths(quotient(figures[0], figures[1])) <= hundredths(most)),
    };
    let [rt, tokio] = median(|figures| &figures.requests_per_second);
    let is_enough = hundredths(quotient(rt, tokio)) >= hundredths(Scenario::REQUESTS);
    let waits = sides.each_ref().map(|figures| figures.waits);
    vec![
        Cell { figures: Some([rt, tokio]), meets_aim: Some(is_enough) },
        less(median(|figures| &figures.latency_us[0]), None),
        less(median(|figures| &figures.latency_us[1]), Some(Scenario::P99)),
        less(median(|figures| &figures.latency_us[2]), None),
        less(median(|figures| &figures.cpu_us), scenario.cpu()),
        less(median(|figures| &figures.switches), None),
        Cell { figures: waits[0].zip(waits[1]).map(|(rt, tokio)| [rt, tokio]), meets_aim: None },
    ]
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some([rt, tokio]) = self.figures else { return f.write_str("not counted") };
        let mark = if self.meets_aim == Some(false) { "**" } else { "" };
        write!(f, "{mark}{} / {} ({:.2}){mark}", Figure(rt), Figure(tokio), quotient(rt, tokio))
    }
}

/// As precise as it is printed.
fn hundredths(ratio: f64) -> f64 {
    (ratio * 100.0).round()
}
