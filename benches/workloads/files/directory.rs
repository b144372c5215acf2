//! A large directory.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use super::Temporary;
use crate::{Files, Runtime, Workload, on_worker};

const ENTRIES: usize = 10_000;

/// An operation is one of the 10,000 entries of a directory, which is listed from its beginning to its end. They come
/// in batches, whose sizes differ between the runtimes.
#[derive(Clone, Debug)]
pub struct Directory;

impl Workload for Directory {
    fn name(&self) -> &'static str {
        "files/read_dir"
    }

    fn title(&self) -> &'static str {
        "`read_dir` of 10,000 entries, an entry"
    }

    fn operations(&self) -> u64 {
        ENTRIES as u64
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let directory = Temporary::new();
        for n in 0..ENTRIES {
            fs::File::create(directory.path().join(n.to_string())).expect("a file can be created");
        }
        let path = directory.path().to_owned();
        let driver = async move {
            let start = Instant::now();
            for _ in 0..rounds {
                assert_eq!(R::Handle::count_entries(path.clone()).await?, ENTRIES);
            }
            io::Result::Ok(start.elapsed())
        };
        on_worker(runtime, driver).expect("directories can be read")
    }
}
