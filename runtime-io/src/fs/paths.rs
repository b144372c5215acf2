//! What is done with paths: one blocking call each, on the blocking pool.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use super::asyncify::asyncify;

/// The absolute path of what a path leads to, without symbolic links and without `.` and `..`.
///
/// # Errors
///
/// Those of [`std::fs::canonicalize`].
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let path = rt::fs::canonicalize("../data").await?;
/// # Ok(())
/// # }
/// ```
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::canonicalize(path)).await
}

/// Creates a directory, whose parent exists. ([`create_dir_all`] creates that, too.)
///
/// # Errors
///
/// Those of [`std::fs::create_dir`]: `AlreadyExists` and `NotFound`, among others.
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::create_dir("new").await?;
/// # Ok(())
/// # }
/// ```
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::create_dir(path)).await
}

/// Creates a directory and those of its parents that are missing. It is no error if it exists.
///
/// # Errors
///
/// Those of [`std::fs::create_dir_all`]. Parents that were created stay.
///
/// # Cancel safety
///
/// If the future is dropped, none, some or all of the directories may be created.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::create_dir_all("a/b/c").await?;
/// # Ok(())
/// # }
/// ```
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::create_dir_all(path)).await
}

/// Gives a file a further name.
///
/// # Errors
///
/// Those of [`std::fs::hard_link`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::hard_link("a.txt", "b.txt").await?;
/// # Ok(())
/// # }
/// ```
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let original = original.as_ref().to_owned();
    let link = link.as_ref().to_owned();
    asyncify(move || fs::hard_link(original, link)).await
}

/// What the file system knows about what a path leads to, through symbolic links.
///
/// # Errors
///
/// Those of [`std::fs::metadata`].
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let length = rt::fs::metadata("data.bin").await?.len();
/// # Ok(())
/// # }
/// ```
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::metadata(path)).await
}

/// Where a symbolic link leads.
///
/// # Errors
///
/// Those of [`std::fs::read_link`]: `InvalidInput` if it is none, among others.
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let path = rt::fs::read_link("current").await?;
/// # Ok(())
/// # }
/// ```
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::read_link(path)).await
}

/// Removes an empty directory.
///
/// # Errors
///
/// Those of [`std::fs::remove_dir`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::remove_dir("empty").await?;
/// # Ok(())
/// # }
/// ```
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::remove_dir(path)).await
}

/// Removes a directory with everything in it. Symbolic links are removed, and not followed.
///
/// # Errors
///
/// Those of [`std::fs::remove_dir_all`]. A part may have been removed by then.
///
/// # Cancel safety
///
/// If the future is dropped, nothing or everything may be removed: once begun, it goes on in the background.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::remove_dir_all("target").await?;
/// # Ok(())
/// # }
/// ```
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::remove_dir_all(path)).await
}

/// Removes a file, or rather its name: the file stays as long as it is open, or has another.
///
/// # Errors
///
/// Those of [`std::fs::remove_file`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::remove_file("old.txt").await?;
/// # Ok(())
/// # }
/// ```
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::remove_file(path)).await
}

/// Gives a file or directory another path on the same file system, and replaces what had it, at once: a program that
/// opens `to` finds the one or the other.
///
/// # Errors
///
/// Those of [`std::fs::rename`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::rename("config.new", "config").await?;
/// # Ok(())
/// # }
/// ```
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let from = from.as_ref().to_owned();
    let to = to.as_ref().to_owned();
    asyncify(move || fs::rename(from, to)).await
}

/// Changes who may do what with a file or directory.
///
/// # Errors
///
/// Those of [`std::fs::set_permissions`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let mut permissions = rt::fs::metadata("data.bin").await?.permissions();
/// permissions.set_readonly(true);
/// rt::fs::set_permissions("data.bin", permissions).await?;
/// # Ok(())
/// # }
/// ```
pub async fn set_permissions(path: impl AsRef<Path>, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::set_permissions(path, perm)).await
}

/// Creates a symbolic link that leads to `original`, whether or not there is anything.
///
/// # Errors
///
/// Those of [`std::os::unix::fs::symlink`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::symlink("releases/7", "current").await?;
/// # Ok(())
/// # }
/// ```
#[cfg(unix)]
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let original = original.as_ref().to_owned();
    let link = link.as_ref().to_owned();
    asyncify(move || std::os::unix::fs::symlink(original, link)).await
}

/// Creates a symbolic link to a directory.
///
/// # Errors
///
/// Those of [`std::os::windows::fs::symlink_dir`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::symlink_dir("original", "link").await?;
/// # Ok(())
/// # }
/// ```
#[cfg(windows)]
pub async fn symlink_dir(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let original = original.as_ref().to_owned();
    let link = link.as_ref().to_owned();
    asyncify(move || std::os::windows::fs::symlink_dir(original, link)).await
}

/// Creates a symbolic link to a file.
///
/// # Errors
///
/// Those of [`std::os::windows::fs::symlink_file`].
///
/// # Cancel safety
///
/// If the future is dropped, this may or may not be done.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::symlink_file("original", "link").await?;
/// # Ok(())
/// # }
/// ```
#[cfg(windows)]
pub async fn symlink_file(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let original = original.as_ref().to_owned();
    let link = link.as_ref().to_owned();
    asyncify(move || std::os::windows::fs::symlink_file(original, link)).await
}

/// What the file system knows about what a path names: about a symbolic link itself, if it is one.
///
/// # Errors
///
/// Those of [`std::fs::symlink_metadata`].
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let is_link = rt::fs::symlink_metadata("current").await?.is_symlink();
/// # Ok(())
/// # }
/// ```
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::symlink_metadata(path)).await
}

/// Whether a path leads to anything. What others do in between may make the answer false at once.
///
/// # Errors
///
/// Those of [`std::path::Path::try_exists`]: if it cannot be told, because a directory may not be searched, say.
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let exists = rt::fs::try_exists("data.bin").await?;
/// # Ok(())
/// # }
/// ```
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref().to_owned();
    asyncify(move || path.try_exists()).await
}
