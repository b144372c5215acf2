//! The section in the report.

use std::{fmt, iter};

use rt_benches::Runs;

use super::results::{Figures, Measured, Run, Servers};
use super::scenario::Scenario;
use crate::row::{Figure, quotient};

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
        let verdicts: Vec<Verdict> = self.0.measured.iter().flat_map(cells).filter_map(|cell| cell.verdict).collect();
        let count = |of| verdicts.iter().filter(|verdict| **verdict == of).count();
        write!(
            f,
            "Of {} aims of real servers beside Tokio's, {} are met, {} are missed by less than runs \
             differ, and {} by more.",
            verdicts.len(),
            count(Verdict::Met),
            count(Verdict::Undecided),
            count(Verdict::Missed)
        )
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

/// How a figure stands to its aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Met,
    /// Missed, but the aim is within the middle half of the runs.
    Undecided,
    Missed,
}

/// Which ratios to Tokio's figure are meant to be.
#[derive(Clone, Copy)]
enum Aim {
    AtLeast(f64),
    AtMost(f64),
}

/// rt's figure, Tokio's, and their ratio. Without figures where they cannot be had.
struct Cell {
    figures: Option<[f64; 2]>,
    ratio: f64,
    /// The middle half of the ratios.
    range: (f64, f64),
    verdict: Option<Verdict>,
}

impl Aim {
    /// Compares figures as precise as they are printed.
    fn is_met(self, ratio: f64) -> bool {
        let hundredths = |ratio: f64| (ratio * 100.0).round();
        match self {
            Self::AtLeast(least) => hundredths(ratio) >= hundredths(least),
            Self::AtMost(most) => hundredths(ratio) <= hundredths(most),
        }
    }
}

impl Cell {
    /// Of figures that each run has.
    fn paired(sides: &[Figures; 2], of: impl Fn(&Run) -> f64, aim: Option<Aim>) -> Self {
        let (mut medians, mut ratios) = ([Runs::default(), Runs::default()], Runs::default());
        for (rt, tokio) in iter::zip(&sides[0].runs, &sides[1].runs) {
            let figures = [of(rt), of(tokio)];
            ratios.push(quotient(figures[0], figures[1]));
            iter::zip(&mut medians, figures).for_each(|(runs, figure)| runs.push(figure));
        }
        let (ratio, range) = (ratios.median(), ratios.middle_half());
        let verdict = aim.map(|aim| match aim {
            _ if aim.is_met(ratio) => Verdict::Met,
            _ if aim.is_met(range.0) || aim.is_met(range.1) => Verdict::Undecided,
            _ => Verdict::Missed,
        });
        Self { figures: Some(medians.map(|runs| runs.median())), ratio, range, verdict }
    }

    /// Of figures that there is one of.
    fn single(figures: Option<[f64; 2]>) -> Self {
        let ratio = figures.map_or(0.0, |[rt, tokio]| quotient(rt, tokio));
        Self { figures, ratio, range: (ratio, ratio), verdict: None }
    }
}

/// The cells of a scenario, but for its title. None if it could not be measured.
fn cells(measured: &Measured) -> Vec<Cell> {
    let Measured { scenario, sides, failure } = measured;
    if failure.is_some() {
        return Vec::new();
    }
    let [rt, tokio] = sides.each_ref().map(|figures| figures.waits);
    vec![
        Cell::paired(sides, |run| run.requests_per_second, Some(Aim::AtLeast(Scenario::REQUESTS))),
        Cell::paired(sides, |run| run.latency_us[0], None),
        Cell::paired(sides, |run| run.latency_us[1], Some(Aim::AtMost(Scenario::P99))),
        Cell::paired(sides, |run| run.latency_us[2], None),
        Cell::paired(sides, |run| run.cpu_us, scenario.cpu().map(Aim::AtMost)),
        Cell::paired(sides, |run| run.switches, None),
        Cell::single(rt.zip(tokio).map(|(rt, tokio)| [rt, tokio])),
    ]
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some([rt, tokio]) = self.figures else { return f.write_str("not counted") };
        let mark = match self.verdict {
            Some(Verdict::Missed) => "**",
            Some(Verdict::Undecided) => "*",
            Some(Verdict::Met) | None => "",
        };
        write!(f, "{mark}{} / {} ({:.2}", Figure(rt), Figure(tokio), self.ratio)?;
        if self.verdict.is_some() {
            write!(f, ", {:.2}–{:.2}", self.range.0, self.range.1)?;
        }
        write!(f, "){mark}")
    }
}
