//! [`AbortOnDropHandle`]: a join handle that does not detach its task. For users, by `rt::task`.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::error::JoinError;
use super::{AbortHandle, Id, JoinHandle};

/// A [`JoinHandle`] that aborts its task when it is dropped.
///
/// Awaiting it gives what awaiting the handle gives. The abort is as [`JoinHandle::abort`]: the drop does not wait for
/// the task's end. To wait for that, use `rt::task::scope`, or [`JoinSet::shutdown`](crate::JoinSet::shutdown).
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe. To drop the handle itself, as a `select!` does that owns it, aborts the task.
///
/// # Example
///
/// ```
/// use rt::task::AbortOnDropHandle;
///
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let (tx, rx) = rt::sync::oneshot::channel::<()>();
/// let task = AbortOnDropHandle::new(rt::spawn(async {
///     let _tx = tx;
///     std::future::pending::<()>().await
/// }));
/// drop(task);
/// // The task's future is dropped, and with it the sender.
/// assert!(rx.await.is_err());
/// # });
/// ```
#[must_use = "dropping it aborts the task"]
pub struct AbortOnDropHandle<T> {
    /// Taken by `detach` only, which is the end of this.
    handle: Option<JoinHandle<T>>,
}

/// Why a handle can be taken for granted.
const DETACHED: &str = "only `detach` takes the handle, and consumes what has it";

impl<T> AbortOnDropHandle<T> {
    /// Has the task aborted when what is returned is dropped.
    pub fn new(handle: JoinHandle<T>) -> Self {
        Self { handle: Some(handle) }
    }

    /// Aborts the task now. See [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.handle().abort();
    }

    /// Whether the task is over. See [`JoinHandle::is_finished`].
    pub fn is_finished(&self) -> bool {
        self.handle().is_finished()
    }

    /// The task's identifier.
    pub fn id(&self) -> Id {
        self.handle().id()
    }

    /// Another handle that can abort the task. To drop it aborts nothing.
    pub fn abort_handle(&self) -> AbortHandle {
        self.handle().abort_handle()
    }

    /// The handle as it was, which detaches the task when it is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = rt::task::AbortOnDropHandle::new(rt::spawn(async { 6 * 7 }));
    /// assert_eq!(task.detach().await.unwrap(), 42);
    /// # });
    /// ```
    #[must_use = "dropping it detaches the task"]
    pub fn detach(mut self) -> JoinHandle<T> {
        self.handle.take().expect(DETACHED)
    }

    fn handle(&self) -> &JoinHandle<T> {
        self.handle.as_ref().expect(DETACHED)
    }
}

impl<T> Drop for AbortOnDropHandle<T> {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            handle.abort();
        }
    }
}

impl<T> Future for AbortOnDropHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(self.handle.as_mut().expect(DETACHED)).poll(cx)
    }
}

impl<T> AsRef<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn as_ref(&self) -> &JoinHandle<T> {
        self.handle()
    }
}

impl<T> From<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn from(handle: JoinHandle<T>) -> Self {
        Self::new(handle)
    }
}

impl<T> fmt::Debug for AbortOnDropHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AbortOnDropHandle").field(self.handle()).finish()
    }
}
