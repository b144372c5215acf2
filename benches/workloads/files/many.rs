//! Many files at once.

use std::io;
use std::time::{Duration, Instant};

use super::Temporary;
use crate::{File, Files, Handle, Runtime, Workload, on_worker};

const FILES: usize = 1000;
const LENGTH: usize = 4096;

/// An operation is a file of 4 KiB that a task of its own opens, reads to the end and closes; a thousand at once.
#[derive(Clone, Debug)]
pub struct ManyFiles;

impl Workload for ManyFiles {
    fn name(&self) -> &'static str {
        "files/thousand_at_once"
    }

    fn title(&self) -> &'static str {
        "open, read and close 1,000 files at once, a file"
    }

    fn operations(&self) -> u64 {
        FILES as u64
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        let directory = Temporary::new();
        let paths: Vec<_> = (0..FILES).map(|n| directory.file(&n.to_string(), LENGTH)).collect();
        let driver = async move {
            let start = Instant::now();
            for _ in 0..rounds {
                let tasks: Vec<_> = paths
                    .iter()
                    .map(|path| {
                        let path = path.clone();
                        handle.spawn(async move {
                            let mut file = R::Handle::open(path).await?;
                            let mut buffer = [0; LENGTH];
                            assert_eq!(file.read(&mut buffer).await?, LENGTH);
                            assert_eq!(file.read(&mut buffer).await?, 0);
                            io::Result::Ok(())
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await?;
                }
            }
            io::Result::Ok(start.elapsed())
        };
        on_worker(runtime, driver).expect("files can be read")
    }
}
