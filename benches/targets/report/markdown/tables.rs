//! A section's table.

use std::fmt;

use crate::row::{Figure, Row, Standing};

/// A Markdown table of rows, which all compare the same. The columns about aims and references are there if some row
/// has one.
pub(crate) struct Table<'a>(pub(crate) &'a [Row]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_aims = self.0.iter().any(|row| row.aim.is_some());
        let names = self.0[0].names;
        write!(f, "| row | {} | ratio |", names.join(" | "))?;
        writeln!(f, "{} range of rt |", if has_aims { " aim | met? |" } else { "" })?;
        writeln!(f, "|---|{}--:|{}--:|", "--:|".repeat(names.len()), if has_aims { "--:|---|" } else { "" })?;
        for row in self.0 {
            write!(f, "| {} |", Title(row))?;
            for side in &row.sides {
                match side.is_empty() {
                    true => write!(f, " |")?,
                    false => write!(f, " {} |", Figure(side.median()))?,
                }
            }
            write!(f, " {} |", Ratio(row))?;
            if has_aims {
                match (row.aim, row.meets_aim()) {
                    (Some(aim), Some(is_met)) => write!(f, " {aim} | {} |", if is_met { "yes" } else { "no" })?,
                    _ => write!(f, " | |")?,
                }
            }
            let (low, high) = row.sides[0].range();
            writeln!(f, " {}–{} |", Figure(low), Figure(high))?;
        }
        Ok(())
    }
}

/// A row's title, and what else it is compared with.
pub(super) struct Title<'a>(pub(super) &'a Row);

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.title)?;
        match &self.0.reference {
            Some((name, runs)) => write!(f, " ({name}, which is no runtime: {})", Figure(runs.median())),
            None => Ok(()),
        }
    }
}

/// A row's ratio, marked where rt is behind.
pub(super) struct Ratio<'a>(pub(super) &'a Row);

impl fmt::Display for Ratio<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.0.ratio();
        match self.0.standing() {
            Standing::Worse if ratio.is_infinite() => write!(f, "**worse** (than 0)"),
            Standing::Worse => write!(f, "**{ratio:.2} worse**"),
            Standing::Better | Standing::Level => write!(f, "{ratio:.2}"),
        }
    }
}
