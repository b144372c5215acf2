//! Rows that compare libraries of channels and locks.

use std::ops::Range;

use rt_benches::{Hosts, LibraryRow};

use crate::contest::{Contestable, Outcome, turn};

/// See the module.
pub(crate) struct Libraries(pub(crate) LibraryRow);

impl Contestable for Libraries {
    fn titles(&self) -> Vec<String> {
        vec![self.0.title()]
    }

    fn sides(&self) -> &'static [&'static str] {
        &LibraryRow::NAMES
    }

    fn runs(&self) -> usize {
        9
    }

    fn among_runtimes(&self, workers: usize, rounds: Range<usize>, outcome: &mut Outcome) {
        let hosts = Hosts::start(workers);
        let prepared: Vec<_> = (0..LibraryRow::NAMES.len()).map(|side| self.0.prepare(&hosts, side)).collect();
        for round in rounds {
            for side in turn(round, LibraryRow::NAMES.len()) {
                if let Some(rounds) = prepared[side] {
                    outcome.push(side, vec![self.0.run(&hosts, side, rounds)]);
                }
            }
        }
    }
}
