//! [`Row`]: what came of one figure on every runtime.

use std::fmt;

use rt_benches::runtimes::Tokio;
use rt_benches::{Runs, Runtime, Trio};

/// Within this much of the best peer rt is level with it.
pub(crate) const LEVEL: f64 = 0.03;

/// What a row is meant to be at most.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// rt's figure, as a part of the best peer's.
    Ratio(f64),
    /// rt's figure, as a part of Tokio's: where smol does something else, such as reading far ahead.
    BesideTokio(f64),
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
    /// In the order of [`Trio::NAMES`].
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
        self.sides[1..].iter().map(Runs::median).fold(f64::INFINITY, f64::min)
    }

    /// rt's figure as a part of the best peer's.
    pub(crate) fn ratio(&self) -> f64 {
        quotient(self.rt(), self.best_peer())
    }

    fn beside_tokio(&self) -> f64 {
        let tokio = Trio::NAMES.iter().position(|&name| name == Tokio::NAME).expect("it is one of them");
        quotient(self.rt(), self.sides[tokio].median())
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
            Aim::Figure(most) => Figure(self.rt()).to_string().parse::<f64>().is_ok_and(|figure| figure <= most),
        })
    }
}

/// A quotient of figures that may both be zero, and are then equal.
pub(crate) fn quotient(figure: f64, of: f64) -> f64 {
    if figure == of { 1.0 } else { figure / of }
}

/// The columns of the runtimes, as they write themselves.
pub(crate) fn name_of(side: usize) -> &'static str {
    match Trio::NAMES[side] {
        "tokio" => "Tokio",
        name => name,
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(most) => write!(f, "≤ {most:.2}"),
            Self::BesideTokio(most) => write!(f, "≤ {most:.2} of Tokio"),
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
