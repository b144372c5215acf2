//! [`OpenOptions`].

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use super::asyncify::asyncify;
use super::disk::Disk;

/// How to open a file: for reading, for writing, and whether it may or must be created.
///
/// The options are those of [`std::fs::OpenOptions`], which can be turned into this.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// let file = rt::fs::OpenOptions::new().read(true).write(true).create(true).open("data.bin").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    std: fs::OpenOptions,
}

/// Each sets an option of std's, and returns itself.
macro_rules! options {
    ($($(#[$doc:meta])+ $name:ident: $type:ty;)+) => {
        $(
            $(#[$doc])+
            pub fn $name(&mut self, $name: $type) -> &mut OpenOptions {
                self.std.$name($name);
                self
            }
        )+
    };
}

impl OpenOptions {
    /// Options to open a file with, none of which is set.
    pub fn new() -> OpenOptions {
        OpenOptions { std: fs::OpenOptions::new() }
    }

    options! {
        /// Whether the file can be read.
        read: bool;
        /// Whether the file can be written. Bytes that are there are overwritten; the file is not cut off.
        write: bool;
        /// Whether each write goes to the end of the file, wherever that is by then.
        append: bool;
        /// Whether the file is emptied. It must be open for writing.
        truncate: bool;
        /// Whether the file is created if there is none. It must be open for writing or appending.
        create: bool;
        /// Whether the file is created, and it is an error if there is one. Nobody else can create it in between.
        create_new: bool;
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::OpenOptions::open`]; among others `NotFound`, `PermissionDenied`, `AlreadyExists`,
    /// `InvalidInput` for options that do not go together, and one without a kind for too many open files.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped the file may be opened, or created, and is then closed.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let log = rt::fs::OpenOptions::new().append(true).create(true).open("log.txt").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref().to_owned();
        let options = self.std.clone();
        asyncify(move || options.open(path).map(Disk::new_known)).await.map(File::of)
    }
}

#[cfg(unix)]
impl OpenOptions {
    /// The permissions of the file, if it is created, from which the process's umask is taken away. 0o666 unless set.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// let key = rt::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open("key.pem").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.std, mode);
        self
    }

    /// Flags for the system's `open`, beside those that the other options set.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example(o_nofollow: i32) -> rt::io::Result<()> {
    /// let file = rt::fs::OpenOptions::new().read(true).custom_flags(o_nofollow).open("data.bin").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.std, flags);
        self
    }
}

#[cfg(windows)]
use std::os::windows::fs::OpenOptionsExt as _;

#[cfg(windows)]
impl OpenOptions {
    options! {
        /// The access for which the file is opened, in place of what `read`, `write` and `append` say.
        access_mode: u32;
        /// What others may do with the file meanwhile.
        share_mode: u32;
        /// Flags for the system's `CreateFile2`.
        custom_flags: u32;
        /// The attributes of the file.
        attributes: u32;
        /// What the other side of a named pipe may do in the name of this one.
        security_qos_flags: u32;
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(std: fs::OpenOptions) -> Self {
        Self { std }
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}
