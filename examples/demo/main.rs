//! The runtime at work: much at once, all of it checked, and then the figures.
//!
//! ```text
//! cargo run --release --example demo
//! ```
//!
//! On one runtime, at the same time:
//!
//! - a TCP echo service on 127.0.0.1 serves 1,000 connections, and every byte that comes back is compared (`echo`);
//! - 10,000 timers of 1 to 1,000 ms run, none of which may fire early (`timers`);
//! - every file of the repository is digested, twice, on the blocking pool (`digest`);
//! - and how far all this has come is shown (`progress`).
//!
//! It takes a few seconds and ends with a table of what the runtime did (`report`). If anything is wrong, it says what,
//! and exits with a failure. `RT_WORKER_THREADS=1` or any other number shows the same on fewer or more threads.

mod digest;
mod distribution;
mod echo;
mod failure;
mod progress;
mod random;
mod report;
mod resources;
mod timers;

use std::process::ExitCode;
use std::sync::Arc;

use rt::runtime::{Builder, Handle};
use rt::time::{Duration, Instant, timeout};

use failure::{Context, Failure, finished};
use progress::{Painter, Progress};
use report::Report;
use resources::CpuTime;

/// The most files open at once for their digests: one for each thread of the blocking pool.
const FILES_AT_ONCE: usize = 16;

/// Both ends of every connection, the files, and some to spare for the runtime and the standard streams.
const DESCRIPTORS: u64 = 2 * echo::CONNECTIONS + FILES_AT_ONCE as u64 + 64;

/// Far more than the slowest machine needs. Whatever takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    match run() {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("the demo failed: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Report, Failure> {
    resources::allow_descriptors(DESCRIPTORS)?;
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(FILES_AT_ONCE)
        .build()
        .context("starting the runtime")?;
    let report = runtime.block_on(demo());
    if report.is_err() {
        // Tasks may wait for what will never come, so do not wait for them.
        runtime.shutdown_background();
    }
    report
}

/// Runs everything at once, under the eyes of the painter.
async fn demo() -> Result<Report, Failure> {
    let progress = Arc::new(Progress::default());
    let painter = Painter::new(Arc::clone(&progress));
    let (start, cpu) = (Instant::now(), CpuTime::now());

    let echo = rt::spawn(echo::run(Arc::clone(&progress)));
    let timers = rt::spawn(timers::run(Arc::clone(&progress)));
    let digest = rt::spawn(digest::run(Arc::clone(&progress)));
    let work = async { rt::try_join!(finished(echo), finished(timers), finished(digest)) };

    let outcome = painter.watch(timeout(PATIENCE, work)).await;
    let (echo, timers, digest) =
        outcome.map_err(|_| Failure::check(format!("not done after {PATIENCE:?}, but only {progress}")))??;
    let report = Report {
        elapsed: start.elapsed(),
        cpu: CpuTime::since(cpu),
        peak_memory: resources::peak_memory(),
        runtime: Handle::current().metrics(),
        echo,
        timers,
        digest,
    };
    painter.finish();
    Ok(report)
}
