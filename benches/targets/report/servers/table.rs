//! The section in the report.

use std::{fmt, iter};

use super::results::{Measured, Run, Servers};
use super::scenario::Scenario;
use crate::cell::{Cell, RatioAim, Verdicts};

const ABOUT: &str = "\
Servers in processes of their own, by the same source on rt and on Tokio, loaded from another process on the same
machine: `hello`, `work` and `bodies` are HTTP/1.1 by hyper, loaded by wrk; `lines` is Redis' protocol on plain streams,
loaded by redis-benchmark. Both clients have one thread. [`benches/servers`](benches/servers) tells what each does. The
two runtimes have seven runs each, in turn, each with a new process. Every cell has rt's median, Tokio's, and the median
of the seven ratios of a run to the one beside it; where there is an aim also the range of the middle half of these
ratios. More requests in a second are better; of all else less is. CPU is the server's processor time a request,
switches its threads' context switches a request, waits how often it asked the system for events a request (of one run).

The aims: requests in a second at least those of Tokio, the 99th percentile at most Tokio's, and the processor time at
most 1.0 of Tokio's for `hello` and 0.9 for `work`. A figure in bold misses its aim. One in italics misses it too, but
by less than its runs differ: its aim is within the range.
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
        let verdicts: Vec<_> = self.0.measured.iter().flat_map(cells).filter_map(|cell| cell.verdict).collect();
        write!(f, "Of {} aims of real servers beside Tokio's, {}.", verdicts.len(), Verdicts(verdicts))
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

/// The cells of a scenario, but for its title. None if it could not be measured.
fn cells(measured: &Measured) -> Vec<Cell> {
    let Measured { scenario, sides, failure } = measured;
    let [rt, tokio] = &sides[..] else { return Vec::new() };
    if failure.is_some() {
        return Vec::new();
    }
    let paired = |of: &dyn Fn(&Run) -> f64, aim| {
        Cell::paired(iter::zip(&rt.runs, &tokio.runs).map(|(rt, tokio)| [of(rt), of(tokio)]), aim)
    };
    vec![
        paired(&|run| run.requests_per_second, Some(RatioAim::AtLeast(Scenario::REQUESTS))),
        paired(&|run| run.latency_us[0], None),
        paired(&|run| run.latency_us[1], Some(RatioAim::AtMost(Scenario::P99))),
        paired(&|run| run.latency_us[2], None),
        paired(&|run| run.cpu_us, scenario.cpu().map(RatioAim::AtMost)),
        paired(&|run| run.switches, None),
        Cell::single(rt.waits.zip(tokio.waits).map(|(rt, tokio)| [rt, tokio])),
    ]
}
