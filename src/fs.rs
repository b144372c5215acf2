//! Files and directories, without blocking the thread of the task.
//!
//! - An open [`File`] is read and written with the traits of [`rt::io`](crate::io). **Call
//!   [`flush`](crate::io::AsyncWriteExt::flush) after the last write**: writes are done by another thread.
//! - [`read`], [`read_to_string`], [`write`](write()) and [`copy`] take whole files, by one detour to another thread.
//! - [`read_dir`] lists a directory. The other functions are those of [`std::fs`], by their names.
//!
//! Operating systems have few calls for files that do not block. So these functions run those of the standard library
//! with [`spawn_blocking`](crate::spawn_blocking), and what they may return or fail with is documented there. Where
//! many calls are made for one result, it is faster to make them all in one `spawn_blocking` of one's own.
//!
//! # Errors
//!
//! Beside the errors of the operating system, each function fails if it was not run: because the runtime is shutting
//! down, or because the blocking pool could not start its first thread. If all threads of the pool are busy it waits.
//!
//! # Panics
//!
//! All this needs a runtime, which may be any, and panics when it is polled outside of one.
//!
//! # Example
//!
//! ```
//! use rt::fs;
//!
//! # #[rt::main]
//! # async fn main() -> rt::io::Result<()> {
//! # let directory = std::env::temp_dir().join(format!("rt-doc-fs-{}", std::process::id()));
//! fs::create_dir(&directory).await?;
//! fs::write(directory.join("a.txt"), "hello").await?;
//! let mut entries = fs::read_dir(&directory).await?;
//! while let Some(entry) = entries.next_entry().await? {
//!     assert_eq!(fs::read_to_string(entry.path()).await?, "hello");
//! }
//! fs::remove_dir_all(&directory).await
//! # }
//! ```

#[cfg(unix)]
#[doc(inline)]
pub use runtime_io::fs::symlink;
#[doc(inline)]
pub use runtime_io::fs::{
    DirBuilder, DirEntry, File, FileTimes, OpenOptions, ReadDir, canonicalize, copy, create_dir, create_dir_all,
    hard_link, metadata, read, read_dir, read_link, read_to_string, remove_dir, remove_dir_all, remove_file, rename,
    set_permissions, symlink_metadata, try_exists, write,
};
#[cfg(windows)]
#[doc(inline)]
pub use runtime_io::fs::{symlink_dir, symlink_file};
