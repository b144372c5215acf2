//! Measures the same servers on rt and on Tokio, and writes `ECOSYSTEM.md` and its charts.
//!
//!     report [--quick] [--to DIRECTORY] SERVERS-ON-RT SERVERS-ON-TOKIO [FILTER]
//!
//! `../run` builds the two and calls this. With a filter, only the rows whose titles contain it are measured, and the
//! document goes to standard output.

mod burn;
mod chart;
mod document;
mod frozen;
mod grpc;
mod load;
mod machine;
mod process;
mod rows;
mod sockets;
mod statistics;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs};

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Pairs of runs for each row, one of each side.
    pub(crate) pairs: usize,
    /// Of a run.
    pub(crate) length: Duration,
}

impl Effort {
    const FULL: Self = Self { pairs: 5, length: Duration::from_secs(3) };
    const QUICK: Self = Self { pairs: 2, length: Duration::from_secs(1) };
}

/// The programs that have the servers on rt and on Tokio.
pub(crate) type Sides = [PathBuf; 2];

fn main() -> Result<(), Box<dyn Error>> {
    burn::burn_if_told();
    let mut arguments = env::args().skip(1).peekable();
    let is_quick = arguments.next_if(|argument| argument == "--quick").is_some();
    let effort = if is_quick { Effort::QUICK } else { Effort::FULL };
    let to = arguments.next_if(|argument| argument == "--to").and_then(|_| arguments.next()).map(PathBuf::from);
    let (Some(on_rt), Some(on_tokio)) = (arguments.next(), arguments.next()) else {
        return Err("report [--quick] [--to DIRECTORY] SERVERS-ON-RT SERVERS-ON-TOKIO [FILTER]".into());
    };
    let filter = arguments.next().unwrap_or_default();
    let sides: Sides = [on_rt.into(), on_tokio.into()];

    let rows = rows::measure(&sides, effort, &filter)?;
    let frozen = frozen::measure(&sides, effort, &filter)?;
    let text = document::write(&rows, &frozen, effort, is_quick);
    match to {
        Some(directory) if filter.is_empty() => {
            let charts = directory.join(document::CHARTS);
            fs::create_dir_all(&charts)?;
            for chart in document::charts(&rows) {
                fs::write(charts.join(chart.file), chart.svg)?;
            }
            fs::write(directory.join("ECOSYSTEM.md"), text)?;
        }
        _ => print!("{text}"),
    }
    Ok(())
}
