//! [`Sweep`]: a part of the runs of every row.

use std::fmt;
use std::ops::Range;

/// Once through all rows. A figure is the median of runs of several sweeps: a minute in which the machine had less to
/// give, or an unlucky placement of threads, which may last as long as a runtime, is in a part of them only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep(usize);

impl Sweep {
    const COUNT: usize = 3;

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// Which of `runs` runs belong to it.
    pub(crate) fn share(self, runs: usize) -> Range<usize> {
        runs * self.0 / Self::COUNT..runs * (self.0 + 1) / Self::COUNT
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} of {}] ", self.0 + 1, Self::COUNT)
    }
}
