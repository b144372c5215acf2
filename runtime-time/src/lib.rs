//! The clock and the timers of the `rt` runtime: sleeping, intervals, timeouts.
//!
//! This crate is re-exported as `rt::time`; use it from there. It builds on runtime-core's seams alone (the driver, the
//! clock, the context) and knows neither sockets nor the scheduler.
//!
//! # How the pieces fit
//!
//! | file       | what it is                                                                                    |
//! |------------|-----------------------------------------------------------------------------------------------|
//! | `wheel/`   | the hierarchical timing wheel: pure data, ticks in, due timers out                            |
//! | `tick`     | points in time to ticks and back, and the rounding that keeps timers from firing early        |
//! | `shared`   | the clock, and how an early deadline reaches a driver that sleeps                             |
//! | `shard`    | a wheel under a lock: one for each worker, so that the lock is free and the memory near       |
//! | `shard_ref` | how an entry keeps its shard alive                                                           |
//! | `entry`    | the part of a `Sleep` that lies in the wheel, and who may touch it when                       |
//! | `batch`    | wakers between the wheel and their tasks                                                      |
//! | `firing`   | taking what is due out of a shard                                                             |
//! | `handle`   | the shards of a runtime, found through its context                                            |
//! | `driver`   | what a worker waits in; fires what is due                                                     |
//! | `turn`     | how `advance` lets the others go first                                                         |
//! | `delay_queue/` | many deadlines with one `Sleep`                                                            |
//! | the others | the public types                                                                              |
//!
//! Setting a timer takes the lock of the current worker's shard, links an entry that is part of the `Sleep`, and
//! unlocks; cancelling likewise. Neither allocates, writes memory that other workers write, nor makes a system call,
//! unless the deadline is earlier than all others and the driver sleeps. Firing visits all shards from whichever thread
//! drives, so no worker, busy or stuck, keeps its timers from firing.

mod batch;
mod clock;
pub mod delay_queue;
pub mod driver;
mod entry;
pub mod error;
mod firing;
#[cfg(all(any(test, fuzzing), not(loom)))]
#[doc(hidden)]
pub mod fuzzing;
mod handle;
mod instant;
mod interval;
#[cfg(all(test, loom))]
mod loom_tests;
mod shard;
mod shard_ref;
mod shared;
mod sleep;
#[cfg(all(test, not(loom)))]
mod tests;
mod tick;
mod timeout;
mod turn;
mod wheel;

#[doc(no_inline)]
pub use std::time::Duration;

pub use clock::{advance, pause, resume};
pub use delay_queue::DelayQueue;
pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Timeout, timeout, timeout_at};
