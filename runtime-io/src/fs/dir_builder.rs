//! [`DirBuilder`].

use std::fs;
use std::io;
use std::path::Path;

use super::asyncify::asyncify;

/// How to create a directory.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> rt::io::Result<()> {
/// rt::fs::DirBuilder::new().recursive(true).create("a/b/c").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    #[cfg(unix)]
    mode: Option<u32>,
}

impl DirBuilder {
    /// One directory, whose parent exists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether missing parents are created as well. It is no error then if the directory exists.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// The permissions of the directory, from which the process's umask is taken away. 0o777 unless set.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// rt::fs::DirBuilder::new().mode(0o700).create("private").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Creates the directory.
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::DirBuilder::create`]. Parents that were created stay.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the directory may or may not be created.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # async fn example() -> rt::io::Result<()> {
    /// rt::fs::DirBuilder::new().create("new").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref().to_owned();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(self.recursive);
        #[cfg(unix)]
        if let Some(mode) = self.mode {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
        }
        asyncify(move || builder.create(path)).await
    }
}
