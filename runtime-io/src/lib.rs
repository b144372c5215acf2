//! The I/O half of the rt runtime: a shared poller, and the sockets that stand on it.
//!
//! The facade makes a [`Driver`], puts it under the timers and hands the stack to the core; the worker with nothing to
//! do waits in it. Programs see [`net`], [`io`] and, on Unix, [`unix`], which the facade re-exports.
//!
//! Inside, from the bottom up:
//!
//! - `readiness`: what is known about one descriptor, and who waits for it. All the concurrency is in there.
//! - `driver`: the poller, the table that turns a token into a descriptor's readiness, and parking.
//! - `registration`: the tie between an object and the driver, and the loop "try, and if it would block, wait".
//! - `background`: files and standard streams, which have no readiness, behind polls that do not block.
//! - `fs`, `net`, `unix`: the public types. They hold a backend and what waits for it, and no protocol of their own.
//! - `signal`: the signals of the process, which every driver of the process listens for. `process`: children, whose
//!   end is an event like any other.
//!
//! This crate must never know about queues or timers, and of tasks only what a leaf says that they wait for. The wakers
//! of what is ready go to the scheduler, which also says when to wait in the driver; nothing else here sleeps. It keeps
//! nothing global but what the process has only one of: its signals, and the children that nobody waits for. `unsafe`
//! is denied but in the files that say what for.

#![deny(unsafe_code)]

// Standard streams alone neither seek nor run jobs of other kinds.
#[cfg_attr(not(feature = "fs"), allow(dead_code, unused_imports))]
#[cfg(any(feature = "fs", feature = "io-std"))]
mod background;
#[cfg(feature = "fs")]
pub mod fs;
pub mod io;

#[cfg(feature = "net")]
mod driver;
#[cfg(feature = "net")]
mod interest;
#[cfg(feature = "net")]
mod located;
#[cfg(feature = "net")]
pub mod net;
#[cfg(all(unix, feature = "process", not(loom)))]
pub mod process;
#[cfg(feature = "net")]
mod readiness;
#[cfg(feature = "net")]
mod ready;
#[cfg(feature = "net")]
mod registration;
#[cfg(all(unix, feature = "signal"))]
pub mod signal;
#[cfg(all(unix, feature = "net"))]
pub mod unix;

#[cfg(feature = "net")]
pub use driver::{Driver, Handle};

/// What every operation reports once the driver under it is gone.
#[cfg(feature = "net")]
pub(crate) fn shut_down() -> std::io::Error {
    runtime_core::runtime::ShutDown::new("the runtime's I/O driver was shut down").into()
}
