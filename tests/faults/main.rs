//! Faults: tasks that go wrong, what the operating system refuses, and what peers break off. Each test really provokes
//! its fault. It says what the caller that meets the fault is told, and that everything else goes on.
//!
//! Faults that concern a whole process (its limits, its signals, the numbers of its descriptors) are provoked in a
//! process of their own: see `rt_test_util::in_own_process`.

mod peers;
mod system;
mod tasks;
