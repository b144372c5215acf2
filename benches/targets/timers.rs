//! Timers: cancelled, few, and many.

use rt_benches::CriterionRows;
use rt_benches::workloads::{ManyTimers, SetAndCancel, Sleepers, Timeout};

fn main() {
    CriterionRows::from_args()
        .row(SetAndCancel)
        .row(Timeout::READY)
        .row(Timeout::WAITS)
        .row(Sleepers)
        .row(ManyTimers::DENSE)
        .finish();
}
