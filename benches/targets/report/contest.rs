//! [`Contestable`]: running a measure on several sides in turn.

use std::iter;
use std::ops::Range;

use rt_benches::{Measure, Reference, Runs, Runtime, Trio, Visitor};

use crate::row::RUNTIMES;

/// The figures of a measure, for each of its rows.
pub(crate) struct Outcome {
    /// For each row, for each side.
    pub(crate) rows: Vec<Vec<Runs>>,
    /// What else the first row is compared with.
    pub(crate) reference: Option<(&'static str, Runs)>,
}

/// A [`Measure`], or a [`LibraryRow`](rt_benches::LibraryRow), that can be in a list with others. The rounds have
/// numbers because each begins with another side.
pub(crate) trait Contestable {
    /// The rows.
    fn titles(&self) -> Vec<String>;

    /// What is compared.
    fn sides(&self) -> &'static [&'static str];

    /// How many rounds the median is of.
    fn runs(&self) -> usize;

    /// Starts each runtime, and runs it on them in turn.
    fn among_runtimes(&self, workers: usize, rounds: Range<usize>, outcome: &mut Outcome);
}

impl<M: Measure> Contestable for M {
    fn titles(&self) -> Vec<String> {
        Measure::titles(self)
    }

    fn sides(&self) -> &'static [&'static str] {
        &RUNTIMES
    }

    fn runs(&self) -> usize {
        Measure::runs(self)
    }

    fn among_runtimes(&self, workers: usize, rounds: Range<usize>, outcome: &mut Outcome) {
        let trio = Trio::start(workers);
        let prepared: Vec<u64> = (0..Trio::NAMES.len()).map(|side| trio.visit(side, Prepare(self))).collect();
        let reference = Measure::reference(self, workers);
        for round in rounds {
            outcome.run_round(round, |side| trio.visit(side, Run(self, prepared[side])));
            if let Some(Reference { name, run }) = &reference {
                outcome.reference.get_or_insert_with(|| (name, Runs::default())).1.push(run(()));
            }
        }
    }
}

impl Outcome {
    pub(crate) fn empty(rows: usize, sides: usize) -> Self {
        Self { rows: vec![vec![Runs::default(); sides]; rows], reference: None }
    }

    fn run_round(&mut self, round: usize, run: impl Fn(usize) -> Vec<f64>) {
        self.run_round_of(round, |_| true, run);
    }

    /// A round of those sides that have the row.
    pub(crate) fn run_round_of(&mut self, round: usize, has: impl Fn(usize) -> bool, run: impl Fn(usize) -> Vec<f64>) {
        let sides = self.rows[0].len();
        for side in (0..sides).map(|place| (round + place) % sides).filter(|&side| has(side)) {
            let figures = run(side);
            assert_eq!(figures.len(), self.rows.len(), "a figure for each title");
            for (row, figure) in iter::zip(&mut self.rows, figures) {
                row[side].push(figure);
            }
        }
    }
}

struct Prepare<'a, M>(&'a M);

impl<M: Measure> Visitor for Prepare<'_, M> {
    type Output = u64;

    fn visit<R: Runtime>(self, runtime: &R) -> u64 {
        self.0.prepare(runtime)
    }
}

struct Run<'a, M>(&'a M, u64);

impl<M: Measure> Visitor for Run<'_, M> {
    type Output = Vec<f64>;

    fn visit<R: Runtime>(self, runtime: &R) -> Vec<f64> {
        self.0.run(runtime, self.1)
    }
}
