//! `BENCHMARKS.md`.

mod summary;
mod tables;

use std::fmt;

pub(crate) use self::summary::{Summary, replace_summary};
pub(crate) use self::tables::Table;
use crate::machine::Machine;
use crate::pairs::Pairs;
use crate::plots;
use crate::results::Results;
use crate::seeing::Seeing;
use crate::servers::{ServerSection, Servers};

/// All of it.
pub(crate) struct Document<'a> {
    pub(crate) workers: usize,
    pub(crate) results: &'a [Results],
    /// Of other numbers of workers.
    pub(crate) further: &'a [(usize, Vec<Results>)],
    pub(crate) servers: &'a Servers,
    pub(crate) seeing: &'a Seeing,
    pub(crate) pairs: &'a Pairs,
}

const HOW_TO_READ: &str = "\
The runtimes are run in turn within each row, beginning with another one each time. All rows are gone through three
times, with new runtimes each time, and a figure is the median of the runs: nine of what is timed and three to five of
the rest; three with other numbers of workers. Less is better. *Ratio* is rt's figure as a part of the best peer's, so
that below 1 rt is ahead. *Aim* is what the ratio, or the figure, is meant to be at most, and is compared as it is
printed. *Range* is the smallest and the largest of rt's runs. Absolute figures move by half from machine to machine and
from run to run; ratios within a row move less. What a row measures, and what it does not, is told by the module of its
name in [`benches/workloads`](benches/workloads); what is the same for all runtimes, by
[`benches/lib.rs`](benches/lib.rs). The sections about channels and locks compare libraries instead, in runs of a fifth
of the length. Latency, memory and idling are measured with the first number of workers only.
";

const HOW_TO_REPRODUCE: &str = "\
```sh
cargo bench --bench report                     # this file, its charts, the figures in README.md: half an hour
cargo bench --bench report -- yield            # the rows with \"yield\" in their titles, to standard output
RT_BENCH_WORKERS=8 cargo bench --bench report  # the same files, with another number of workers
cargo bench                                    # what is timed, by criterion, at 1, 2 and 4 workers
```

The machine should have nothing else to do.
";

impl Document<'_> {
    pub(crate) fn summary(&self) -> Summary<'_> {
        Summary { workers: self.workers, main: self.results, further: self.further, servers: self.servers }
    }
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workers = self.workers;
        writeln!(f, "# Benchmarks\n")?;
        writeln!(f, "rt beside Tokio and smol, with {workers} workers each where nothing else is said. Written by")?;
        writeln!(f, "`cargo bench --bench report`; not edited by hand.\n")?;
        writeln!(f, "## Summary\n\n{}", self.summary())?;
        writeln!(f, "## How to read it\n\n{HOW_TO_READ}")?;
        writeln!(f, "## How to reproduce it\n\n{HOW_TO_REPRODUCE}\nThis run:\n\n{}", Machine(self.pairs))?;

        for section in self.results {
            writeln!(f, "## {}\n\n{}\n\n{}", section.title, section.about, Table(&section.rows))?;
            for chart in plots::charts_of(section) {
                writeln!(f, "![{}](benches/plots/{})\n", chart.alt, chart.file)?;
            }
        }
        writeln!(f, "{}", ServerSection(self.servers))?;
        writeln!(f, "{}", self.seeing)?;
        for (workers, results) in self.further {
            let noun = if *workers == 1 { "worker" } else { "workers" };
            writeln!(f, "## With {workers} {noun}\n")?;
            for section in results {
                writeln!(f, "### {}, {workers} {noun}\n\n{}", section.title, Table(&section.rows))?;
            }
        }
        Ok(())
    }
}
