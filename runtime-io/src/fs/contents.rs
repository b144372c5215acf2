//! Whole files, by one job of the blocking pool each.

use std::fs;
use std::io;
use std::path::Path;

use super::asyncify::asyncify;

/// All bytes of a file.
///
/// # Errors
///
/// Those of [`std::fs::read`]: `NotFound` and `IsADirectory`, among others.
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let bytes = rt::fs::read("data.bin").await?;
/// # Ok(())
/// # }
/// ```
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::read(path)).await
}

/// The text in a file, which must be UTF-8.
///
/// # Errors
///
/// Those of [`std::fs::read_to_string`]: `InvalidData` if it is no UTF-8, among others.
///
/// # Cancel safety
///
/// Cancel safe: the call may be made in the background, and nobody sees what it says.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let text = rt::fs::read_to_string("notes.txt").await?;
/// # Ok(())
/// # }
/// ```
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref().to_owned();
    asyncify(move || fs::read_to_string(path)).await
}

/// Copies the contents and the permissions of a file, over the file `to` if there is one. Returns how many bytes there
/// were. The kernel copies them itself where it can.
///
/// # Errors
///
/// Those of [`std::fs::copy`].
///
/// # Cancel safety
///
/// If the future is dropped, nothing or everything may be copied: once begun, it goes on in the background.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let length = rt::fs::copy("a.txt", "b.txt").await?;
/// # Ok(())
/// # }
/// ```
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let from = from.as_ref().to_owned();
    let to = to.as_ref().to_owned();
    asyncify(move || fs::copy(from, to)).await
}

/// Makes the bytes the contents of a file, which is created if there is none, and emptied first if there is one.
///
/// The bytes are copied once, because another thread writes them.
///
/// # Errors
///
/// Those of [`std::fs::write`]. The file may have a part of the bytes then.
///
/// # Cancel safety
///
/// If the future is dropped, nothing or everything may be written: once begun, it goes on in the background.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::write("notes.txt", "hello").await?;
/// # Ok(())
/// # }
/// ```
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    let contents = contents.as_ref().to_owned();
    asyncify(move || fs::write(path, contents)).await
}
