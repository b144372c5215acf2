//! [`Row`]: what came of one figure on every runtime.

use std::fmt;

use rt_benches::Runs;

/// Within this much of the best peer rt is level with it.
pub(crate) const LEVEL: f64 = 0.03;

/// The runtimes, in the order of [`Trio::NAMES`](rt_benches::Trio::NAMES), as they write themselves.
pub(crate) const RUNTIMES: [&str; 3] = ["rt", "Tokio", "smol"];

/// What a row is meant to be at most.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// rt's figure, as a part of the best peer's.
    Ratio(f64),
    /// rt's figure, as a part of Tokio's: where smol does something else, such as reading far ahead.
    BesideTokio(f64),
    /// The same, and also as a part of Tokio's.
    OfBestAndOfTokio(f64, f64),
    /// rt's figure.
    Figure(f64),
}

/// How rt does beside the best peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Better,
    Level,
    Worse,
}

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) title: String,
    /// What is compared: first rt, then Tokio.
    pub(crate) names: &'static [&'static str],
    /// In the order of the names. Those that do not have this have no runs.
    pub(crate) sides: Vec<Runs>,
    /// The same by a library that is not a runtime.
    pub(crate) reference: Option<(&'static str, Runs)>,
    pub(crate) aim: Option<Aim>,
    /// Whether it belongs to the few that the summary shows.
    pub(crate) telling: bool,
}

impl Row {
    pub(crate) fn rt(&self) -> f64 {
        self.sides[0].median()
    }

    /// The figure of the better of the peers.
    pub(crate) fn best_peer(&self) -> f64 {
        self.sides[1..].iter().filter(|runs| !runs.is_empty()).map(Runs::median).fold(f64::INFINITY, f64::min)
    }

    /// rt's figure as a part of the best peer's.
    pub(crate) fn ratio(&self) -> f64 {
        quotient(self.rt(), self.best_peer())
    }

    fn beside_tokio(&self) -> f64 {
        quotient(self.rt(), self.sides[1].median())
    }

    pub(crate) fn standing(&self) -> Standing {
        match self.ratio() {
            ratio if ratio > 1.0 + LEVEL => Standing::Worse,
            ratio if ratio < 1.0 - LEVEL => Standing::Better,
            _ => Standing::Level,
        }
    }

    pub(crate) fn meets_aim(&self) -> Option<bool> {
        // As precise as it is printed.
        let hundredths = |figure: f64| (figure * 100.0).round();
        self.aim.map(|aim| match aim {
            Aim::Ratio(most) => hundredths(self.ratio()) <= hundredths(most),
            Aim::BesideTokio(most) => hundredths(self.beside_tokio()) <= hundredths(most),
            Aim::OfBestAndOfTokio(of_best, of_tokio) => {
                hundredths(self.ratio()) <= hundredths(of_best)
                    && hundredths(self.beside_tokio()) <= hundredths(of_tokio)
            }
            Aim::Figure(most) => Figure(self.rt()).to_string().parse::<f64>().is_ok_and(|figure| figure <= most),
        })
    }
}

/// A quotient of figures that may both be zero, and are then equal.
pub(crate) fn quotient(figure: f64, of: f64) -> f64 {
    if figure == of { 1.0 } else { figure / of }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(most) => write!(f, "≤ {most:.2}"),
            Self::BesideTokio(most) => write!(f, "≤ {most:.2} of Tokio's"),
            Self::OfBestAndOfTokio(of_best, of_tokio) => write!(f, "≤ {of_best:.2}, {of_tokio:.2} of Tokio's"),
            Self::Figure(most) => write!(f, "≤ {}", Figure(*most)),
        }
    }
}

/// A number with about three digits that mean something.
pub(crate) struct Figure(pub(crate) f64);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0 {
            0.0 => 0,
            figure if figure < 1.0 => 3,
            figure if figure < 10.0 => 2,
            figure if figure < 100.0 => 1,
            _ => 0,
        };
        write!(f, "{:.*}", decimals, self.0)
    }
}
