//! The workloads, each in a file that says what it measures and what it does not.
//!
//! Those that implement [`Workload`](crate::Workload) are criterion rows and rows of the table. [`TimerBesideHogs`],
//! [`BytesPerTask`] and [`StuckWorkers`] yield figures other than the time of an operation, and are in the table only.

mod blocking;
mod bytes_per_task;
mod chain;
mod detached;
mod echo;
mod fork_join;
mod from_outside;
mod in_block_on;
mod join;
mod many_senders;
mod many_timers;
mod ping_pong;
mod set_and_cancel;
mod sleepers;
mod stuck_workers;
mod there_and_back;
mod timeout;
mod timer_beside_hogs;
mod yielding;

pub use self::blocking::Blocking;
pub use self::bytes_per_task::{BytesPerTask, TaskBytes};
pub use self::chain::Chain;
pub use self::detached::Detached;
pub use self::echo::Echo;
pub use self::fork_join::ForkJoin;
pub use self::from_outside::FromOutside;
pub use self::in_block_on::InBlockOn;
pub use self::join::Join;
pub use self::many_senders::ManySenders;
pub use self::many_timers::{ManyTimers, TimersOutcome};
pub use self::ping_pong::PingPong;
pub use self::set_and_cancel::SetAndCancel;
pub use self::sleepers::Sleepers;
pub use self::stuck_workers::StuckWorkers;
pub use self::there_and_back::ThereAndBack;
pub use self::timeout::Timeout;
pub use self::timer_beside_hogs::TimerBesideHogs;
pub use self::yielding::Yielding;

use std::time::Duration;

/// The value below which 99 % of the values are. Sorts them.
fn p99(values: &mut [Duration]) -> Duration {
    values.sort_unstable();
    values[(values.len() - 1) * 99 / 100]
}
