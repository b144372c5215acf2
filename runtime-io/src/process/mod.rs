//! Child processes: starting them, talking to them through pipes, and waiting for their end.
//!
//! From the bottom up:
//!
//! - `exit`: a child that has not been waited for yet, and what tells of its end.
//! - `orphans`: who waits for children whose `Child` was dropped.
//! - `stdio`: the pipes.
//! - `child`, `command`: what users see.
//!
//! A child is started by the standard library; this module adds that nobody blocks. It must never wait for a child that
//! it has not started, and never lose one that it has.

mod child;
mod command;
mod exit;
mod orphans;
mod stdio;

pub use child::Child;
pub use command::Command;
pub use stdio::{ChildStderr, ChildStdin, ChildStdout};
