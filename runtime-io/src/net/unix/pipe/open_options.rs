//! Opening a pipe that has a name.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use runtime_core::os::descriptor::OPEN_NONBLOCKING;

use super::{Receiver, Sender, require_pipe};

/// How to open an end of a pipe that has a name in the file system (a FIFO, made by `mkfifo`).
///
/// # Example
///
/// ```no_run
/// use rt::net::unix::pipe;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let receiver = pipe::OpenOptions::new().open_receiver("path/to/a/fifo")?;
/// // There is somebody who reads now, so this does not fail.
/// let sender = pipe::OpenOptions::new().open_sender("path/to/a/fifo")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// Opens one direction only, and only what is a pipe.
    pub fn new() -> OpenOptions {
        Self::default()
    }

    /// Whether to open the pipe for both directions (no), although only one is used. Linux only.
    ///
    /// Then a sender can be opened that nobody reads from yet, and a receiver does not find the end when the last
    /// sender goes.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Whether to open what is there without checking that it is a pipe (no). If it is a file of another kind, it may
    /// not work as a pipe does.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the reading end. There need not be anybody who writes.
    ///
    /// # Errors
    ///
    /// The operating system's; [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no pipe.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let file = self.open(path.as_ref(), fs::OpenOptions::new().read(true))?;
        Receiver::from_file_unchecked(file)
    }

    /// Opens the writing end.
    ///
    /// # Errors
    ///
    /// The operating system's: on Linux, number `ENXIO` if nobody has the reading end open;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is no pipe.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        let file = self.open(path.as_ref(), fs::OpenOptions::new().write(true))?;
        Sender::from_file_unchecked(file)
    }

    fn open(&self, path: &Path, options: &mut fs::OpenOptions) -> io::Result<File> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.read_write {
            options.read(true).write(true);
        }
        let file = options.custom_flags(OPEN_NONBLOCKING).open(path)?;
        if self.unchecked { Ok(file) } else { require_pipe(file) }
    }
}
