//! Running the sections in sweeps, and what came of them.

use crate::contest::Outcome;
use crate::row::Row;
use crate::sections::{Extent, Item, Section};
use crate::sweep::Sweep;

/// What came of a section.
pub(crate) struct Results {
    pub(crate) title: &'static str,
    pub(crate) slug: &'static str,
    pub(crate) about: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// The runtimes beside each other, all with the same number of workers.
pub(crate) struct Pass<'a> {
    workers: usize,
    most_runs: usize,
    sections: Vec<(&'a Section, Vec<Measured<'a>>)>,
}

/// An item, and what came of it so far.
struct Measured<'a> {
    item: &'a Item,
    outcome: Outcome,
}

impl<'a> Pass<'a> {
    /// The rows whose titles contain the filter, of the sections of that extent.
    pub(crate) fn new(sections: &'a [Section], extent: Extent, filter: &str, workers: usize, most_runs: usize) -> Self {
        let sections = sections.iter().filter(|section| section.extent >= extent);
        let sections = sections.map(|section| (section, Measured::of(section, filter).collect()));
        Self { workers, most_runs, sections: sections.collect() }
    }

    /// Tells what it is at on standard error.
    pub(crate) fn run(&mut self, sweep: Sweep) {
        let workers = self.workers;
        for measured in self.sections.iter_mut().flat_map(|(_, items)| items) {
            let rounds = sweep.share(measured.runs(self.most_runs));
            if !rounds.is_empty() {
                eprintln!("{sweep}{workers} workers: {}", measured.titles().join("; "));
                measured.item.measure.among_runtimes(workers, rounds, &mut measured.outcome);
            }
        }
    }

    pub(crate) fn results(self) -> Vec<Results> {
        let mut all = Vec::new();
        for (section, items) in self.sections {
            let rows: Vec<Row> = items.into_iter().flat_map(Measured::rows).collect();
            if !rows.is_empty() {
                all.push(Results { title: section.title, slug: section.slug, about: section.about, rows });
            }
        }
        all
    }
}

impl<'a> Measured<'a> {
    fn of(section: &'a Section, filter: &str) -> impl Iterator<Item = Self> {
        section.items.iter().filter_map(move |item| {
            let titles = item.measure.titles();
            assert_eq!(titles.len(), item.aims.len(), "an aim, or none, for each of {titles:?}");
            let is_wanted = titles.iter().any(|title| title.contains(filter));
            is_wanted.then(|| Self { item, outcome: Outcome::empty(titles.len(), item.measure.sides().len()) })
        })
    }

    fn titles(&self) -> Vec<String> {
        self.item.measure.titles()
    }

    fn runs(&self, most: usize) -> usize {
        self.item.measure.runs().min(most)
    }

    fn rows(self) -> Vec<Row> {
        let titles = self.titles();
        let Self { item, mut outcome } = self;
        let row = |(index, (title, sides))| Row {
            title,
            names: item.measure.sides(),
            sides,
            reference: outcome.reference.take(),
            aim: item.aims[index],
            telling: item.telling == Some(index),
        };
        titles.into_iter().zip(outcome.rows).enumerate().map(row).collect()
    }
}
