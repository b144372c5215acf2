//! Why a task gave no output.

use std::any::Any;
use std::fmt;
use std::io;

use super::Id;

/// The error of a [`JoinHandle`](super::JoinHandle): the task was cancelled, or it panicked.
///
/// It is no larger than a pointer.
// As a field of its own, the payload would make `Poll<Result<(), JoinError>>` four words, which each join passes on in
// memory.
pub struct JoinError(Box<Inner>);

struct Inner {
    id: Id,
    cause: Cause,
}

/// What a task came to that gave no output.
pub(super) enum Cause {
    Cancelled,
    Panic(Box<dyn Any + Send + 'static>),
}

impl JoinError {
    #[cold]
    pub(super) fn new(id: Id, cause: Cause) -> Self {
        Self(Box::new(Inner { id, cause }))
    }

    /// Whether the task was cancelled: aborted, refused because the runtime was shutting down, or dropped by its
    /// shutdown.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0.cause, Cause::Cancelled)
    }

    /// Whether the task panicked, in a poll or while its future was dropped.
    ///
    /// # Example
    ///
    /// ```
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let error = rt::spawn(async { panic!("boom") }).await.unwrap_err();
    /// assert!(error.is_panic());
    /// assert_eq!(error.into_panic().downcast_ref::<&str>(), Some(&"boom"));
    /// # });
    /// ```
    pub fn is_panic(&self) -> bool {
        matches!(self.0.cause, Cause::Panic(_))
    }

    /// The payload of the panic, for [`std::panic::resume_unwind`] or a look at the message.
    ///
    /// # Panics
    ///
    /// If the task did not panic. [`try_into_panic`](Self::try_into_panic) does not.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(error) => panic!("`JoinError::into_panic` on a task that did not panic: {error}"),
        }
    }

    /// The payload of the panic, or the error itself if the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        let Inner { id, cause } = *self.0;
        match cause {
            Cause::Panic(payload) => Ok(payload),
            Cause::Cancelled => Err(Self::new(id, cause)),
        }
    }

    /// The task's identifier.
    pub fn id(&self) -> Id {
        self.0.id
    }

    /// What the panic said, if it said it in words.
    fn panic_message(&self) -> Option<&str> {
        let Cause::Panic(payload) = &self.0.cause else { return None };
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.cause, self.panic_message()) {
            (Cause::Cancelled, _) => write!(f, "task {} was cancelled", self.0.id),
            (Cause::Panic(_), Some(message)) => write!(f, "task {} panicked with message {message:?}", self.0.id),
            (Cause::Panic(_), None) => write!(f, "task {} panicked", self.0.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.cause, self.panic_message()) {
            (Cause::Cancelled, _) => write!(f, "JoinError::Cancelled({:?})", self.0.id),
            (Cause::Panic(_), Some(message)) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.0.id),
            (Cause::Panic(_), None) => write!(f, "JoinError::Panic({:?}, ...)", self.0.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> Self {
        io::Error::other(error)
    }
}

// SAFETY: a shared `JoinError` shows of its payload only a `&str` or `String`, which are Sync; any other payload can be
// reached only by taking the error apart.
unsafe impl Sync for JoinError {}

impl std::panic::UnwindSafe for JoinError {}
impl std::panic::RefUnwindSafe for JoinError {}
