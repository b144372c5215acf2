//! rt beside its peers, Tokio and smol: the same work, on the same machine, in one run.
//!
//! ```text
//! cargo bench                          what is timed, by criterion, at 1, 2 and 4 workers
//! cargo bench --bench echo             the rows of one file
//! cargo bench -- spawn/join            the rows whose name matches
//! cargo bench -- --test                every row once, to see that it works
//! RT_BENCH_WORKERS=2,8 cargo bench     with other numbers of workers
//! cargo bench --bench report           everything, side by side: writes BENCHMARKS.md and benches/plots
//! cargo bench --bench report -- yield  the rows whose title has "yield", to standard output
//! ```
//!
//! Each workload is written once, generic over [`Runtime`], and lives in a file of its own in [`workloads`], which says
//! what it measures and what it does not. Those that are timed are criterion rows (`targets/*.rs`), which are good at
//! telling a change from noise. The report (`targets/report`) has them all, and those whose figures are percentiles,
//! bytes or counts. Both run the runtimes in turn, again and again, so that whatever else the machine does hits all of
//! them alike. **Absolute figures move by half from machine to machine and from run to run; the ratio within one run is
//! what counts.**
//!
//! [`sync`] compares libraries of channels and locks, another thing: what they are run on is the same. Its rows
//! are in the report only.
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
mod files;
mod measure;
mod process;
mod runtime;
pub mod runtimes;
pub mod servers;
mod statistics;
pub mod sync;
mod system;
mod trio;
mod workload;
pub mod workloads;

pub use self::criterion_rows::CriterionRows;
pub use self::files::{File, Files};
pub use self::measure::{Measure, PerOperation};
pub use self::process::{Usage, allow_open_files, usage_of_other_threads, usage_of_process};
pub use self::runtime::{Handle, Listener, Runtime, Stream, Task, Timer};
pub use self::statistics::{Percentiles, Runs};
pub use self::sync::{Hosts, LibraryRow};
pub use self::system::{Datagrams, Relay, System};
pub use self::trio::{Three, Trio, Visitor};
pub use self::workload::{Reference, Workload, on_worker};

/// The numbers of workers to measure with: those that `RT_BENCH_WORKERS` lists, separated by commas, or else the
/// caller's.
///
/// # Panics
///
/// If the variable holds anything else than numbers above zero.
pub fn workers(default: &[usize]) -> Vec<usize> {
    let Ok(text) = std::env::var("RT_BENCH_WORKERS") else {
        return default.to_vec();
    };
    text.split(',')
        .map(|number| match number.trim().parse() {
            Ok(workers) if workers > 0 => workers,
            _ => panic!("RT_BENCH_WORKERS must list numbers above zero, not {text:?}"),
        })
        .collect()
}
