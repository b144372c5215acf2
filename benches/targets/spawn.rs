//! Spawning tasks: from a worker, from outside, in a chain and in a tree.

use rt_benches::CriterionRows;
use rt_benches::workloads::{Chain, Detached, ForkJoin, FromOutside, FromThreads, InBlockOn, Join};

fn main() {
    let mut rows = CriterionRows::from_args();
    rows.row(Join)
        .row(Detached)
        .row(FromOutside::IDLE)
        .row(FromOutside::BUSY)
        .row(InBlockOn::SINGLE)
        .row(InBlockOn::BURST)
        .row(Chain)
        .row(ForkJoin);
    for threads in FromThreads::ALL {
        rows.row(threads);
    }
    rows.finish();
}
