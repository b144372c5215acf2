//! Files that are read whole.

use std::io;
use std::time::{Duration, Instant};

use super::Temporary;
use crate::{Files, Runtime, Workload, on_worker};

/// An operation is all of a file read into a new vector: one job for the pool of threads. The large file is mostly the
/// kernel's copying, and its page faults.
#[derive(Clone, Debug)]
pub struct WholeFile {
    length: usize,
}

impl WholeFile {
    /// A file of 4 KiB.
    pub const SMALL: Self = Self { length: 4 << 10 };
    /// A file of 256 MiB.
    pub const LARGE: Self = Self { length: 256 << 20 };
}

impl Workload for WholeFile {
    fn name(&self) -> &'static str {
        if self.length == Self::SMALL.length { "files/whole_4_kib" } else { "files/whole_256_mib" }
    }

    fn title(&self) -> &'static str {
        if self.length == Self::SMALL.length { "`fs::read` of 4 KiB" } else { "`fs::read` of 256 MiB" }
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let length = self.length;
        let directory = Temporary::new();
        let path = directory.file("read", length);
        let driver = async move {
            let start = Instant::now();
            for _ in 0..rounds {
                assert_eq!(R::Handle::read_whole(path.clone()).await?.len(), length);
            }
            io::Result::Ok(start.elapsed())
        };
        on_worker(runtime, driver).expect("files can be read")
    }
}
