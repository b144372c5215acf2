//! What the libraries have of the [`kinds`](super::kinds), as their documentation says to use it.

mod crates;
mod tokio_like;

pub use self::crates::{AsyncChannel, AsyncUnbounded, Flume, FlumeUnbounded, FuturesOneshot};
pub use self::tokio_like::{rt_sync, tokio_sync};
