//! A directory of a test's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

static MADE: AtomicUsize = AtomicUsize::new(0);

/// An empty directory that no other test has. It is removed, with all that is in it, when this value is dropped.
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    pub fn new() -> Self {
        // A short name: what is bound in it must fit into the address of a socket.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("eco-{}-{number}", std::process::id()));
        // A process that had the same number may have been killed before it removed its own.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Directory { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Default for Directory {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
