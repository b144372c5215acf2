//! [`Cell`]: a figure beside the one that it is compared with, by pairs of runs.

use std::fmt;

use rt_benches::Runs;

use crate::row::{Figure, quotient};

/// How a figure stands to its aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    /// Missed, but the aim is within the middle half of the runs.
    Undecided,
    Missed,
}

/// What the ratio of two figures is meant to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RatioAim {
    AtLeast(f64),
    AtMost(f64),
}

/// A figure, the one beside it, and their ratio. Without figures where they cannot be had.
pub(crate) struct Cell {
    figures: Option<[f64; 2]>,
    ratio: f64,
    /// The middle half of the ratios.
    range: (f64, f64),
    pub(crate) verdict: Option<Verdict>,
}

/// How many aims are met, and missed.
pub(crate) struct Verdicts(pub(crate) Vec<Verdict>);

impl RatioAim {
    /// Compares figures as precise as they are printed.
    fn is_met(self, ratio: f64) -> bool {
        let hundredths = |ratio: f64| (ratio * 100.0).round();
        match self {
            Self::AtLeast(least) => hundredths(ratio) >= hundredths(least),
            Self::AtMost(most) => hundredths(ratio) <= hundredths(most),
        }
    }
}

impl Cell {
    /// Of figures that each run has: each of these pairs is of two runs in turn.
    pub(crate) fn paired(pairs: impl Iterator<Item = [f64; 2]>, aim: Option<RatioAim>) -> Self {
        let (mut sides, mut ratios) = ([Runs::default(), Runs::default()], Runs::default());
        for [figure, beside] in pairs {
            ratios.push(quotient(figure, beside));
            sides[0].push(figure);
            sides[1].push(beside);
        }
        let (ratio, range) = (ratios.median(), ratios.middle_half());
        let verdict = aim.map(|aim| match aim {
            _ if aim.is_met(ratio) => Verdict::Met,
            _ if aim.is_met(range.0) || aim.is_met(range.1) => Verdict::Undecided,
            _ => Verdict::Missed,
        });
        Self { figures: Some(sides.map(|runs| runs.median())), ratio, range, verdict }
    }

    /// Of figures that there is one of.
    pub(crate) fn single(figures: Option<[f64; 2]>) -> Self {
        let ratio = figures.map_or(0.0, |[figure, beside]| quotient(figure, beside));
        Self { figures, ratio, range: (ratio, ratio), verdict: None }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some([figure, beside]) = self.figures else { return f.write_str("not counted") };
        let mark = match self.verdict {
            Some(Verdict::Missed) => "**",
            Some(Verdict::Undecided) => "*",
            Some(Verdict::Met) | None => "",
        };
        write!(f, "{mark}{} / {} ({:.2}", Figure(figure), Figure(beside), self.ratio)?;
        if self.verdict.is_some() {
            write!(f, ", {:.2}–{:.2}", self.range.0, self.range.1)?;
        }
        write!(f, "){mark}")
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |of| self.0.iter().filter(|verdict| **verdict == of).count();
        write!(
            f,
            "{} are met, {} are missed by less than runs differ, and {} by more",
            count(Verdict::Met),
            count(Verdict::Undecided),
            count(Verdict::Missed)
        )
    }
}
