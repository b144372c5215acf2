//! Files that are in the cache of the operating system, on the file system of the directory for temporary files.
//!
//! So these measure what a runtime adds to the system calls, and not the disk.

mod directory;
mod many;
mod sequential;
mod whole;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{env, fs, process};

pub use self::directory::Directory;
pub use self::many::ManyFiles;
pub use self::sequential::{SequentialReads, SequentialWrites};
pub use self::whole::WholeFile;

/// A directory for the time of a run.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rt-bench-files-{}-{}", process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir(&path).expect("a directory can be created");
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it, of that many bytes.
    fn file(&self, name: &str, length: usize) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, vec![b'x'; length]).expect("a file can be written");
        path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
