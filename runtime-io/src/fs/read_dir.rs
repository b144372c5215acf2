//! [`read_dir`]: the entries of a directory, in batches.
//!
//! A batch is fetched by one job of the blocking pool.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::future::{Future as _, poll_fn};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime_core::JoinHandle;
use runtime_core::coop;

use super::asyncify::asyncify;
use crate::background::not_run;

/// The most entries that a job fetches: a few for each microsecond that it takes to hand a job over and back, and about
/// half of what the system library fetches by one system call.
const BATCH: usize = 512;

/// The entries of a directory, but for `.` and `..`, in no particular order.
///
/// # Errors
///
/// Those of [`std::fs::read_dir`].
///
/// # Cancel safety
///
/// Cancel safe.
///
/// # Example
///
/// ```
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut entries = rt::fs::read_dir(".").await?;
/// while let Some(entry) = entries.next_entry().await? {
///     println!("{}", entry.path().display());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let fetched = asyncify(move || Ok(fetch(fs::read_dir(path)?, VecDeque::new()))).await?;
    Ok(ReadDir { entries: fetched.entries, more: More::of(fetched.rest) })
}

/// Reads the entries of a directory. [`read_dir`] makes it.
///
/// What is added to the directory, or removed, after that may or may not be seen.
#[derive(Debug)]
#[must_use = "a directory is read only when its entries are asked for"]
pub struct ReadDir {
    entries: VecDeque<io::Result<DirEntry>>,
    more: More,
}

/// What there is behind the entries that have been fetched.
#[derive(Debug)]
enum More {
    Nothing,
    /// To be fetched.
    Rest(fs::ReadDir),
    /// On its way.
    Coming(JoinHandle<Fetched>),
}

impl More {
    fn of(rest: Option<fs::ReadDir>) -> Self {
        rest.map_or(Self::Nothing, Self::Rest)
    }
}

#[derive(Debug)]
struct Fetched {
    entries: VecDeque<io::Result<DirEntry>>,
    /// The part of the directory that has not been read, unless this is the end.
    rest: Option<fs::ReadDir>,
}

/// Fetches a batch, into memory of the batch before. May block.
fn fetch(mut rest: fs::ReadDir, mut entries: VecDeque<io::Result<DirEntry>>) -> Fetched {
    while entries.len() < BATCH {
        match rest.next() {
            None => return Fetched { entries, rest: None },
            Some(Ok(std)) => entries.push_back(Ok(DirEntry::new(std))),
            // For its reader to see before anything else is tried.
            Some(Err(error)) => {
                entries.push_back(Err(error));
                break;
            }
        }
    }
    Fetched { entries, rest: Some(rest) }
}

impl ReadDir {
    /// The next entry, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of the operating system. One may ask for the next entry after that.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no entry is lost.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let mut entries = rt::fs::read_dir(".").await?;
    /// let first = entries.next_entry().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`next_entry`](Self::next_entry), for those who poll. `Pending` means that the task is woken when the next
    /// entry is there; of the wakers of several polls that of the last one counts.
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            if !self.entries.is_empty() {
                ready!(coop::poll_proceed(cx)).made_progress();
                return Poll::Ready(self.entries.pop_front().transpose());
            }
            self.more = match std::mem::replace(&mut self.more, More::Nothing) {
                More::Nothing => return Poll::Ready(Ok(None)),
                More::Rest(rest) => {
                    let memory = std::mem::take(&mut self.entries);
                    More::Coming(runtime_core::spawn_blocking(move || fetch(rest, memory)))
                }
                More::Coming(mut job) => {
                    let Poll::Ready(fetched) = Pin::new(&mut job).poll(cx) else {
                        self.more = More::Coming(job);
                        return Poll::Pending;
                    };
                    let Ok(fetched) = fetched else { return Poll::Ready(Err(not_run())) };
                    self.entries = fetched.entries;
                    More::of(fetched.rest)
                }
            };
        }
    }
}

/// An entry of a directory.
#[derive(Debug)]
pub struct DirEntry {
    /// As far as the directory itself says.
    file_type: Option<FileType>,
    std: Arc<fs::DirEntry>,
}

/// Whether std knows the type of an entry without another call of the system.
const HAS_TYPE: bool = !cfg!(any(
    target_os = "solaris",
    target_os = "illumos",
    target_os = "haiku",
    target_os = "vxworks",
    target_os = "aix",
    target_os = "nto",
    target_os = "vita",
));

impl DirEntry {
    fn new(std: fs::DirEntry) -> Self {
        let file_type = if HAS_TYPE { std.file_type().ok() } else { None };
        Self { file_type, std: Arc::new(std) }
    }

    /// The path of what the entry names: that which [`read_dir`] was given, joined with the name.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(entry: rt::fs::DirEntry) -> rt::io::Result<()> {
    /// let text = rt::fs::read_to_string(entry.path()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// The name alone.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// What the file system knows about what the entry names: about a symbolic link itself, if it is one.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::DirEntry::metadata`]: `NotFound`, say, if it has been removed meanwhile.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(entry: rt::fs::DirEntry) -> rt::io::Result<()> {
    /// println!("{} bytes", entry.metadata().await?.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let std = Arc::clone(&self.std);
        asyncify(move || std.metadata()).await
    }

    /// Whether it is a file, a directory, or something else; a symbolic link is one. On most systems this is known from
    /// the directory, and costs nothing.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::DirEntry::file_type`], where it is not known.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(entry: rt::fs::DirEntry) -> rt::io::Result<()> {
    /// let is_directory = entry.file_type().await?.is_dir();
    /// # Ok(())
    /// # }
    /// ```
    pub async fn file_type(&self) -> io::Result<FileType> {
        if let Some(file_type) = self.file_type {
            return Ok(file_type);
        }
        let std = Arc::clone(&self.std);
        asyncify(move || std.file_type()).await
    }

    /// The number of the file in its file system.
    #[cfg(unix)]
    pub fn ino(&self) -> u64 {
        std::os::unix::fs::DirEntryExt::ino(&*self.std)
    }
}
