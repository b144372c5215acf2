//! Why a task gave no output.

use std::any::Any;
use std::fmt;
use std::io;

use super::Id;

/// The error of a [`JoinHandle`](super::JoinHandle): the task was cancelled, or it panicked.
pub struct JoinError {
    id: Id,
    cause: Cause,
}

enum Cause {
    Cancelled,
    Panic(Box<dyn Any + Send + 'static>),
}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> Self {
        Self { id, cause: Cause::Cancelled }
    }

    pub(crate) fn panic(id: Id, payload: Box<dyn Any + Send + 'static>) -> Self {
        Self { id, cause: Cause::Panic(payload) }
    }

    /// Whether the task was cancelled: aborted, refused because the runtime was shutting down, or dropped by its
    /// shutdown.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.cause, Cause::Cancelled)
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
        matches!(self.cause, Cause::Panic(_))
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
        match self.cause {
            Cause::Panic(payload) => Ok(payload),
            Cause::Cancelled => Err(self),
        }
    }

    /// The task's identifier.
    pub fn id(&self) -> Id {
        self.id
    }

    /// What the panic said, if it said it in words.
    fn panic_message(&self) -> Option<&str> {
        let Cause::Panic(payload) = &self.cause else { return None };
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, self.panic_message()) {
            (Cause::Cancelled, _) => write!(f, "task {} was cancelled", self.id),
            (Cause::Panic(_), Some(message)) => write!(f, "task {} panicked: {message}", self.id),
            (Cause::Panic(_), None) => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, self.panic_message()) {
            (Cause::Cancelled, _) => write!(f, "JoinError::Cancelled({})", self.id),
            (Cause::Panic(_), Some(message)) => write!(f, "JoinError::Panic({}, {message:?})", self.id),
            (Cause::Panic(_), None) => write!(f, "JoinError::Panic({}, ..)", self.id),
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
