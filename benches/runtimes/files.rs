//! The files of all three: they have the same names.

use std::io;
use std::path::PathBuf;

use super::{RtHandle, SmolHandle, TokioHandle};
use crate::files::{File, Files};

macro_rules! files {
    ($handle:ty: $runtime:ident, $next:expr) => {
        const _: () = {
            use $runtime::fs;
            use $runtime::io::{AsyncReadExt, AsyncWriteExt};

            impl Files for $handle {
                type File = fs::File;

                async fn open(path: PathBuf) -> io::Result<fs::File> {
                    fs::File::open(path).await
                }

                async fn create(path: PathBuf) -> io::Result<fs::File> {
                    fs::File::create(path).await
                }

                async fn read_whole(path: PathBuf) -> io::Result<Vec<u8>> {
                    fs::read(path).await
                }

                async fn count_entries(path: PathBuf) -> io::Result<usize> {
                    let mut entries = fs::read_dir(path).await?;
                    let mut count = 0;
                    while let Some(entry) = $next(&mut entries).await? {
                        count += usize::from(!entry.file_name().is_empty());
                    }
                    Ok(count)
                }
            }

            impl File for fs::File {
                async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                    AsyncReadExt::read(self, buffer).await
                }

                async fn write_all(&mut self, buffer: &[u8]) -> io::Result<()> {
                    AsyncWriteExt::write_all(self, buffer).await
                }

                async fn flush(&mut self) -> io::Result<()> {
                    AsyncWriteExt::flush(self).await
                }
            }
        };
    };
}

files!(RtHandle: rt, fs::ReadDir::next_entry);
files!(TokioHandle: tokio, fs::ReadDir::next_entry);
files!(SmolHandle: smol, futures_lite::StreamExt::try_next);
