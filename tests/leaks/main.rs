//! Leaks: nothing that a runtime has taken is still there when it is not needed any more.
//!
//! An allocator counts the bytes of the whole process, so each test runs in a process of its own.

mod allocator;
mod memory;
mod recorder;
#[cfg(target_os = "linux")]
mod runtimes;
