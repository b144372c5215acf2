//! What is said first: how many rows are better or worse, which are the worst, and a dozen that tell most.

use std::fmt;

use super::tables::{Ratio, Title};
use crate::results::Results;
use crate::row::{Figure, LEVEL, Row, Standing, name_of};

/// How many rows the summary names as the worst.
const WORST: usize = 8;

/// The summary, above all of the main pass. The table stands between comments, so that it can be taken over elsewhere.
pub(super) struct Summary<'a> {
    pub(super) main: &'a [Results],
    /// With other numbers of workers.
    pub(super) further: &'a [(usize, Vec<Results>)],
}

/// How many rows stand how.
struct Count<'a>(&'a [&'a Row]);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |standing| self.0.iter().filter(|row| row.standing() == standing).count();
        write!(
            f,
            "of {} rows, rt is better than the best peer in {}, level with it (within {:.0} %) in {}, and worse in {}.",
            self.0.len(),
            count(Standing::Better),
            LEVEL * 100.0,
            count(Standing::Level),
            count(Standing::Worse),
        )
    }
}

fn rows_of(sections: &[Results]) -> Vec<&Row> {
    sections.iter().flat_map(|section| &section.rows).collect()
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = rows_of(self.main);
        writeln!(f, "## Summary\n")?;
        writeln!(f, "Here, {}", Count(&rows))?;
        for (workers, results) in self.further {
            writeln!(f, "With {workers} worker{}, {}", if *workers == 1 { "" } else { "s" }, Count(&rows_of(results)))?;
        }
        let aims: Vec<bool> = rows.iter().filter_map(|row| row.meets_aim()).collect();
        let met = aims.iter().filter(|is_met| **is_met).count();
        writeln!(f, "Of {} aims, {met} are met.", aims.len())?;

        let mut worse: Vec<&Row> = rows.iter().copied().filter(|row| row.standing() == Standing::Worse).collect();
        worse.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        if !worse.is_empty() {
            let what = if worse.len() > WORST { "The worst" } else { "Worse" };
            writeln!(f, "{what}:\n")?;
            for row in worse.iter().take(WORST) {
                let (rt, peer) = (Figure(row.rt()), Figure(row.best_peer()));
                writeln!(f, "- {}: {rt}, the best peer {peer} ({:.2})", row.title, row.ratio())?;
            }
        }
        writeln!(f, "\n<!-- summary -->")?;
        writeln!(f, "| | {} | {} | {} | ratio to the best peer |", name_of(0), name_of(1), name_of(2))?;
        writeln!(f, "|---|--:|--:|--:|--:|")?;
        for row in rows.iter().filter(|row| row.telling) {
            let [rt, tokio, smol] = [0, 1, 2].map(|side| Figure(row.sides[side].median()));
            writeln!(f, "| {} | {rt} | {tokio} | {smol} | {} |", Title(row), Ratio(row))?;
        }
        writeln!(f, "<!-- /summary -->")
    }
}
