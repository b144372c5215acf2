//! One Markdown table: every row, the runtimes side by side.
//!
//! ```text
//! cargo bench --bench table -- [part of a row's title]
//! ```
//!
//! Each row starts its own three runtimes and runs them in turn (rt, Tokio, smol, rt, Tokio, smol ...). The figure is
//! the median of the runs. The table goes to standard output; what it is at, to standard error.

mod allocator;
mod machine;
mod measures;
mod rows;

use std::env;

use rt_benches::workloads::{
    Blocking, BytesPerTask, Chain, Detached, Echo, ForkJoin, FromOutside, InBlockOn, Join, ManySenders, ManyTimers,
    PingPong, SetAndCancel, Sleepers, StuckWorkers, ThereAndBack, Timeout, TimerBesideHogs, Yielding,
};

use self::measures::PerOperation;
use self::rows::Table;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test` of all targets, which wants no figures.
        eprintln!("usage: cargo bench --bench table -- [part of a row's title]");
        return;
    }
    let filter = arguments.into_iter().find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let workers = rt_benches::workers();
    let mut table = Table::new(workers, filter);

    table.measure(&PerOperation(Join));
    table.measure(&PerOperation(Detached));
    table.measure(&PerOperation(FromOutside));
    table.measure(&PerOperation(InBlockOn::SINGLE));
    table.measure(&PerOperation(InBlockOn::BURST));
    table.measure(&PerOperation(Chain));
    table.measure(&PerOperation(ForkJoin));
    table.measure(&PerOperation(Yielding::MANY));
    table.measure(&PerOperation(Yielding::ONE));
    table.measure(&PerOperation(PingPong));
    table.measure(&PerOperation(ThereAndBack));
    table.measure(&PerOperation(ManySenders));
    table.measure(&PerOperation(SetAndCancel));
    table.measure(&PerOperation(Timeout::READY));
    table.measure(&PerOperation(Timeout::WAITS));
    table.measure(&PerOperation(Sleepers));
    table.measure(&ManyTimers::STEADY);
    table.measure(&TimerBesideHogs::YIELD);
    table.measure(&TimerBesideHogs::WAKE_THEMSELVES);
    table.measure(&PerOperation(Blocking::SINGLE));
    table.measure(&PerOperation(Blocking::BATCH));
    table.measure(&PerOperation(Echo::ONE));
    table.measure(&PerOperation(Echo::MANY));
    table.measure(&PerOperation(Echo::LARGE));
    table.measure(&BytesPerTask);
    table.measure(&StuckWorkers);

    print!("{}\n{table}", machine::Description { workers });
}
