//! What the fuzz targets (`fuzz/`) need of the private parts. Not part of any interface.

/// The wheel beside a sorted map.
pub mod wheel {
    pub use crate::wheel::model::{Op, run};
}
