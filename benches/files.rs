//! What the workloads need of a runtime's files. Implemented for each of them in `runtimes/files.rs`.

use std::future::Future;
use std::io;
use std::path::PathBuf;

/// The files of a runtime, as a task sees them.
pub trait Files {
    /// An open file.
    type File: File;

    /// Opens a file for reading.
    fn open(path: PathBuf) -> impl Future<Output = io::Result<Self::File>> + Send;

    /// Creates a file for writing, or empties it.
    fn create(path: PathBuf) -> impl Future<Output = io::Result<Self::File>> + Send;

    /// Reads all of a file.
    fn read_whole(path: PathBuf) -> impl Future<Output = io::Result<Vec<u8>>> + Send;

    /// Looks at the name of each entry of a directory, and counts them.
    fn count_entries(path: PathBuf) -> impl Future<Output = io::Result<usize>> + Send;
}

/// An open file. The methods are the runtime's own, or those of the crate its users take them from.
pub trait File: Send + 'static {
    /// Reads what one read gives.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Writes all of the buffer.
    fn write_all(&mut self, buffer: &[u8]) -> impl Future<Output = io::Result<()>> + Send;

    /// Waits until the operating system has what was written.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}
