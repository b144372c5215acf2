//! The section about more workers than processors.

use std::fmt;

use crate::results::{BEYOND, BeyondRow};
use crate::row::{Figure, quotient};

/// What a row with more workers is meant to be at most, as a part of what it is with few.
const AIM: f64 = 1.3;

const ABOUT: &str = "\
rt alone, three runtimes in turn. A program that is told of more processors than it gets should not pay for workers that
have nothing to run on. The ratios are to the first column.
";

/// The section.
pub(crate) struct Beyond<'a>(pub(crate) &'a [BeyondRow]);

impl fmt::Display for Beyond<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [few, rest @ ..] = BEYOND;
        writeln!(f, "## Workers beyond processors\n\n{ABOUT}")?;
        write!(f, "| row | {few} workers |")?;
        for workers in rest {
            write!(f, " {workers} workers | ratio |")?;
        }
        writeln!(f, " aim | met? |")?;
        writeln!(f, "|---|--:|{}--:|---|", "--:|--:|".repeat(rest.len()))?;
        for BeyondRow { title, figures } in self.0 {
            let first = figures[0].median();
            write!(f, "| {title} | {} |", Figure(first))?;
            let mut is_met = true;
            for runs in &figures[1..] {
                let ratio = quotient(runs.median(), first);
                is_met &= (ratio * 100.0).round() <= AIM * 100.0;
                write!(f, " {} | {ratio:.2} |", Figure(runs.median()))?;
            }
            writeln!(f, " ≤ {AIM:.2} | {} |", if is_met { "yes" } else { "no" })?;
        }
        Ok(())
    }
}
