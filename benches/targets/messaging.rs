//! Messages between tasks.

use rt_benches::CriterionRows;
use rt_benches::workloads::{ManySenders, PingPong, ThereAndBack};

fn main() {
    CriterionRows::from_args().row(PingPong).row(ThereAndBack).row(ManySenders).finish();
}
