//! Timers: cancelled, put off, fired, few, and many.

use rt_benches::CriterionRows;
use rt_benches::workloads::{Fired, ManyTimers, Reset, SetAndCancel, Sleepers, Timeout};

fn main() {
    CriterionRows::from_args()
        .row(SetAndCancel)
        .row(Reset)
        .row(Timeout::READY)
        .row(Timeout::WAITS)
        .row(Fired)
        .row(Sleepers)
        .row(ManyTimers::DENSE)
        .finish();
}
