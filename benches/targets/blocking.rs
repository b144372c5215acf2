//! The blocking pool.

use rt_benches::CriterionRows;
use rt_benches::workloads::Blocking;

fn main() {
    CriterionRows::from_args().row(Blocking::SINGLE).row(Blocking::BATCH).finish();
}
