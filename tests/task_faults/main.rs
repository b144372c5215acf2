//! Tasks that go wrong, or to extremes: panics wherever user code runs, floods of wakes, futures of odd shapes. Whatever
//! they do, the runtime still works afterwards, and other tasks are unhurt.

#[path = "../common/mod.rs"]
mod common;

mod blast;
#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod faulty;
mod hooks;
#[cfg(unix)]
mod meddlers;
mod polls;
#[cfg(target_os = "linux")]
mod process;
#[cfg(unix)]
mod reentry;
mod shapes;
mod storms;
#[cfg(unix)]
mod wakers;
