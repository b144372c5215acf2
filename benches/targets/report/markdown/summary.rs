//! What is said first, here and in the README: a dozen rows that tell most, how many are better or worse, and which are
//! worse.

use std::fmt;

use super::tables::{Ratio, Title};
use crate::results::Results;
use crate::row::{Figure, LEVEL, RUNTIMES, Row, Standing};
use crate::servers::{ServerAims, Servers};

/// What the summary stands between, here and in the README, which has the same.
const BEGIN: &str = "<!-- summary -->";
const END: &str = "<!-- /summary -->";

/// The summary, above all of the main pass.
pub(crate) struct Summary<'a> {
    pub(crate) workers: usize,
    pub(crate) main: &'a [Results],
    /// With other numbers of workers.
    pub(crate) further: &'a [(usize, Vec<Results>)],
    pub(crate) servers: &'a Servers,
}

/// How many rows stand how, and how many aims are met.
struct Count<'a>(&'a [&'a Row]);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |standing| self.0.iter().filter(|row| row.standing() == standing).count();
        write!(
            f,
            "of {} rows, rt is better than the best peer in {}, level with it (within {:.0} %) in {}, and worse in {}",
            self.0.len(),
            count(Standing::Better),
            LEVEL * 100.0,
            count(Standing::Level),
            count(Standing::Worse),
        )?;
        let aims: Vec<bool> = self.0.iter().filter_map(|row| row.meets_aim()).collect();
        write!(f, "; it meets {} of {} aims.", aims.iter().filter(|is_met| **is_met).count(), aims.len())
    }
}

/// That many workers.
struct Workers(usize);

impl fmt::Display for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} worker{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

fn rows_of(sections: &[Results]) -> Vec<&Row> {
    sections.iter().flat_map(|section| &section.rows).collect()
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = rows_of(self.main);
        writeln!(f, "{BEGIN}")?;
        writeln!(f, "| | {} | {} | {} | ratio to the best peer |", RUNTIMES[0], RUNTIMES[1], RUNTIMES[2])?;
        writeln!(f, "|---|--:|--:|--:|--:|")?;
        for row in rows.iter().filter(|row| row.telling) {
            let [rt, tokio, smol] = [0, 1, 2].map(|side| Figure(row.sides[side].median()));
            writeln!(f, "| {} | {rt} | {tokio} | {smol} | {} |", Title(row), Ratio(row))?;
        }
        writeln!(f)?;
        writeln!(f, "- With {}, {}", Workers(self.workers), Count(&rows))?;
        for (workers, results) in self.further {
            writeln!(f, "- With {}, {}", Workers(*workers), Count(&rows_of(results)))?;
        }
        writeln!(f, "- {}", ServerAims(self.servers))?;

        let mut worse: Vec<&Row> = rows.iter().copied().filter(|row| row.standing() == Standing::Worse).collect();
        worse.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        if !worse.is_empty() {
            writeln!(f, "\nWhere rt is behind with {}, the worst first:\n", Workers(self.workers))?;
        }
        for row in worse {
            let (rt, peer) = (Figure(row.rt()), Figure(row.best_peer()));
            writeln!(f, "- {}: {rt}, the best peer {peer} ({:.2})", row.title, row.ratio())?;
        }
        writeln!(f, "{END}")
    }
}

/// The text of another document, with what stands between the marks replaced by the summary. `None` if it has no such
/// marks.
pub(crate) fn replace_summary(text: &str, summary: &Summary<'_>) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{}{after}", summary.to_string().trim_end()))
}
