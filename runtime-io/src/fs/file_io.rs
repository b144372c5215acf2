//! Reading, writing and seeking in a [`File`]; and its descriptor.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::File;
use crate::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

impl AsyncRead for File {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.background.poll_read(cx, buf, self.max_buf_size)
    }
}

impl AsyncWrite for File {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.background.poll_write(cx, &[IoSlice::new(buf)], self.max_buf_size)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.background.poll_write(cx, bufs, self.max_buf_size)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.background.poll_flush(cx)
    }

    /// Flushes. The file can still be used.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.background.start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.background.poll_complete(cx)
    }
}

#[cfg(unix)]
mod unix {
    #![allow(unsafe_code, reason = "`FromRawFd` is an unsafe trait method")]

    use std::fs;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

    use super::File;

    impl From<OwnedFd> for File {
        fn from(fd: OwnedFd) -> Self {
            Self::from_std(fs::File::from(fd))
        }
    }

    impl AsRawFd for File {
        fn as_raw_fd(&self) -> RawFd {
            self.background.device().std().as_raw_fd()
        }
    }

    impl AsFd for File {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.background.device().std().as_fd()
        }
    }

    impl FromRawFd for File {
        unsafe fn from_raw_fd(fd: RawFd) -> Self {
            // SAFETY: the caller's promise is the one that is asked for.
            Self::from_std(unsafe { fs::File::from_raw_fd(fd) })
        }
    }
}

#[cfg(windows)]
mod windows {
    #![allow(unsafe_code, reason = "`FromRawHandle` is an unsafe trait method")]

    use std::fs;
    use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle, RawHandle};

    use super::File;

    impl From<OwnedHandle> for File {
        fn from(handle: OwnedHandle) -> Self {
            Self::from_std(fs::File::from(handle))
        }
    }

    impl AsRawHandle for File {
        fn as_raw_handle(&self) -> RawHandle {
            self.background.device().std().as_raw_handle()
        }
    }

    impl AsHandle for File {
        fn as_handle(&self) -> BorrowedHandle<'_> {
            self.background.device().std().as_handle()
        }
    }

    impl FromRawHandle for File {
        unsafe fn from_raw_handle(handle: RawHandle) -> Self {
            // SAFETY: the caller's promise is the one that is asked for.
            Self::from_std(unsafe { fs::File::from_raw_handle(handle) })
        }
    }
}
