//! Files and directories, without blocking the thread of the task.
//!
//! The facade publishes this as `rt::fs`. Names, signatures and meanings are Tokio's.
//!
//! Operating systems have few calls for files that do not block. So these are calls of the standard library on the
//! blocking pool (`asyncify.rs`), and an open [`File`] is a device of `background`, which keeps what is read and
//! written while a thread is about it. `disk.rs` says what of that needs no other thread. This module must never block
//! the thread that polls.

mod asyncify;
mod cached;
mod contents;
mod dir_builder;
mod disk;
mod file;
mod file_io;
mod file_times;
mod open_options;
mod paths;
mod read_dir;

pub use self::contents::{copy, read, read_to_string, write};
pub use self::dir_builder::DirBuilder;
pub use self::file::File;
pub use self::file_times::FileTimes;
pub use self::open_options::OpenOptions;
#[cfg(unix)]
pub use self::paths::symlink;
pub use self::paths::{
    canonicalize, create_dir, create_dir_all, hard_link, metadata, read_link, remove_dir, remove_dir_all, remove_file,
    rename, set_permissions, symlink_metadata, try_exists,
};
#[cfg(windows)]
pub use self::paths::{symlink_dir, symlink_file};
pub use self::read_dir::{DirEntry, ReadDir, read_dir};
