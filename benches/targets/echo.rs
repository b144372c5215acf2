//! TCP round trips over loopback.

use rt_benches::CriterionRows;
use rt_benches::workloads::Echo;

fn main() {
    CriterionRows::from_args().row(Echo::ONE).row(Echo::MANY).row(Echo::LARGE).finish();
}
