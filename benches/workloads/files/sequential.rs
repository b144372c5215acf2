//! Small reads and writes, one after the other.

use std::io;
use std::time::{Duration, Instant};

use super::Temporary;
use crate::{File, Files, Runtime, Workload, on_worker};

/// A file is read or written by that many calls.
const CALLS: u64 = 1024;

/// An operation is one read, from the beginning of a file to its end. Opening is a thousandth of it.
///
/// smol's file reads up to 8 MiB ahead; rt's and Tokio's read what they are asked for, so that the position of the
/// descriptor is where the reader is. On Linux rt reads without another thread what is in the cache.
#[derive(Clone, Debug)]
pub struct SequentialReads {
    length: usize,
}

impl SequentialReads {
    /// 64 bytes each.
    pub const TINY: Self = Self { length: 64 };
    /// 4 KiB each.
    pub const PAGES: Self = Self { length: 4096 };
}

impl Workload for SequentialReads {
    fn name(&self) -> &'static str {
        if self.length == 64 { "files/read_64" } else { "files/read_4096" }
    }

    fn title(&self) -> &'static str {
        if self.length == 64 { "read of 64 bytes, in sequence" } else { "read of 4 KiB, in sequence" }
    }

    fn operations(&self) -> u64 {
        CALLS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let length = self.length;
        let directory = Temporary::new();
        let path = directory.file("read", length * CALLS as usize);
        let driver = async move {
            let mut buffer = vec![0; length];
            let start = Instant::now();
            for _ in 0..rounds {
                let mut file = R::Handle::open(path.clone()).await?;
                for _ in 0..CALLS {
                    assert_eq!(file.read(&mut buffer).await?, length);
                }
            }
            io::Result::Ok(start.elapsed())
        };
        on_worker(runtime, driver).expect("files can be read")
    }
}

/// An operation is one write to a file that was empty, flushed at its end. Opening and flushing are a thousandth of it.
///
/// Each of them is a system call: of smol's only when its buffer of 8 MiB is full, or flushed.
#[derive(Clone, Debug)]
pub struct SequentialWrites {
    length: usize,
}

impl SequentialWrites {
    /// 64 bytes each.
    pub const TINY: Self = Self { length: 64 };
    /// 4 KiB each.
    pub const PAGES: Self = Self { length: 4096 };
}

impl Workload for SequentialWrites {
    fn name(&self) -> &'static str {
        if self.length == 64 { "files/write_64" } else { "files/write_4096" }
    }

    fn title(&self) -> &'static str {
        if self.length == 64 { "write of 64 bytes, in sequence" } else { "write of 4 KiB, in sequence" }
    }

    fn operations(&self) -> u64 {
        CALLS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let length = self.length;
        let directory = Temporary::new();
        let path = directory.path().join("written");
        let driver = async move {
            let bytes = vec![b'x'; length];
            let start = Instant::now();
            for _ in 0..rounds {
                let mut file = R::Handle::create(path.clone()).await?;
                for _ in 0..CALLS {
                    file.write_all(&bytes).await?;
                }
                file.flush().await?;
            }
            io::Result::Ok(start.elapsed())
        };
        on_worker(runtime, driver).expect("files can be written")
    }
}
