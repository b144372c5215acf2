//! Futures polled by hand, without pinning them or making a waker.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// After this many polls in a row a future that keeps waking itself makes no progress.
const MAX_POLLS: u32 = 150;

/// Makes a future, or anything else that is polled, ready to be polled by hand.
///
/// Nothing is run by this. What needs a runtime, as a timer does, has to be polled inside of one.
///
/// # Example
///
/// ```
/// use rt::test_util::task;
///
/// let mut task = task::spawn(async { 5 });
/// assert!(task.poll().is_ready());
/// ```
pub fn spawn<T>(task: T) -> Spawn<T> {
    Spawn { flag: Arc::default(), future: Box::pin(task) }
}

/// A future, and a waker that remembers whether it was used. Made by [`spawn`].
///
/// As a future it passes on the waker of the task that it is polled in, and has nothing to remember.
#[must_use = "futures do nothing unless they are polled"]
pub struct Spawn<T> {
    flag: Arc<Flag>,
    future: Pin<Box<T>>,
}

/// Whether somebody has woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // What was done before the wake is there for the test that sees it.
        self.0.store(true, Ordering::Release);
    }
}

impl<T> Spawn<T> {
    /// What [`spawn`] was given.
    ///
    /// # Example
    ///
    /// ```
    /// let task = rt::test_util::task::spawn(std::future::ready(5));
    /// assert_eq!(task.into_inner().into_inner(), 5);
    /// ```
    pub fn into_inner(self) -> T
    where
        T: Unpin,
    {
        *Pin::into_inner(self.future)
    }

    /// Whether the waker was used since the beginning of the last [`poll`](Self::poll) or [`enter`](Self::enter).
    ///
    /// # Example
    ///
    /// ```
    /// let notify = rt::sync::Notify::new();
    /// let mut task = rt::test_util::task::spawn(notify.notified());
    /// assert!(task.poll().is_pending());
    /// notify.notify_one();
    /// assert!(task.is_woken());
    /// ```
    pub fn is_woken(&self) -> bool {
        self.flag.0.load(Ordering::Acquire)
    }

    /// How many there are of the waker. One is this harness's own, so it is never zero.
    ///
    /// # Example
    ///
    /// ```
    /// let notify = rt::sync::Notify::new();
    /// let mut task = rt::test_util::task::spawn(notify.notified());
    /// assert_eq!(task.waker_ref_count(), 1);
    /// assert!(task.poll().is_pending());
    /// assert_eq!(task.waker_ref_count(), 2, "a waiter keeps one");
    /// ```
    pub fn waker_ref_count(&self) -> usize {
        Arc::strong_count(&self.flag)
    }

    /// Calls the closure with the waker, in a [`Context`], and what [`spawn`] was given. For what has other functions
    /// than `poll` that take a context.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::test_util::{assert_pending, assert_ready_eq, task};
    ///
    /// let (tx, rx) = rt::sync::mpsc::channel(1);
    /// let mut task = task::spawn(rx);
    /// assert_pending!(task.enter(|cx, mut rx| rx.poll_recv(cx)));
    /// tx.try_send(5).unwrap();
    /// assert!(task.is_woken());
    /// assert_ready_eq!(task.enter(|cx, mut rx| rx.poll_recv(cx)), Some(5));
    /// ```
    pub fn enter<F, R>(&mut self, f: F) -> R
    where
        F: FnOnce(&mut Context<'_>, Pin<&mut T>) -> R,
    {
        self.flag.0.store(false, Ordering::Relaxed);
        let waker = Waker::from(Arc::clone(&self.flag));
        f(&mut Context::from_waker(&waker), self.future.as_mut())
    }
}

impl<T: Future> Spawn<T> {
    /// Polls the future.
    ///
    /// # Example
    ///
    /// ```
    /// use std::task::Poll;
    ///
    /// let mut task = rt::test_util::task::spawn(async { 5 });
    /// assert_eq!(task.poll(), Poll::Ready(5));
    /// ```
    pub fn poll(&mut self) -> Poll<T::Output> {
        self.enter(|cx, future| future.poll(cx))
    }

    /// Polls the future until it is ready, or is pending and was not woken meanwhile: until it waits for somebody else.
    ///
    /// # Panics
    ///
    /// If it was woken in each of 150 polls.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::test_util::task;
    ///
    /// let (tx, rx) = rt::sync::oneshot::channel::<u8>();
    /// let mut task = task::spawn(async move {
    ///     let first = rx.await;
    ///     first.unwrap() + 1
    /// });
    /// assert!(task.poll_until_idle().is_pending());
    /// tx.send(4).unwrap();
    /// assert!(task.poll_until_idle().is_ready());
    /// ```
    #[track_caller]
    pub fn poll_until_idle(&mut self) -> Poll<T::Output> {
        for _ in 0..MAX_POLLS {
            let polled = self.poll();
            if polled.is_ready() || !self.is_woken() {
                return polled;
            }
        }
        panic!("poll_until_idle exceeded {MAX_POLLS} iterations: the future wakes itself and makes no progress");
    }
}

impl<T: Unpin> Deref for Spawn<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.future
    }
}

impl<T: Unpin> DerefMut for Spawn<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.future
    }
}

impl<T: Future> Future for Spawn<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl<T: fmt::Debug> fmt::Debug for Spawn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn").field("is_woken", &self.is_woken()).field("future", &self.future).finish()
    }
}
