//! The core of the rt async runtime: tasks, schedulers, parking, the blocking pool, context, counters.
//!
//! This crate knows nothing of sockets or timers. It is put together with `runtime-io` and `runtime-time` by the facade
//! crate `rt`, which is what programs use. What is public here is for these siblings; the facade decides what of it
//! is the users'.
//!
//! Two layers: tasks and what a thread needs to poll one; above them schedulers and runtimes. The lists of modules
//! below say which is which.
//!
//! Where to begin reading: `task/mod.rs` and `task/state.rs` (what a task is), `scheduler/multi/worker.rs` (what a
//! worker does), `scheduler/multi/idle/` (how workers sleep and wake each other).

// The layer below: what a task is, and what a thread needs to poll one. It knows neither schedulers nor runtimes, and
// uses no module of the layer above (`.ci/layers` reads these two lists). What it asks of that layer goes through
// `task::Schedule`, `task::host::Host` and `task::current::Above`.
pub mod blocked;
pub mod clock;
pub mod coop;
pub mod driver;
pub mod events;
mod fatal;
#[cfg(all(any(test, fuzzing), not(loom)))]
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod inspect;
pub mod metrics;
#[doc(hidden)]
pub mod os;
pub mod primitive;
pub mod processors;
mod reporter;
mod rng;
mod spin;
pub mod task;
pub mod task_hooks;
pub mod trace;
mod wake_latency;

// The layer above: who polls which task when, on which thread, for which runtime.
mod block_in_place;
mod blocking_pool;
mod box_large;
pub mod context;
mod join_set;
mod local_set;
pub mod runtime;
mod scheduler;
mod spans;
mod spawn;
#[cfg(not(loom))]
pub mod stall;
mod task_local;

pub use self::block_in_place::block_in_place;
pub use self::join_set::{Builder as JoinSetBuilder, JoinSet};
pub use self::local_set::{LocalEnterGuard, LocalSet};
pub use self::rng::RngSeed;
pub use self::scheduler::wake_all;
#[doc(hidden)]
pub use self::spawn::spawn_mandatory_blocking;
pub use self::spawn::{Builder as TaskBuilder, spawn, spawn_blocking, spawn_local};
#[doc(hidden)]
pub use self::task::discard_payload;
pub use self::task::{AbortHandle, JoinError, JoinHandle};
pub use self::task_local::{AccessError, LocalKey, TaskLocalFuture};
