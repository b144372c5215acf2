//! Faults of the operating system: what it lacks, refuses, interrupts, or tells without cause; clocks at both ends of
//! time; descriptors that are not what the runtime takes them for.

mod ends_of_time;
#[cfg(target_os = "linux")]
mod files;

#[cfg(target_os = "linux")]
mod borrowed_descriptors;
#[cfg(target_os = "linux")]
mod children;
#[cfg(target_os = "linux")]
mod no_descriptors;
#[cfg(target_os = "linux")]
mod no_threads;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod quota;
#[cfg(target_os = "linux")]
mod refused_calls;
#[cfg(target_os = "linux")]
mod reused_descriptors;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod spurious_events;
#[cfg(target_os = "linux")]
mod stopped_stderr;
