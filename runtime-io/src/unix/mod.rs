//! What only Unix has: any file descriptor, waited for like a socket.

mod async_fd;
mod guard;

pub use async_fd::{AsyncFd, AsyncFdTryNewError};
pub use guard::{AsyncFdReadyGuard, AsyncFdReadyMutGuard, TryIoError};
