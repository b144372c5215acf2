//! [`Contestable`]: running a measure on several sides in turn.

use std::iter;
use std::ops::Range;

use rt_benches::runtimes::{Rt, Smol, Tokio};
use rt_benches::{Measure, Reference, Runs, Runtime, Three, Visitor};

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
        let reference = Measure::reference(self, workers);
        in_turn::<_, Rt, Tokio, Smol>(self, workers, rounds, |figures| {
            figures.into_iter().enumerate().for_each(|(side, figures)| outcome.push(side, figures));
            if let Some(Reference { name, run }) = &reference {
                outcome.reference.get_or_insert_with(|| (name, Runs::default())).1.push(run(()));
            }
        });
    }
}

/// Starts three runtimes, runs the measure on them in turn, and hands over each round's figures, in the order of the
/// runtimes.
pub(crate) fn in_turn<M: Measure, A: Runtime, B: Runtime, C: Runtime>(
    measure: &M,
    workers: usize,
    rounds: Range<usize>,
    mut take: impl FnMut([Vec<f64>; 3]),
) {
    let trio = Three::<A, B, C>::start(workers);
    let prepared = [0, 1, 2].map(|side| trio.visit(side, Prepare(measure)));
    for round in rounds {
        let mut figures = [const { Vec::new() }; 3];
        for side in turn(round, figures.len()) {
            figures[side] = trio.visit(side, Run(measure, prepared[side]));
        }
        take(figures);
    }
}

/// The sides in the order of that round.
pub(crate) fn turn(round: usize, sides: usize) -> impl Iterator<Item = usize> {
    (0..sides).map(move |place| (round + place) % sides)
}

impl Outcome {
    pub(crate) fn empty(rows: usize, sides: usize) -> Self {
        Self { rows: vec![vec![Runs::default(); sides]; rows], reference: None }
    }

    /// Adds a run of a side.
    pub(crate) fn push(&mut self, side: usize, figures: Vec<f64>) {
        assert_eq!(figures.len(), self.rows.len(), "a figure for each title");
        for (row, figure) in iter::zip(&mut self.rows, figures) {
            row[side].push(figure);
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
