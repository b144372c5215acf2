//! `ECOSYSTEM.md`, from what was measured.

use std::fmt::Write;

use crate::Effort;
use crate::chart::{self, Bar, Chart};
use crate::frozen::{self, Frozen};
use crate::machine;
use crate::rows::{Measured, Run};
use crate::statistics::{median, quantile, sorted};

/// Where the charts lie, from where the document lies.
pub(crate) const CHARTS: &str = "ecosystem/bench/plots";

/// What is told of a run, and what of it is asked for.
struct Figure {
    title: &'static str,
    of: fn(&Run) -> f64,
    /// The file of its chart, if there is one.
    chart: Option<&'static str>,
    more_is_better: bool,
    /// The most that the ratio may be (the least, where more is better): of a row that only must not be behind, and
    /// of one that has to lead.
    aim: Option<[f64; 2]>,
}

/// The ratios of not behind, and of ahead by what can be seen as it is printed.
const LEVEL: f64 = 1.0;
const AHEAD_IF_LESS: f64 = 0.99;
const AHEAD_IF_MORE: f64 = 1.01;

const FIGURES: [Figure; 7] = [
    Figure {
        title: "requests/s",
        of: |run| run.per_second,
        chart: Some("requests.svg"),
        more_is_better: true,
        aim: Some([LEVEL, AHEAD_IF_MORE]),
    },
    Figure { title: "p50, us", of: |run| run.latency_us[0], chart: None, more_is_better: false, aim: None },
    Figure {
        title: "p99, us",
        of: |run| run.latency_us[1],
        chart: Some("p99.svg"),
        more_is_better: false,
        aim: Some([AHEAD_IF_LESS, AHEAD_IF_LESS]),
    },
    Figure {
        title: "p99.9, us",
        of: |run| run.latency_us[2],
        chart: Some("p999.svg"),
        more_is_better: false,
        aim: Some([AHEAD_IF_LESS, AHEAD_IF_LESS]),
    },
    Figure {
        title: "CPU, us",
        of: |run| run.cpu_us,
        chart: Some("cpu.svg"),
        more_is_better: false,
        aim: Some([LEVEL, AHEAD_IF_LESS]),
    },
    Figure { title: "memory, MiB", of: |run| run.held.peak_mib, chart: None, more_is_better: false, aim: None },
    Figure { title: "threads", of: |run| run.held.threads, chart: None, more_is_better: false, aim: None },
];

/// How rt stands to its aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Met,
    /// By less than the runs differ.
    Near,
    Missed,
}

/// A figure of both sides, and the ratios within the pairs.
struct Cell {
    sides: [f64; 2],
    /// In order.
    ratios: Vec<f64>,
    standing: Option<Standing>,
}

impl Cell {
    fn of(figure: &Figure, pairs: &[[Run; 2]], has_to_lead: bool) -> Self {
        let sides = [0, 1].map(|side| median(pairs.iter().map(|pair| (figure.of)(&pair[side]))));
        let ratios = sorted(pairs.iter().map(|[on_rt, on_tokio]| (figure.of)(on_rt) / (figure.of)(on_tokio)));
        // As they are printed.
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|part| (quantile(&ratios, part) * 100.0).round() / 100.0);
        let standing = figure.aim.map(|aims| {
            let aim = aims[usize::from(has_to_lead)];
            let (is_met, is_near) =
                if figure.more_is_better { (middle >= aim, high >= aim) } else { (middle <= aim, low <= aim) };
            match (is_met, is_near) {
                (true, _) => Standing::Met,
                (false, true) => Standing::Near,
                (false, false) => Standing::Missed,
            }
        });
        Self { sides, ratios, standing }
    }

    fn quartiles(&self) -> [f64; 3] {
        [0.25, 0.5, 0.75].map(|part| quantile(&self.ratios, part))
    }

    fn markdown(&self) -> String {
        let [low, middle, high] = self.quartiles();
        let [on_rt, on_tokio] = self.sides.map(digits);
        let (mark, range) = match self.standing {
            None => ("", String::new()),
            Some(Standing::Met) => ("", format!(", {low:.2}–{high:.2}")),
            Some(Standing::Near) => ("*", format!(", {low:.2}–{high:.2}")),
            Some(Standing::Missed) => ("**", format!(", {low:.2}–{high:.2}")),
        };
        format!("{mark}{on_rt} / {on_tokio} ({middle:.2}{range}){mark}")
    }
}

/// Three digits that say something.
fn digits(figure: f64) -> String {
    let places = if figure >= 100.0 { 0 } else { usize::from(figure < 10.0) + 1 };
    format!("{figure:.places$}")
}

pub(crate) fn write(rows: &[Measured], frozen: &frozen::Outcome, effort: Effort, is_quick: bool) -> String {
    let mut text = String::from(include_str!("../begin.md"));
    if is_quick {
        text.push_str("\n**This was a quick run, to see that all works. Its figures say nothing.**\n");
    }
    let _ = write!(text, "\nThis run, of {} pairs of {} s each:\n\n", effort.pairs, effort.length.as_secs());
    text.push_str(&machine::describe());
    if let Some(frozen) = frozen {
        text.push_str(&write_frozen(frozen));
    }
    text.push_str(&write_rows(rows));
    text
}

fn write_rows(rows: &[Measured]) -> String {
    let mut text = String::from("\n## Requests, latency, processor time, memory\n\n");
    text.push_str(include_str!("../cells.md"));
    let titles: Vec<_> = FIGURES.iter().map(|figure| figure.title).collect();
    let _ = writeln!(text, "\n| server | {} |\n|---{}|", titles.join(" | "), "|---".repeat(titles.len()));
    let mut standings = Vec::new();
    let mut failures = String::new();
    for Measured { row, pairs } in rows {
        match pairs {
            Ok(pairs) => {
                let cells = FIGURES.iter().map(|figure| Cell::of(figure, pairs, row.has_to_lead));
                let cells: Vec<Cell> = cells.collect();
                standings.extend(cells.iter().filter_map(|cell| cell.standing));
                let cells: Vec<_> = cells.iter().map(Cell::markdown).collect();
                let lead = if row.has_to_lead { " †" } else { "" };
                let _ = writeln!(text, "| {}{lead} | {} |", row.full_title(), cells.join(" | "));
            }
            Err(failure) => {
                let _ = writeln!(failures, "\n{} was not measured: {failure}", row.full_title());
            }
        }
    }
    text.push_str(&failures);
    let count = |standing| standings.iter().filter(|&&other| other == standing).count();
    let [met, near, missed] = [Standing::Met, Standing::Near, Standing::Missed].map(count);
    let _ = writeln!(
        text,
        "\nOf {} aims, {met} are met, {near} are missed by less than runs differ, and {missed} by more.",
        standings.len()
    );
    for figure in FIGURES.iter().filter(|figure| figure.chart.is_some()) {
        let file = figure.chart.unwrap_or_default();
        let _ = writeln!(text, "\n![{}: rt's part of Tokio's]({CHARTS}/{file})", figure.title);
    }
    text
}

fn write_frozen(frozen: &Result<Vec<[Frozen; 2]>, String>) -> String {
    let mut text = String::from("\n## A handler that blocks\n\n");
    let rounds = match frozen {
        Ok(rounds) => rounds,
        Err(failure) => {
            let _ = writeln!(text, "Not measured: {failure}");
            return text;
        }
    };
    text.push_str(include_str!("../frozen.md"));
    let _ = writeln!(text, "\n| of the other route | rt | Tokio |\n|---|--:|--:|");
    let figures: [(&str, fn(&Frozen) -> f64); 7] = [
        ("requests/s", |run| run.per_second),
        ("p50, ms", |run| run.latency_us[0] / 1e3),
        ("p99, ms", |run| run.latency_us[1] / 1e3),
        ("p99.9, ms", |run| run.latency_us[2] / 1e3),
        ("slowest, ms", |run| run.latency_us[3] / 1e3),
        ("requests that block, answered in a second", |run| run.blocked_per_second),
        ("threads of the server", |run| run.threads),
    ];
    for (title, of) in figures {
        let [on_rt, on_tokio] = [0, 1].map(|side| digits(median(rounds.iter().map(|round| of(&round[side])))));
        let _ = writeln!(text, "| {title} | {on_rt} | {on_tokio} |");
    }
    let _ = writeln!(text, "\nMedians of {} runs each, with {} connections of wrk.", rounds.len(), frozen::CONNECTIONS);
    text
}

/// A chart for each figure that has one.
pub(crate) fn charts(rows: &[Measured]) -> Vec<Chart> {
    let with_charts = FIGURES.iter().filter_map(|figure| figure.chart.map(|file| (figure, file)));
    let charts = with_charts.map(|(figure, file)| {
        let bars = rows.iter().filter_map(|Measured { row, pairs }| {
            let cell = Cell::of(figure, pairs.as_ref().ok()?, row.has_to_lead);
            Some(Bar { title: row.full_title(), quartiles: cell.quartiles() })
        });
        let better = if figure.more_is_better { "right" } else { "left" };
        let title = format!("{}: rt's part of Tokio's; further {better} is better for rt", figure.title);
        chart::draw(file, &title, figure.more_is_better, &bars.collect::<Vec<_>>())
    });
    charts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Held;

    /// Pairs in which rt has so many requests a second for each hundred of Tokio's, and all else is alike.
    fn cell(per_second: &[f64], has_to_lead: bool) -> String {
        let run = |per_second| Run {
            per_second,
            latency_us: [1.0; 4],
            cpu_us: 1.0,
            held: Held { threads: 3.0, peak_mib: 10.0 },
        };
        let pairs: Vec<_> = per_second.iter().map(|&on_rt| [run(on_rt), run(100.0)]).collect();
        Cell::of(&FIGURES[0], &pairs, has_to_lead).markdown()
    }

    #[test]
    fn what_is_level_is_behind_where_it_has_to_lead() {
        assert_eq!(cell(&[100.0; 3], false), "100 / 100 (1.00, 1.00–1.00)");
        assert_eq!(cell(&[100.0; 3], true), "**100 / 100 (1.00, 1.00–1.00)**");
        assert_eq!(cell(&[101.0; 3], true), "101 / 100 (1.01, 1.01–1.01)");
    }

    #[test]
    fn what_is_behind_by_less_than_the_runs_differ_is_told_from_what_is_behind_by_more() {
        assert_eq!(cell(&[80.0, 90.0, 120.0], false), "*90.0 / 100 (0.90, 0.85–1.05)*");
        assert_eq!(cell(&[80.0, 90.0, 91.0], false), "**90.0 / 100 (0.90, 0.85–0.91)**");
    }

    #[test]
    fn a_row_that_could_not_be_measured_is_told_and_has_no_bar() {
        let rows = crate::rows::unmeasured("no such server");
        let text = write_rows(&rows);
        assert_eq!(text.matches("was not measured: no such server").count(), rows.len());
        for chart in charts(&rows) {
            assert!(text.contains(chart.file));
            assert!(!chart.svg.contains("connections"), "{}", chart.svg);
        }
    }
}
