//! [`Trio`]: one of each runtime, so that they can be run in turn.

use crate::runtime::Runtime;
use crate::runtimes::{Rt, Smol, Tokio};

/// One of each runtime, all alive; the two that are not being run are idle.
#[derive(Debug)]
pub struct Trio {
    rt: Rt,
    tokio: Tokio,
    smol: Smol,
}

/// What is done with one runtime or the other: a closure that is generic over the runtime.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<R: Runtime>(self, runtime: &R) -> Self::Output;
}

impl Trio {
    /// What they are called, in the order in which they are counted.
    pub const NAMES: [&'static str; 3] = [Rt::NAME, Tokio::NAME, Smol::NAME];

    /// Starts all three.
    pub fn start(workers: usize) -> Self {
        Self { rt: Rt::start(workers), tokio: Tokio::start(workers), smol: Smol::start(workers) }
    }

    /// Does something with one of them.
    ///
    /// # Panics
    ///
    /// If `side` is not an index of [`NAMES`](Self::NAMES).
    pub fn visit<V: Visitor>(&self, side: usize, visitor: V) -> V::Output {
        match side {
            0 => visitor.visit(&self.rt),
            1 => visitor.visit(&self.tokio),
            2 => visitor.visit(&self.smol),
            _ => panic!("there are three runtimes"),
        }
    }
}
