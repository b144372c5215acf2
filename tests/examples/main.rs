//! The examples, used as a reader would use them: as programs, from outside.
//!
//! `cargo test` builds them before it runs this. They listen on ports that the system chooses, and say which.

#![cfg(unix)]

mod chat;
mod jobs;
mod orderly_end;
mod program;
mod proxy;
mod tree_sum;
mod udp_relay;
