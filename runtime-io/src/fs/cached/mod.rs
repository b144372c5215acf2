//! Reading what the kernel has in its cache, and nothing else, so that the thread does not wait.
//!
//! On Linux, `preadv2` with `RWF_NOWAIT`: it fails with `EAGAIN` where it would wait for the disk. Not all file systems
//! have it. Elsewhere there is nothing of the kind.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::{is_possible, read};

#[cfg(not(target_os = "linux"))]
pub(super) use nowhere::{is_possible, read};

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use std::fs::File;
    use std::io;

    use crate::io::ReadBuf;

    pub(in super::super) fn is_possible(_: &File) -> bool {
        false
    }

    pub(in super::super) fn read(_: &File, _: &mut ReadBuf<'_>, _: usize) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
