//! Faults: what the operating system refuses, what the other side breaks off, and what comes at the wrong moment. Each
//! test really provokes its fault, and says what whoever meets it is told, and that all others go on.
//!
//! Faults that concern a whole process (its limits, its signals, the numbers of its descriptors) are provoked in a
//! process that has nothing else to do: see `rt_test_util::in_own_process`.

mod broken_connections;
mod ends_of_time;

#[cfg(target_os = "linux")]
mod linux {
    mod abrupt_ends;
    mod borrowed_descriptors;
    mod children;
    mod no_descriptors;
    mod no_threads;
    mod quota;
    mod refused_calls;
    mod reused_descriptors;
    mod seccomp;
    mod signals;
    mod spurious_events;
    mod stopped_stderr;
}
