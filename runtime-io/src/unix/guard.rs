//! What waiting for an [`AsyncFd`] yields: proof that it was ready, with which to take that back.

use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

use crate::readiness::ReadyEvent;
use crate::ready::Ready;

use super::AsyncFd;

/// The descriptor was ready when this was made.
///
/// Dropping it changes nothing: the next wait returns at once. To wait for more, either let
/// [`try_io`](Self::try_io) find out that the operation would block, or say so with [`clear_ready`](Self::clear_ready).
///
/// # Example
///
/// See [`AsyncFd`].
#[must_use = "the readiness stays until it is cleared through this guard"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    fd: &'a AsyncFd<T>,
    event: ReadyEvent,
}

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    pub(super) fn new(fd: &'a AsyncFd<T>, event: ReadyEvent) -> Self {
        Self { fd, event }
    }

    /// Takes the readiness back that this guard stands for: the operation has found that it would block.
    ///
    /// What came in the meantime is not touched, nor is what speaks of an end, as that comes only once.
    pub fn clear_ready(&mut self) {
        self.clear_ready_matching(self.event.ready);
    }

    /// As [`clear_ready`](Self::clear_ready), for some flags only: after waiting for both directions and failing in
    /// one. They are taken back also if this guard was not made for them, unless all that it was made for was taken
    /// back already.
    pub fn clear_ready_matching(&mut self, ready: Ready) {
        if !self.event.ready.is_empty() {
            self.fd.registration().clear_drained(self.event.with_ready(ready));
            self.event = self.event.with_ready(self.event.ready - ready);
        }
    }

    /// Keeps the readiness, which is what dropping the guard does too. Says that this was thought of.
    pub fn retain_ready(&mut self) {}

    /// What the descriptor was ready for when this guard was made, less what was cleared since.
    pub fn ready(&self) -> Ready {
        self.event.ready
    }

    /// Runs an operation.
    ///
    /// # Errors
    ///
    /// [`TryIoError`] if the operation would block; then the readiness is taken back, so it must say so only when the
    /// descriptor really would. Any other error is inside of the `Ok`.
    pub fn try_io<R>(
        &mut self,
        operation: impl FnOnce(&'a AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match operation(self.fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.fd.registration().clear_refused(self.event);
                self.event = self.event.with_ready(Ready::EMPTY);
                Err(TryIoError(()))
            }
            outcome => Ok(outcome),
        }
    }

    /// What was waited for.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.fd
    }

    /// The object in it.
    pub fn get_inner(&self) -> &'a T {
        self.fd.get_ref()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFdReadyGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFdReadyGuard").field("fd", self.fd).field("ready", &self.ready()).finish()
    }
}

/// As [`AsyncFdReadyGuard`], lending the object mutably.
#[must_use = "the readiness stays until it is cleared through this guard"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    fd: &'a mut AsyncFd<T>,
    event: ReadyEvent,
}

impl<'a, T: AsRawFd> AsyncFdReadyMutGuard<'a, T> {
    pub(super) fn new(fd: &'a mut AsyncFd<T>, event: ReadyEvent) -> Self {
        Self { fd, event }
    }

    /// Takes the readiness back that this guard stands for: the operation has found that it would block.
    ///
    /// What came in the meantime is not touched, nor is what speaks of an end, as that comes only once.
    pub fn clear_ready(&mut self) {
        self.clear_ready_matching(self.event.ready);
    }

    /// As [`clear_ready`](Self::clear_ready), for some flags only: after waiting for both directions and failing in
    /// one. They are taken back also if this guard was not made for them, unless all that it was made for was taken
    /// back already.
    pub fn clear_ready_matching(&mut self, ready: Ready) {
        if !self.event.ready.is_empty() {
            self.fd.registration().clear_drained(self.event.with_ready(ready));
            self.event = self.event.with_ready(self.event.ready - ready);
        }
    }

    /// Keeps the readiness, which is what dropping the guard does too. Says that this was thought of.
    pub fn retain_ready(&mut self) {}

    /// What the descriptor was ready for when this guard was made, less what was cleared since.
    pub fn ready(&self) -> Ready {
        self.event.ready
    }

    /// Runs an operation.
    ///
    /// # Errors
    ///
    /// [`TryIoError`] if the operation would block; then the readiness is taken back, so it must say so only when the
    /// descriptor really would. Any other error is inside of the `Ok`.
    pub fn try_io<R>(
        &mut self,
        operation: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match operation(self.fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.fd.registration().clear_refused(self.event);
                self.event = self.event.with_ready(Ready::EMPTY);
                Err(TryIoError(()))
            }
            outcome => Ok(outcome),
        }
    }

    /// What was waited for.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.fd
    }

    /// What was waited for.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.fd
    }

    /// The object in it.
    pub fn get_inner(&self) -> &T {
        self.fd.get_ref()
    }

    /// The object in it.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.fd.get_mut()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFdReadyMutGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFdReadyMutGuard").field("fd", self.fd).field("ready", &self.ready()).finish()
    }
}

/// The operation would block: wait again.
#[derive(Debug)]
pub struct TryIoError(());

impl fmt::Display for TryIoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operation would block")
    }
}

impl Error for TryIoError {}
