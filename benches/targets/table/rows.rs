//! [`Table`]: running the runtimes in turn, and what comes of it.

use std::fmt;

use rt_benches::Runtime;
use rt_benches::runtimes::{Rt, Smol, Tokio};

use crate::measures::Measure;

/// The rows so far.
pub(crate) struct Table {
    workers: usize,
    filter: String,
    rows: Vec<Row>,
}

struct Row {
    title: String,
    rt: f64,
    tokio: f64,
    smol: f64,
}

impl Table {
    /// An empty table, which will have only rows that contain the filter in their titles.
    pub(crate) fn new(workers: usize, filter: String) -> Self {
        Self { workers, filter, rows: Vec::new() }
    }

    /// Adds the rows of a measure.
    pub(crate) fn measure(&mut self, measure: &impl Measure) {
        let titles = measure.titles();
        if !titles.iter().any(|title| title.contains(&self.filter)) {
            return;
        }
        eprintln!("{}", titles.join("; "));

        let mut rt = Side::<Rt>::new(measure, self.workers);
        let mut tokio = Side::<Tokio>::new(measure, self.workers);
        let mut smol = Side::<Smol>::new(measure, self.workers);
        for _ in 0..measure.runs() {
            rt.run(measure);
            tokio.run(measure);
            smol.run(measure);
        }
        for (index, title) in titles.into_iter().enumerate() {
            let row = Row { title, rt: rt.median(index), tokio: tokio.median(index), smol: smol.median(index) };
            eprintln!("    {row}");
            self.rows.push(row);
        }
    }
}

/// One runtime in a row.
struct Side<R> {
    runtime: R,
    workers: usize,
    prepared: u64,
    runs: Vec<Vec<f64>>,
}

impl<R: Runtime> Side<R> {
    fn new(measure: &impl Measure, workers: usize) -> Self {
        let runtime = R::start(workers);
        let prepared = measure.prepare(&runtime);
        Self { runtime, workers, prepared, runs: Vec::new() }
    }

    fn run(&mut self, measure: &impl Measure) {
        self.runs.push(measure.run(&self.runtime, self.workers, self.prepared));
    }

    fn median(&self, index: usize) -> f64 {
        let mut figures: Vec<f64> = self.runs.iter().map(|figures| figures[index]).collect();
        figures.sort_unstable_by(f64::total_cmp);
        figures[figures.len() / 2]
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| row | {} | {} | {} | of the best peer | of the slower peer |",
            Rt::NAME,
            Tokio::NAME,
            Smol::NAME
        )?;
        writeln!(f, "|---|--:|--:|--:|--:|--:|")?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { ref title, rt, tokio, smol } = self;
        let best = rt / tokio.min(smol);
        let slower = rt / tokio.max(smol);
        write!(f, "| {title} | {} | {} | {} |", Figure(rt), Figure(tokio), Figure(smol))?;
        write!(f, " {best:.2} | {slower:.2} |")
    }
}

/// A number with about three digits that mean something.
struct Figure(f64);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0 {
            figure if figure < 1.0 => 3,
            figure if figure < 10.0 => 2,
            figure if figure < 100.0 => 1,
            _ => 0,
        };
        write!(f, "{:.*}", decimals, self.0)
    }
}
