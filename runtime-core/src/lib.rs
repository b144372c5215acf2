//! The core of the [rt](https://docs.rs/rt) async runtime: tasks, schedulers, parking, the blocking pool, context,
//! counters.
//!
//! This crate knows nothing of sockets or timers. It is put together with `runtime-io` and `runtime-time` by the facade
//! crate `rt`, which is what programs use. What is public here is for these siblings; the facade decides what of it
//! is the users'.
//!
//! Where to begin reading: `task/mod.rs` and `task/state.rs` (what a task is), `scheduler/multi/worker.rs` (what a
//! worker does), `scheduler/multi/idle/` (how workers sleep and wake each other).

mod block_in_place;
pub mod blocked;
mod blocking;
pub mod clock;
pub mod context;
pub mod coop;
pub mod driver;
pub mod events;
mod fatal;
#[cfg(all(any(test, fuzzing), not(loom)))]
#[doc(hidden)]
pub mod fuzzing;
mod large;
pub mod metrics;
#[doc(hidden)]
pub mod os;
pub mod primitive;
pub mod processors;
mod reporter;
mod rng;
pub mod runtime;
mod scheduler;
mod spawn;
mod spin;
pub mod task;
mod wake_latency;

pub use self::block_in_place::block_in_place;
pub use self::rng::RngSeed;
pub use self::spawn::{spawn, spawn_blocking, spawn_local};
pub use self::task::{AbortHandle, JoinError, JoinHandle};
