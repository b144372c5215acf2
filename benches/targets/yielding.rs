//! Yielding, alone and among many.

use rt_benches::CriterionRows;
use rt_benches::workloads::Yielding;

fn main() {
    CriterionRows::from_args().row(Yielding::ONE).row(Yielding::MANY).finish();
}
