//! rt beside its peers, Tokio and smol: the same work, on the same machine, in one run.
//!
//! ```text
//! cargo bench                          all rows, by criterion, about four minutes
//! cargo bench --bench echo             the rows of one file
//! cargo bench -- spawn/join            the rows whose name matches
//! cargo bench -- --test                every row once, to see that it works
//! cargo bench --bench table            all rows and a few more, as one Markdown table
//! RT_BENCH_WORKERS=8 cargo bench       with eight workers; without it there are two
//! ```
//!
//! Each workload is written once, generic over [`Runtime`], and lives in a file of its own in [`workloads`], which says
//! what it measures and what it does not. The criterion targets (`targets/*.rs`) follow each row over time. The table
//! (`targets/table`) compares: it runs the runtimes in turn, again and again, so that whatever else the machine does
//! hits all of them alike. **Absolute figures move by half from machine to machine and from run to run; the ratio
//! within one run is what counts.**
//!
//! # What is the same for all
//!
//! - The number of workers, the allocator (the system's), the compiler and its options, `TCP_NODELAY`, the channels:
//!   async-channel, and futures' oneshot, which belong to none of the runtimes.
//! - The driver of a workload, which is the part that is measured, runs as a task on a worker, where a server's code
//!   runs. The thread that waits for it is parked and is not part of the runtime. Rows which begin elsewhere say so in
//!   their names.
//! - All three runtimes are alive during a row, and two of them idle.
//!
//! What each runtime is built from is in [`runtimes`]: no knobs are turned, on any of them.
//!
//! # What is not measured
//!
//! Larger machines than the one at hand, memory under load, anything with disks, a real network, or programs that do
//! work of their own. Most programs spend little of their time in their runtime.

mod criterion_rows;
mod runtime;
pub mod runtimes;
mod workload;
pub mod workloads;

pub use self::criterion_rows::CriterionRows;
pub use self::runtime::{Handle, Listener, Runtime, Stream, Task};
pub use self::workload::{Workload, on_worker};

/// The number of workers of each runtime: two, or what `RT_BENCH_WORKERS` says.
///
/// # Panics
///
/// If the variable is not a number above zero.
pub fn workers() -> usize {
    match std::env::var("RT_BENCH_WORKERS") {
        Ok(text) => match text.parse() {
            Ok(workers) if workers > 0 => workers,
            _ => panic!("RT_BENCH_WORKERS must be a number above zero, not {text:?}"),
        },
        Err(_) => 2,
    }
}
