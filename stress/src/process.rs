//! The threads and descriptors of the process, which must be back to where they were when a runtime is gone.

use std::fs::{self, DirEntry};

/// How many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) threads: usize,
    /// Sockets, pollers and the like. Not files and pipes: those are not rt's, but a sanitizer's.
    pub(crate) descriptors: usize,
}

impl Census {
    /// Counts them. Where the system does not tell, there are none.
    pub(crate) fn take() -> Self {
        let count = |path, counts: fn(&DirEntry) -> bool| {
            fs::read_dir(path).map_or(0, |entries| entries.flatten().filter(counts).count())
        };
        Self { threads: count("/proc/self/task", |_| true), descriptors: count("/proc/self/fd", is_for_io) }
    }
}

fn is_for_io(descriptor: &DirEntry) -> bool {
    let Ok(target) = fs::read_link(descriptor.path()) else { return false };
    ["socket:", "anon_inode:"].iter().any(|kind| target.to_string_lossy().starts_with(kind))
}
