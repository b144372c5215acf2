//! [`Disk`]: a file of the operating system as a [`Device`].

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use super::cached;
use crate::background::{AtOnce, Device, Job};
use crate::io::ReadBuf;

/// A read of at most this many bytes is tried on the thread that polls. To copy so much takes about as long as to hand
/// an operation to another thread and back.
const AT_ONCE: usize = 64 * 1024;

/// What is known about the file. It may be asked for any number of times, so the accesses are relaxed.
const UNKNOWN: u8 = 0;
/// A regular file, read through the kernel's cache: what is in there can be read without waiting.
const CACHED: u8 = 1;
/// The same, but the kernel cannot read it without waiting. It can be moved in, still.
const REGULAR: u8 = 2;
/// Anything else.
const OTHER: u8 = 3;

/// A file. Blocking calls are made on the blocking pool.
#[derive(Debug)]
pub(super) struct Disk {
    std: fs::File,
    kind: AtomicU8,
}

impl Disk {
    /// Nothing is asked of the operating system, so this may be called anywhere.
    pub(super) fn new(std: fs::File) -> Self {
        Self { std, kind: AtomicU8::new(UNKNOWN) }
    }

    /// Also asks what file this is, which may block.
    pub(super) fn new_known(std: fs::File) -> Self {
        let disk = Self::new(std);
        disk.learn();
        disk
    }

    pub(super) fn std(&self) -> &fs::File {
        &self.std
    }

    pub(super) fn into_std(self) -> fs::File {
        self.std
    }

    fn learn(&self) {
        if self.kind.load(Relaxed) == UNKNOWN {
            let is_regular = self.std.metadata().is_ok_and(|metadata| metadata.is_file());
            let kind = match is_regular {
                true if cached::is_possible(&self.std) => CACHED,
                true => REGULAR,
                false => OTHER,
            };
            self.kind.store(kind, Relaxed);
        }
    }

    /// A call that moves the position waits for another that does, if descriptors share it. So nothing is done at once
    /// with a file that has a clone.
    pub(super) fn note_shared(&self) {
        self.kind.store(OTHER, Relaxed);
    }
}

impl Device for Disk {
    fn start(job: Job<Self>) {
        // The handles are dropped: a poll that waits does so in the job's state.
        if job.is_mandatory() {
            drop(runtime_core::spawn_mandatory_blocking(move || job.run()));
        } else {
            drop(runtime_core::spawn_blocking(move || job.run()));
        }
    }

    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.learn();
        (&self.std).read(into)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.std).write_all(bytes)
    }

    fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        self.learn();
        (&self.std).seek(to)
    }

    fn read_at_once(&self, into: &mut ReadBuf<'_>, limit: usize) -> AtOnce {
        if limit > AT_ONCE || self.kind.load(Relaxed) != CACHED {
            return AtOnce::Blocks;
        }
        // A regular file gives all that was asked for, up to its end: programs rely on it. What the cache gives may be
        // less, so it is asked again.
        let end = into.filled().len() + limit;
        while into.filled().len() < end {
            let missing = end - into.filled().len();
            match cached::read(&self.std, into, missing) {
                // Linux 5.9 and 5.10 say this also where the next page is not in the cache. The read that blocks knows.
                Ok(0) if missing == limit => return AtOnce::Blocks,
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return AtOnce::Blocks,
                Err(_) => {
                    // Not possible with this file system or kernel; or an error, which the read that blocks will tell.
                    self.kind.store(REGULAR, Relaxed);
                    return AtOnce::Blocks;
                }
            }
        }
        AtOnce::Done
    }

    fn seeks_at_once(&self, to: SeekFrom) -> bool {
        // The length of a file may have to be asked for over a network; where its position is, is known.
        let needs_length = matches!(to, SeekFrom::End(_));
        !needs_length && matches!(self.kind.load(Relaxed), CACHED | REGULAR)
    }
}
