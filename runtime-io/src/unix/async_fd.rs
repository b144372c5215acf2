//! A file descriptor of somebody else's making, registered with the driver.

use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};

use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Registry, Token};

use crate::interest::Interest;
use crate::readiness::Direction;
use crate::ready::Ready;
use crate::registration::{Evented, Registration, current_driver};

use super::guard::{AsyncFdReadyGuard, AsyncFdReadyMutGuard};

/// An object with a file descriptor, and waiting until that descriptor is ready.
///
/// For pipes, devices, sockets of foreign libraries: whatever the system's poller takes. (It does not take regular
/// files.)
///
/// # Non-blocking mode
///
/// A descriptor that is read or written should be in non-blocking mode (`O_NONBLOCK`): nobody checks it. In the other
/// mode, an operation that finds nothing does not say so but blocks the worker, and all tasks that the worker would
/// have polled. Most types have a `set_nonblocking`, or a flag for it where they are made; for any descriptor there is
/// `fcntl` with `F_SETFL`. One that is only waited for (of a process, of another poller, of a ring) can be in either
/// mode.
///
/// The mode is the open file's, and so shared by all who have inherited the descriptor. Standard input belongs to the
/// shell as well: read it on a thread of its own ([`spawn_blocking`](runtime_core::spawn_blocking)).
///
/// # The descriptor stays the same
///
/// The object is asked for its descriptor once, when it is registered. It should keep that one open for as long as it
/// is in here. If it closes it or changes to another, nobody is woken any more, and no other harm is done: what was
/// registered is taken out in the end, and nothing else, also if the number is another descriptor's by then.
///
/// # Waiting
///
/// The object does its own reading and writing. To wait, use [`readable`](Self::readable) or
/// [`writable`](Self::writable), whose guard takes the readiness back when the operation finds that it would block; or
/// [`async_io`](Self::async_io), which is that in a loop.
///
/// # Example
///
/// ```
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use rt::io::unix::AsyncFd;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (ours, mut theirs) = UnixStream::pair()?;
/// ours.set_nonblocking(true)?;
/// let ours = AsyncFd::new(ours)?;
/// theirs.write_all(b"hello")?;
///
/// let mut buffer = [0; 16];
/// let n = loop {
///     let mut guard = ours.readable().await?;
///     match guard.try_io(|fd| fd.get_ref().read(&mut buffer)) {
///         Ok(outcome) => break outcome?,
///         Err(_would_block) => continue,
///     }
/// };
/// assert_eq!(&buffer[..n], b"hello");
/// # Ok(())
/// # }
/// ```
pub struct AsyncFd<T: AsRawFd> {
    io: Evented<Descriptor<T>>,
}

/// The object, as the poller sees it.
///
/// The object is asked for its descriptor once, before it is registered. What it says is safe code of somebody
/// else's, which may say something else each time. What is taken out in the end is what was put in, if it is still
/// there (`driver/registry.rs`).
struct Descriptor<T> {
    object: T,
    number: RawFd,
}

impl<T> AsRawFd for Descriptor<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.number
    }
}

impl<T> Source for Descriptor<T> {
    fn register(&mut self, registry: &Registry, token: Token, interests: mio::Interest) -> io::Result<()> {
        SourceFd(&self.number).register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: mio::Interest) -> io::Result<()> {
        SourceFd(&self.number).reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.number).deregister(registry)
    }
}

impl<T: AsRawFd> AsyncFd<T> {
    /// Registers an object for reading and writing.
    ///
    /// # Errors
    ///
    /// If the poller does not take it. The object is dropped then; [`try_new`](Self::try_new) gives it back.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    ///
    /// # Example
    ///
    /// See [the type](Self).
    #[track_caller]
    pub fn new(inner: T) -> io::Result<Self> {
        Self::with_interest(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// Registers an object for some interest only: nobody is woken for any other.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new). The object is dropped then.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<Self> {
        Self::try_with_interest(inner, interest).map_err(|error| error.cause)
    }

    /// As [`new`](Self::new), giving the object back if it fails.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    ///
    /// # Example
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// use rt::io::unix::AsyncFd;
    ///
    /// let directory = std::fs::File::open("/")?;
    /// let (directory, error) = AsyncFd::try_new(directory).unwrap_err().into_parts();
    /// assert_eq!(error.kind(), rt::io::ErrorKind::PermissionDenied); // there is nothing to wait for in it
    /// assert!(directory.metadata()?.is_dir());
    /// # Ok(())
    /// # }
    /// # #[cfg(not(target_os = "linux"))]
    /// # fn main() {}
    /// ```
    #[track_caller]
    pub fn try_new(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::try_with_interest(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// As [`with_interest`](Self::with_interest), giving the object back if it fails.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn try_with_interest(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        let driver = current_driver();
        let number = inner.as_raw_fd();
        match Evented::new(&driver, Descriptor { object: inner, number }, interest, Ready::EMPTY) {
            Ok(io) => Ok(Self { io }),
            Err((Descriptor { object: inner, .. }, cause)) => Err(AsyncFdRegisterError { inner, cause }),
        }
    }

    /// As [`try_new`](Self::try_new), for Tokio's sake: the name under which it promises more.
    ///
    /// # Errors
    ///
    /// See [`try_new`](Self::try_new).
    ///
    /// # Safety
    ///
    /// None is needed here. Elsewhere, the descriptor must stay open, and the same, until it is taken out; here one
    /// that is closed behind our back makes the waiting wrong, and nothing else.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[allow(unsafe_code, reason = "the signature is Tokio's")]
    #[track_caller]
    pub unsafe fn register(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::try_new(inner)
    }

    /// As [`try_with_interest`](Self::try_with_interest), for Tokio's sake. See [`register`](Self::register).
    ///
    /// # Errors
    ///
    /// See [`try_with_interest`](Self::try_with_interest).
    ///
    /// # Safety
    ///
    /// See [`register`](Self::register).
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[allow(unsafe_code, reason = "the signature is Tokio's")]
    #[track_caller]
    pub unsafe fn register_with_interest(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::try_with_interest(inner, interest)
    }

    pub(super) fn registration(&self) -> &Registration {
        self.io.registration()
    }

    /// The object.
    pub fn get_ref(&self) -> &T {
        &self.io.source().object
    }

    /// The object. Its descriptor should [stay the same](Self#the-descriptor-stays-the-same).
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.io.source_mut().object
    }

    /// Takes the object back, out of the driver.
    pub fn into_inner(self) -> T {
        // If the poller did not have it any more, so much the better.
        let (Descriptor { object, .. }, _) = self.io.into_inner();
        object
    }

    /// Waits until the descriptor is ready for something of `interest`. Any number of tasks can wait.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: readiness stays until it is cleared.
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let event = self.registration().ready(interest).await?;
        Ok(AsyncFdReadyGuard::new(self, event))
    }

    /// As [`ready`](Self::ready), with a guard that lends the object mutably.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn ready_mut(&mut self, interest: Interest) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let event = self.registration().ready(interest).await?;
        Ok(AsyncFdReadyMutGuard::new(self, event))
    }

    /// Waits until there may be something to read. See [`ready`](Self::ready).
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::READABLE).await
    }

    /// As [`readable`](Self::readable), with a guard that lends the object mutably.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// Waits until there may be room to write. See [`ready`](Self::ready).
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// As [`writable`](Self::writable), with a guard that lends the object mutably.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }

    /// As [`readable`](Self::readable), for hand-written futures. Only the last task to wait here is woken.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyGuard<'_, T>>> {
        let event = ready!(self.registration().poll_ready(cx, Direction::Read))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, event)))
    }

    /// As [`poll_read_ready`](Self::poll_read_ready), with a guard that lends the object mutably.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub fn poll_read_ready_mut(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyMutGuard<'_, T>>> {
        let event = ready!(self.registration().poll_ready(cx, Direction::Read))?;
        Poll::Ready(Ok(AsyncFdReadyMutGuard::new(self, event)))
    }

    /// As [`writable`](Self::writable), for hand-written futures. Only the last task to wait here is woken.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyGuard<'_, T>>> {
        let event = ready!(self.registration().poll_ready(cx, Direction::Write))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, event)))
    }

    /// As [`poll_write_ready`](Self::poll_write_ready), with a guard that lends the object mutably.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub fn poll_write_ready_mut(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyMutGuard<'_, T>>> {
        let event = ready!(self.registration().poll_ready(cx, Direction::Write))?;
        Poll::Ready(Ok(AsyncFdReadyMutGuard::new(self, event)))
    }

    /// Runs an operation on the object, as often as it takes, waiting for `interest` in between.
    ///
    /// # Errors
    ///
    /// What the operation returns, save `WouldBlock`, which it must return only when the descriptor really would block.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, as far as the operation is: it is not interrupted, only not tried again.
    ///
    /// # Example
    ///
    /// ```
    /// # use std::io::{Read, Write};
    /// # use std::os::unix::net::UnixStream;
    /// use rt::io::{Interest, unix::AsyncFd};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let (ours, mut theirs) = UnixStream::pair()?;
    /// # ours.set_nonblocking(true)?;
    /// # theirs.write_all(b"hello")?;
    /// let ours = AsyncFd::new(ours)?;
    /// let mut buffer = [0; 16];
    /// let n = ours.async_io(Interest::READABLE, |mut stream| stream.read(&mut buffer)).await?;
    /// assert_eq!(&buffer[..n], b"hello");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration().async_io(interest, || operation(self.get_ref())).await
    }

    /// As [`async_io`](Self::async_io), with the object lent mutably.
    ///
    /// # Errors
    ///
    /// See [`async_io`](Self::async_io).
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut operation: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let (source, registration) = self.io.parts_mut();
        registration.async_io(interest, || operation(&mut source.object)).await
    }

    /// Runs an operation on the object, if it is ready for it as far as is known.
    ///
    /// # Errors
    ///
    /// What the operation returns; `WouldBlock` as well if it was not ready to begin with.
    pub fn try_io<R>(&self, interest: Interest, operation: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration().try_io(interest, || operation(self.get_ref()))
    }

    /// As [`try_io`](Self::try_io), with the object lent mutably.
    ///
    /// # Errors
    ///
    /// See [`try_io`](Self::try_io).
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        operation: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let (source, registration) = self.io.parts_mut();
        registration.try_io(interest, || operation(&mut source.object))
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    #[allow(unsafe_code, reason = "a type that implements `AsRawFd` need not implement `AsFd`")]
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the object is borrowed for as long, and the driver, which has taken its number, trusts that it stays
        // open. If it does not, which takes an object that lies about its number, calls on it go to another file.
        unsafe { BorrowedFd::borrow_raw(self.get_ref().as_raw_fd()) }
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", self.get_ref()).finish_non_exhaustive()
    }
}

/// The object could not be registered. It is in here, with the reason.
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// The former name of [`AsyncFdRegisterError`].
#[doc(hidden)]
#[deprecated(note = "use `AsyncFdRegisterError` instead")]
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;

impl<T> AsyncFdRegisterError<T> {
    /// The object, and why it could not be registered.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> Self {
        error.cause
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file descriptor cannot be waited for: {}", self.cause)
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncFdRegisterError").field(&self.cause).finish()
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}
