//! What only Unix has: any file descriptor, waited for like a socket.

mod async_fd;
mod guard;

#[doc(hidden)]
#[allow(deprecated, reason = "for those who use the former name")]
pub use async_fd::AsyncFdTryNewError;
pub use async_fd::{AsyncFd, AsyncFdRegisterError};
pub use guard::{AsyncFdReadyGuard, AsyncFdReadyMutGuard, TryIoError};
