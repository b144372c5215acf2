//! Messages between tasks.

use rt_benches::CriterionRows;
use rt_benches::workloads::{ManySenders, PingPong, ThereAndBack};

fn main() {
    CriterionRows::from_args()
        .row(PingPong)
        .row(ThereAndBack::TASKS)
        .row(ThereAndBack::IN_BLOCK_ON)
        .row(ThereAndBack::IN_BLOCK_ON_BESIDE_NEIGHBOUR)
        .row(ManySenders)
        .finish();
}
