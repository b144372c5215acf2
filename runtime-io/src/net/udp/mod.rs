//! UDP: one type, by what it is used for in one file each.
//!
//! `receive` and `send` have each operation in up to three forms: a future, a `poll_` for hand-written futures, and a
//! `try_` that does not wait. `options` has what only the operating system cares about.

mod options;
mod receive;
mod send;
mod socket;

pub use socket::UdpSocket;
