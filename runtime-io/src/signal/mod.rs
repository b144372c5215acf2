//! Signals: what the user or another process tells this one.
//!
//! From the bottom up:
//!
//! - `table`: which signals have come and who listens for them. The protocol between handlers, drivers and listeners
//!   is described there.
//! - `dispatch`: the process's handlers, and the drivers that are told by them.
//! - [`unix`] and [`ctrl_c`]: what users see.
//!
//! A handler sets a flag and writes a byte, which wakes the drivers of all runtimes. The first to come delivers the
//! signal to all listeners, in whichever runtimes they are. The drivers call `deliver`; `process` listens for the ends
//! of children where it cannot wait for them otherwise. Nothing here may take a lock or allocate in a handler, or take
//! away a handler that was installed.

#[cfg(not(loom))]
mod ctrl_c;
#[cfg(not(loom))]
mod dispatch;
#[cfg_attr(loom, allow(dead_code))] // the models are tests
mod table;
#[cfg(not(loom))]
pub mod unix;

#[cfg(not(loom))]
pub use ctrl_c::ctrl_c;
#[cfg(all(feature = "process", not(loom)))]
pub(crate) use dispatch::listen;
#[cfg(not(loom))]
pub(crate) use dispatch::{Member, deliver};
#[cfg(all(feature = "process", not(loom)))]
pub(crate) use table::Listener;
