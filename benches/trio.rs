//! [`Three`] runtimes, so that they can be run in turn, and the [`Trio`] of rt and its peers.

use crate::runtime::Runtime;
use crate::runtimes::{Rt, Smol, Tokio};

/// Three runtimes, all alive; the two that are not being run are idle.
#[derive(Debug)]
pub struct Three<A, B, C>(A, B, C);

/// rt and its peers.
pub type Trio = Three<Rt, Tokio, Smol>;

/// What is done with one runtime or the other: a closure that is generic over the runtime.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<R: Runtime>(self, runtime: &R) -> Self::Output;
}

impl<A: Runtime, B: Runtime, C: Runtime> Three<A, B, C> {
    /// What they are called, in the order in which they are counted.
    pub const NAMES: [&'static str; 3] = [A::NAME, B::NAME, C::NAME];

    /// Starts all three.
    pub fn start(workers: usize) -> Self {
        Self(A::start(workers), B::start(workers), C::start(workers))
    }

    /// Does something with one of them.
    ///
    /// # Panics
    ///
    /// If `side` is not an index of [`NAMES`](Self::NAMES).
    pub fn visit<V: Visitor>(&self, side: usize, visitor: V) -> V::Output {
        match side {
            0 => visitor.visit(&self.0),
            1 => visitor.visit(&self.1),
            2 => visitor.visit(&self.2),
            _ => panic!("there are three runtimes"),
        }
    }
}
