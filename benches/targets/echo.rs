//! TCP over loopback: round trips, and connections that come and go.

use rt_benches::CriterionRows;
use rt_benches::workloads::{Connecting, Echo};

fn main() {
    CriterionRows::from_args()
        .row(Echo::ONE)
        .row(Echo::MANY)
        .row(Echo::THOUSAND)
        .row(Echo::LARGE)
        .row(Connecting)
        .finish();
}
