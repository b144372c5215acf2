//! Standard input, output and error.
//!
//! They are devices of `background`. Output is written on the blocking pool, like files. A read of standard input may
//! never return, and cannot be cancelled; so it is on a thread of its own, for which no runtime waits.

mod stderr;
mod stdin;
mod stdout;

pub use self::stderr::{Stderr, stderr};
pub use self::stdin::{Stdin, stdin};
pub use self::stdout::{Stdout, stdout};

/// What the two outputs have in common.
macro_rules! output {
    ($name:ident, $function:ident, has_buffer: $has_buffer:expr) => {
        #[derive(Debug)]
        struct Device(std::io::$name);

        impl crate::background::Device for Device {
            const HAS_BUFFER: bool = $has_buffer;

            fn start(job: crate::background::Job<Self>) {
                // Those that write are mandatory, and there are no others.
                drop(runtime_core::spawn_mandatory_blocking(move || job.run()));
            }

            fn read(&self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::Unsupported.into())
            }

            fn write_all(&self, bytes: &[u8]) -> std::io::Result<()> {
                // Under the lock that all handles share, those of the standard library included.
                std::io::Write::write_all(&mut &self.0, bytes)
            }

            fn flush(&self) -> std::io::Result<()> {
                std::io::Write::flush(&mut &self.0)
            }

            fn seek(&self, _: std::io::SeekFrom) -> std::io::Result<u64> {
                Err(std::io::ErrorKind::NotSeekable.into())
            }
        }

        impl crate::io::AsyncWrite for $name {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let buf = std::io::IoSlice::new(buf);
                self.background.poll_write(cx, &[buf], crate::background::DEFAULT_MAX_BUF_SIZE)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.background.poll_flush(cx)
            }

            /// Flushes. The descriptor stays open, and can still be written to.
            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.poll_flush(cx)
            }
        }

        crate::io::stdio::descriptor!($name, $function);
    };
}
use output;

/// The descriptor, or handle, which is that of the process.
macro_rules! descriptor {
    ($name:ident, $function:ident) => {
        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $name {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::io::$function().as_raw_fd()
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $name {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                std::os::fd::AsFd::as_fd(&self.background.device().0)
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawHandle for $name {
            fn as_raw_handle(&self) -> std::os::windows::io::RawHandle {
                std::io::$function().as_raw_handle()
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsHandle for $name {
            fn as_handle(&self) -> std::os::windows::io::BorrowedHandle<'_> {
                std::os::windows::io::AsHandle::as_handle(&self.background.device().0)
            }
        }
    };
}
use descriptor;
