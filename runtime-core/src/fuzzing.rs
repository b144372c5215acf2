//! What the fuzz targets (`fuzz/`) need of the private parts. Not part of any interface.

/// The state word of a task beside an account of its holders.
pub mod task_state {
    pub use crate::task::state::model::{Op, run};
}
