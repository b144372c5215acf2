//! [`File`]: an open file, and what is done with it as a whole. (`file_io.rs` reads and writes.)

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::asyncify::asyncify;
use super::disk::Disk;
use super::{FileTimes, OpenOptions};
use crate::background::{Background, DEFAULT_MAX_BUF_SIZE};

/// An open file.
///
/// It is read, written and moved in with the traits [`AsyncRead`](crate::io::AsyncRead),
/// [`AsyncWrite`](crate::io::AsyncWrite) and [`AsyncSeek`](crate::io::AsyncSeek), and the methods of their extension
/// traits. Operating systems have few calls for files that do not block, so what may block is done on the blocking
/// pool; what the system has in memory is, on Linux, read without that detour.
///
/// # Writing takes a flush
///
/// A write copies the bytes, has another thread write them, and is done. So
///
/// - **call [`flush`](crate::io::AsyncWriteExt::flush) after the last write**: it waits until all bytes have been
///   handed to the operating system. A file that is dropped without it is written to the end all the same, also if the
///   runtime shuts down first; but nobody knows when, or whether it succeeded;
/// - an error of a write is reported by a later write, by `flush` or `shutdown`, or by [`sync_all`](Self::sync_all) or
///   [`sync_data`](Self::sync_data): by the first of them after the failure. What was written after the bytes that
///   failed is not in the file then;
/// - each write is one call of the operating system, unless it is longer than [`max_buf_size`](Self::max_buf_size), or
///   the system takes only a part of it.
///
/// That the bytes survive a crash of the machine takes [`sync_all`](Self::sync_all).
///
/// # Cancel safety
///
/// | operation | if its future is dropped |
/// | --- | --- |
/// | `read`, `read_buf` | loses nothing: bytes that were read for it are there for the next read |
/// | `write`, `write_vectored` | cancel safe: either nothing was written, or the future was done |
/// | `flush`, `shutdown` | cancel safe; an error that was not reported is kept for the next call |
/// | `seek`, `rewind`, `stream_position` | the file may or may not move; what comes after waits until that is decided |
/// | [`set_len`](Self::set_len) | done, or not, in the background; reads, writes and seeks after it wait for it |
/// | [`set_times`](Self::set_times), [`set_permissions`](Self::set_permissions) | done, or not, in the background |
/// | [`sync_all`](Self::sync_all), [`sync_data`](Self::sync_data) | cancel safe: nobody sees the result |
/// | [`metadata`](Self::metadata), [`try_clone`](Self::try_clone) | cancel safe: nobody sees the result |
/// | [`open`](Self::open), [`create`](Self::create) | the file may be opened, or created, and is then closed |
/// | [`into_std`](Self::into_std) | the file is closed after what goes on |
/// | `read_exact`, `read_to_end`, `write_all` ... | not cancel safe: some of the bytes may have been moved |
///
/// # The position
///
/// Nothing is read ahead, so the position in the file is where its reader is; only a read that was dropped may have
/// moved it, and a write, a seek, [`set_len`](Self::set_len), [`try_clone`](Self::try_clone) and
/// [`into_std`](Self::into_std) then move it back first. Descriptors that share the position with this file, as clones
/// do, should not be used at the same time. While another thread reads through a descriptor that was cloned before it
/// became a [`File`], a small read or a seek may wait for it, and with it the thread of the task.
///
/// # Example
///
/// ```
/// use rt::fs::File;
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// # let directory = std::env::temp_dir();
/// # let path = directory.join(format!("rt-doc-file-{}", std::process::id()));
/// let mut file = File::create(&path).await?;
/// file.write_all(b"hello").await?;
/// file.flush().await?;
///
/// let mut text = String::new();
/// File::open(&path).await?.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # rt::fs::remove_file(&path).await
/// # }
/// ```
pub struct File {
    pub(super) background: Background<Disk>,
    pub(super) max_buf_size: usize,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::open`]: `NotFound` and `PermissionDenied`, among others.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let file = rt::fs::File::open("data.bin").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        Self::options().read(true).open(path).await
    }

    /// Opens a file for writing. It is created if there is none, and emptied if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::create`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let file = rt::fs::File::create("data.bin").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        Self::options().write(true).create(true).truncate(true).open(path).await
    }

    /// Creates a file that does not exist, for reading and writing.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if there is one, which nobody else can create in between; and those of
    /// [`std::fs::File::create_new`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let file = rt::fs::File::create_new("data.bin").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        Self::options().read(true).write(true).create_new(true).open(path).await
    }

    /// How else to open a file.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let log = rt::fs::File::options().append(true).create(true).open("log.txt").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Makes one of a file of the standard library. It may be anything that has a descriptor: a terminal, say.
    ///
    /// # Example
    ///
    /// ```no_run
    /// let file = rt::fs::File::from_std(std::fs::File::open("data.bin").unwrap());
    /// ```
    pub fn from_std(std: fs::File) -> File {
        Self::of(Disk::new(std))
    }

    pub(super) fn of(disk: Disk) -> File {
        File { background: Background::new(disk), max_buf_size: DEFAULT_MAX_BUF_SIZE }
    }

    /// Waits until all that was written is on the disk, with what the file system knows about the file.
    ///
    /// # Errors
    ///
    /// That of a write before, if it has not been reported yet; the file has not been synced then. Else those of
    /// [`std::fs::File::sync_all`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// use rt::io::AsyncWriteExt;
    ///
    /// # async fn example() -> rt::io::Result<()> {
    /// let mut file = rt::fs::File::create("data.bin").await?;
    /// file.write_all(b"to be kept").await?;
    /// file.sync_all().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn sync_all(&self) -> io::Result<()> {
        let hold = self.background.written().await?;
        asyncify(move || hold.device().std().sync_all()).await
    }

    /// As [`sync_all`](Self::sync_all), but not everything that the file system knows about the file is synced: only
    /// what it takes to read the bytes back.
    ///
    /// # Errors
    ///
    /// As [`sync_all`](Self::sync_all).
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// file.sync_data().await
    /// # }
    /// ```
    pub async fn sync_data(&self) -> io::Result<()> {
        let hold = self.background.written().await?;
        asyncify(move || hold.device().std().sync_data()).await
    }

    /// Cuts the file off at `size` bytes, or extends it with zeros. Waits for the writes before. The position stays.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::set_len`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// file.set_len(1024).await
    /// # }
    /// ```
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        let turn = self.background.turn().await;
        asyncify(move || turn.seek_back().and_then(|()| turn.device().std().set_len(size))).await
    }

    /// What the file system knows about the file. Does not wait for writes: flush before, for the length.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::metadata`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// println!("{} bytes", file.metadata().await?.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let hold = self.background.hold();
        asyncify(move || hold.device().std().metadata()).await
    }

    /// Another descriptor of the same open file, which shares its position. Waits for what goes on.
    ///
    /// Small reads of a file that has a clone take the detour over the blocking pool.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::try_clone`]: too many open files, say.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// let clone = file.try_clone().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn try_clone(&self) -> io::Result<File> {
        let turn = self.background.turn().await;
        let std = asyncify(move || {
            turn.seek_back()?;
            let clone = turn.device().std().try_clone()?;
            turn.device().note_shared();
            Ok(clone)
        })
        .await?;
        let disk = Disk::new(std);
        disk.note_shared();
        Ok(File { max_buf_size: self.max_buf_size, ..File::of(disk) })
    }

    /// The file of the standard library. Waits for what goes on; the error of a write that has not been reported is
    /// lost.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) {
    /// let std = file.into_std().await;
    /// # }
    /// ```
    pub async fn into_std(mut self) -> fs::File {
        loop {
            self.background.unused().await;
            self = match self.try_into_std() {
                Ok(std) => return std,
                // Since nobody else can begin anything this does not happen, and would not be for long.
                Err(file) => file,
            };
        }
    }

    /// The file of the standard library, at once.
    ///
    /// # Errors
    ///
    /// The file itself, if something goes on: a write that has not been flushed, say.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let file = rt::fs::File::open("data.bin").await?;
    /// let std = file.try_into_std().expect("nothing has been done with it");
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::result_large_err)]
    pub fn try_into_std(self) -> Result<fs::File, Self> {
        let Self { background, max_buf_size } = self;
        match background.try_into_device() {
            Ok(disk) => Ok(disk.into_std()),
            Err(background) => Err(Self { background, max_buf_size }),
        }
    }

    /// Changes who may do what with the file.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::set_permissions`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// let mut permissions = file.metadata().await?.permissions();
    /// permissions.set_readonly(true);
    /// file.set_permissions(permissions).await
    /// # }
    /// ```
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        let hold = self.background.hold();
        asyncify(move || hold.device().std().set_permissions(perm)).await
    }

    /// Sets when the file was read and changed last. Waits for what goes on, which would set them again.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::File::set_times`].
    ///
    /// # Example
    ///
    /// ```no_run
    /// use std::time::SystemTime;
    ///
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// let times = rt::fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
    /// file.set_times(times).await
    /// # }
    /// ```
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let turn = self.background.turn().await;
        asyncify(move || turn.device().std().set_times(times.into_std())).await
    }

    /// Sets when the file was changed last. See [`set_times`](Self::set_times).
    ///
    /// # Errors
    ///
    /// As [`set_times`](Self::set_times).
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(file: rt::fs::File) -> rt::io::Result<()> {
    /// file.set_modified(std::time::SystemTime::now()).await
    /// # }
    /// ```
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Sets how many bytes a read or a write moves at most; 2 MiB if this is not called. It is also about how much
    /// memory the writes that wait for another thread may take, and a read that does.
    ///
    /// # Panics
    ///
    /// If it is 0.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(mut file: rt::fs::File) {
    /// file.set_max_buf_size(64 * 1024);
    /// assert_eq!(file.max_buf_size(), 64 * 1024);
    /// # }
    /// ```
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.max_buf_size = max_buf_size;
    }

    /// How many bytes a read or a write moves at most. See [`set_max_buf_size`](Self::set_max_buf_size).
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }
}

impl From<fs::File> for File {
    fn from(std: fs::File) -> Self {
        Self::from_std(std)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("rt::fs::File").field("std", self.background.device().std()).finish()
    }
}
