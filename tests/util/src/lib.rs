//! What the whole-program tests share: a watchdog, runtimes, gates and channels that do not rest on rt, values that
//! count their drops, and panics.
//!
//! Tests say what must happen, in which order and how often; none says how fast. A test that waits for something that
//! never happens is ended by its [`watchdog()`], which is the only clock in here.
//!
//! ThreadSanitizer must see how threads hand things over. So the locks here are parking_lot's, not std's, and there is
//! a [`scope`] in place of `std::thread::scope`.

mod blast;
mod drops;
#[cfg(unix)]
mod forked;
mod own_process;
mod panics;
mod random;
mod runtimes;
mod streams;
mod tasks;
mod threads;
mod watchdog;

pub use blast::{Blast, Bomb, defuse, survives};
pub use drops::{Drops, Token};
#[cfg(unix)]
pub use forked::in_fork;
#[cfg(target_os = "linux")]
pub use own_process::{descriptor_count, thread_count};
pub use own_process::{in_own_process, in_own_process_with};
pub use panics::{Caught, catch, message_of};
pub use random::Random;
pub use runtimes::{assert_unhurt, current, multi, on_each_runtime, processors, rescuing};
#[cfg(unix)]
pub use streams::full_stream;
pub use streams::tcp_pair;
pub use tasks::{Channel, Signal, Wakes, poll_once, yield_by_hand};
pub use threads::{Gate, IMPOSSIBLE_STACK, Scope, eventually, scope};
pub use watchdog::{Watchdog, watchdog};
