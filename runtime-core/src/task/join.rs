//! [`JoinHandle`] and [`AbortHandle`]: what the spawner keeps of a task.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use super::error::JoinError;
use super::raw::TaskRef;
use super::state::{AlreadyComplete, DropJoin};
use super::waits::{self, Leaf};
use super::{Id, catch, discard};
use crate::coop;

/// The right to wait for a task's output, to abort it, and to ask after it.
///
/// Awaiting it gives `Ok` with the output, or a [`JoinError`] if the task panicked or was cancelled. Dropping it
/// detaches the task, which goes on by itself.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe: the output stays until it is taken.
///
/// # Panics
///
/// When polled again after it gave its output.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = rt::spawn(async { 6 * 7 });
/// assert_eq!(handle.await.unwrap(), 42);
/// # });
/// ```
pub struct JoinHandle<T> {
    /// Dropped by hand: the commonest drop gives the reference back together with the interest.
    task: ManuallyDrop<TaskRef>,
    _output: PhantomData<T>,
}

// SAFETY: the handle moves a `T` from the thread that ran the task to the one that awaits it.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}
impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The task's output is a `T`, and this is its one and only join handle.
    pub(crate) unsafe fn new(task: TaskRef) -> Self {
        Self { task: ManuallyDrop::new(task), _output: PhantomData }
    }

    /// Cancels the task: its future is dropped, by the runtime, at the next opportunity.
    ///
    /// A task that is being polled finishes that poll; if that completes it, it is not cancelled. A task of
    /// [`spawn_blocking`](crate::spawn_blocking) can be cancelled only until it has started. Awaiting the handle
    /// afterwards tells.
    ///
    /// # Example
    ///
    /// ```
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let handle = rt::spawn(std::future::pending::<()>());
    /// handle.abort();
    /// assert!(handle.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Whether the task is over, so that awaiting the handle would give an answer at once.
    pub fn is_finished(&self) -> bool {
        self.task.header().state.is_complete()
    }

    /// The task's identifier.
    pub fn id(&self) -> Id {
        self.task.header().id()
    }

    /// A handle that can abort the task, and nothing else, and does not hinder anybody from awaiting this one.
    #[must_use = "the handle aborts nothing by itself"]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { task: TaskRef::clone(&self.task) }
    }

    /// Takes what came of the task, if it is over and that was not taken before. Spends no budget.
    pub(crate) fn take_finished(&mut self) -> Option<Result<T, JoinError>> {
        if !self.is_finished() {
            return None;
        }
        let mut output: Poll<Result<T, JoinError>> = Poll::Pending;
        let into: *mut Poll<_> = &mut output;
        // SAFETY: the task is complete, this is its join handle, and its output is a `T`.
        unsafe { (self.task.header().vtable.take_output)(self.task.as_raw(), into.cast()) };
        match output {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    /// Leaves the waker with the task, to be called when that is complete. Returns true if it is so already. Spends no
    /// budget.
    pub(crate) fn wake_when_finished(&self, waker: &Waker) -> bool {
        let state = &self.task.header().state;
        if state.is_complete() {
            return true;
        }
        if state.has_join_waker() {
            // The runtime has a waker. While JOIN_WAKER is set nobody writes the slot before COMPLETE, so it may be
            // read here, if completion has not begun to take it: hence compare only after taking it back. SAFETY of
            // taking it back: only the join handle sets and clears the bit.
            if state.unset_join_waker() == Err(AlreadyComplete) {
                return true;
            }
        }
        // SAFETY: JOIN_WAKER is clear and the task was not complete when it was: the slot is this handle's.
        unsafe {
            if !self.task.join_waker_will_wake(waker) {
                self.task.put_join_waker(waker.clone());
            }
        }
        if state.set_join_waker() == Ok(()) {
            return false;
        }
        // SAFETY: complete, and JOIN_WAKER is clear: the slot stays this handle's, and must not be left full for
        // the thread that frees the task.
        let waker = unsafe { self.task.take_join_waker() };
        discard(catch(|| drop(waker)));
        true
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let coop = ready!(coop::poll_proceed(cx));
        let mut output = Poll::Pending;
        if self.wake_when_finished(cx.waker()) {
            let into: *mut Poll<Self::Output> = &mut output;
            // SAFETY: the task is complete, this is its join handle, and its output is a `T`.
            unsafe { (self.task.header().vtable.take_output)(self.task.as_raw(), into.cast()) };
            assert!(output.is_ready(), "a `JoinHandle` was polled again after it had given its output");
            coop.made_progress();
        } else {
            let header = self.task.header();
            let leaf = if header.arena.is_some() { Leaf::Join(header.id()) } else { Leaf::BlockingJob };
            waits::note_with(leaf, cx.waker());
        }
        output
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let state = &self.task.header().state;
        if state.drop_join_at_birth() {
            return;
        }
        match state.drop_join() {
            DropJoin::Complete => {
                // Mostly the output was taken, and need not be looked for through the vtable.
                if !self.task.header().is_cleared() {
                    // SAFETY: complete, and this is the join handle.
                    unsafe { (self.task.header().vtable.drop_output)(self.task.as_raw()) };
                }
                if !state.has_join_waker() {
                    // SAFETY: complete with JOIN_WAKER clear: the slot is this handle's.
                    let waker = unsafe { self.task.take_join_waker() };
                    discard(catch(|| drop(waker)));
                }
            }
            DropJoin::Detached => {
                // SAFETY: JOIN_WAKER is clear, and with JOIN_INTEREST gone the completing thread leaves the slot alone.
                let waker = unsafe { self.task.take_join_waker() };
                if waker.is_some() {
                    waits::withdraw(Leaf::Join(self.id()));
                }
                discard(catch(|| drop(waker)));
            }
        }
        // SAFETY: the field is not used again.
        unsafe { ManuallyDrop::drop(&mut self.task) };
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).field("finished", &self.is_finished()).finish()
    }
}

/// The right to abort a task, without the right to its output. Any number of them may exist.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = rt::spawn(std::future::pending::<()>());
/// let abort = handle.abort_handle();
/// std::thread::spawn(move || abort.abort()).join().unwrap();
/// assert!(handle.await.unwrap_err().is_cancelled());
/// # });
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    task: TaskRef,
}

impl AbortHandle {
    /// Cancels the task. See [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Whether the task is over.
    pub fn is_finished(&self) -> bool {
        self.task.header().state.is_complete()
    }

    /// The task's identifier.
    pub fn id(&self) -> Id {
        self.task.header().id()
    }
}

impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).field("finished", &self.is_finished()).finish()
    }
}
