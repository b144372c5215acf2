//! Spawning tasks: from a worker, from outside, in a chain and in a tree.

use rt_benches::CriterionRows;
use rt_benches::workloads::{Chain, Detached, ForkJoin, FromOutside, InBlockOn, Join};

fn main() {
    CriterionRows::from_args()
        .row(Join)
        .row(Detached)
        .row(FromOutside)
        .row(InBlockOn::SINGLE)
        .row(InBlockOn::BURST)
        .row(Chain)
        .row(ForkJoin)
        .finish();
}
