//! [`Contestable`]: running a measure on several sides in turn.

use std::iter;

use rt_benches::runtimes::Rt;
use rt_benches::{Measure, Reference, Runs, Runtime, Trio, Visitor};

/// The figures of a measure, for each of its rows.
pub(crate) struct Outcome {
    /// For each row, for each side.
    pub(crate) rows: Vec<Vec<Runs>>,
    /// What else the first row is compared with.
    pub(crate) reference: Option<(&'static str, Runs)>,
}

/// A [`Measure`] that can be in a list with others.
pub(crate) trait Contestable {
    /// The rows.
    fn titles(&self) -> Vec<String>;

    /// Runs it on each runtime in turn, `most_runs` times at most, and begins with another one each time.
    fn among_runtimes(&self, workers: usize, most_runs: usize) -> Outcome;

    /// Runs it on rt alone, on runtimes with these numbers of workers in turn.
    fn among_workers(&self, workers: &[usize], most_runs: usize) -> Outcome;
}

impl<M: Measure> Contestable for M {
    fn titles(&self) -> Vec<String> {
        Measure::titles(self)
    }

    fn among_runtimes(&self, workers: usize, most_runs: usize) -> Outcome {
        let trio = Trio::start(workers);
        let sides = Trio::NAMES.len();
        let prepared: Vec<u64> = (0..sides).map(|side| trio.visit(side, Prepare(self))).collect();
        let reference = Measure::reference(self, workers);

        let mut outcome = Outcome::empty(Measure::titles(self).len(), sides);
        outcome.reference = reference.as_ref().map(|reference| (reference.name, Runs::default()));
        for round in 0..self.runs().min(most_runs) {
            for side in (0..sides).map(|place| (round + place) % sides) {
                outcome.push(side, trio.visit(side, Run(self, prepared[side])));
            }
            if let (Some(Reference { run, .. }), Some((_, runs))) = (&reference, &mut outcome.reference) {
                runs.push(run(()));
            }
        }
        outcome
    }

    fn among_workers(&self, workers: &[usize], most_runs: usize) -> Outcome {
        let runtimes: Vec<Rt> = workers.iter().map(|&workers| Rt::start(workers)).collect();
        let prepared: Vec<u64> = runtimes.iter().map(|runtime| self.prepare(runtime)).collect();
        let mut outcome = Outcome::empty(Measure::titles(self).len(), runtimes.len());
        for _ in 0..self.runs().min(most_runs) {
            for (side, (runtime, &prepared)) in iter::zip(&runtimes, &prepared).enumerate() {
                outcome.push(side, self.run(runtime, prepared));
            }
        }
        outcome
    }
}

impl Outcome {
    fn empty(rows: usize, sides: usize) -> Self {
        Self { rows: vec![vec![Runs::default(); sides]; rows], reference: None }
    }

    fn push(&mut self, side: usize, figures: Vec<f64>) {
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
