//! Running the sections, and what came of them.

use rt_benches::Runs;

use crate::contest::Contestable;
use crate::row::Row;
use crate::sections::{Extent, Item, Section};

/// Workers of the runtimes of rt that are compared with each other: the first is what the others are related to.
pub(crate) const BEYOND: [usize; 3] = [2, 8, 16];

/// What came of a section.
pub(crate) struct Results {
    pub(crate) title: &'static str,
    pub(crate) slug: &'static str,
    pub(crate) about: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// What came of a row of rt alone, for each number of workers in [`BEYOND`].
pub(crate) struct BeyondRow {
    pub(crate) title: String,
    pub(crate) figures: Vec<Runs>,
}

/// How much is run.
pub(crate) struct Pass<'a> {
    pub(crate) workers: usize,
    pub(crate) most_runs: usize,
    pub(crate) filter: &'a str,
}

impl Pass<'_> {
    /// Measures the rows of the sections whose titles contain the filter. Tells what it is at on standard error.
    pub(crate) fn run(&self, sections: &[Section], extent: Extent) -> Vec<Results> {
        let mut all = Vec::new();
        for section in sections.iter().filter(|section| section.extent >= extent) {
            let items = section.items.iter().filter(|item| is_wanted(&*item.measure, self.filter));
            let rows: Vec<Row> = items.flat_map(|item| self.rows(item)).collect();
            if !rows.is_empty() {
                all.push(Results { title: section.title, slug: section.slug, about: section.about, rows });
            }
        }
        all
    }

    fn rows(&self, item: &Item) -> Vec<Row> {
        let titles = item.measure.titles();
        assert_eq!(titles.len(), item.aims.len(), "an aim, or none, for each of {titles:?}");
        eprintln!("{} workers: {}", self.workers, titles.join("; "));
        let mut outcome = item.measure.among_runtimes(self.workers, self.most_runs);
        let mut rows = Vec::new();
        for (index, (title, sides)) in titles.into_iter().zip(outcome.rows).enumerate() {
            rows.push(Row {
                title,
                sides,
                reference: outcome.reference.take(),
                aim: item.aims[index],
                telling: item.telling == Some(index),
            });
        }
        rows
    }
}

fn is_wanted(measure: &dyn Contestable, filter: &str) -> bool {
    measure.titles().iter().any(|title| title.contains(filter))
}

/// Measures rt alone with more workers than there are processors: the rows whose titles contain the filter.
pub(crate) fn beyond_processors(sections: &[Section], most_runs: usize, filter: &str) -> Vec<BeyondRow> {
    let mut rows = Vec::new();
    let items =
        sections.iter().filter(|section| section.extent >= Extent::BeyondProcessors).flat_map(|section| &section.items);
    for item in items.filter(|item| is_wanted(&*item.measure, filter)) {
        let titles = item.measure.titles();
        eprintln!("rt with {BEYOND:?} workers: {}", titles.join("; "));
        let outcome = item.measure.among_workers(&BEYOND, most_runs);
        rows.extend(titles.into_iter().zip(outcome.rows).map(|(title, figures)| BeyondRow { title, figures }));
    }
    rows
}
