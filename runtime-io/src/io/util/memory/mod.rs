//! Streams within the process: [`duplex`] and [`simplex`].
//!
//! Both are made of a [`Pipe`], which is a queue of bytes and the two wakers that wait for it. A [`SimplexStream`] has
//! one to itself; a [`DuplexStream`] shares two with its peer, each under a lock.

mod duplex;
#[cfg(all(test, loom))]
mod loom_models;
mod pipe;
mod simplex;

pub use duplex::{DuplexStream, duplex};
pub use simplex::{SimplexStream, simplex};
