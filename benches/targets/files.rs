//! Files.

use rt_benches::CriterionRows;
use rt_benches::workloads::{Directory, ManyFiles, SequentialReads, SequentialWrites, WholeFile};

fn main() {
    CriterionRows::from_args()
        .row(SequentialReads::TINY)
        .row(SequentialReads::PAGES)
        .row(SequentialWrites::TINY)
        .row(SequentialWrites::PAGES)
        .row(WholeFile::SMALL)
        .row(WholeFile::LARGE)
        .row(Directory)
        .row(ManyFiles)
        .finish();
}
