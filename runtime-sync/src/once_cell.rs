//! [`OnceCell`]: a value that is made once, by the task that needs it first.
//!
//! A word says whether somebody is making the value. The task that sets it by an exchange makes it; others wait. If the
//! making fails or is dropped, the word is cleared, and the one that has waited longest is notified and tries again.
//! When the value is there, all are.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;

use runtime_core::coop;
use runtime_core::primitive::atomic::AtomicBool;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Release};
use runtime_core::task::LockKind;
use runtime_core::task::waits::{self, Leaf};

use crate::Notify;
use crate::slot::Slot;

/// A value that is made once, by the task that needs it first, with a future.
///
/// Others that need it meanwhile wait. If the future fails, panics or is dropped, one of them makes the value with its
/// own. Once it is there, to read it is one load. For values of a `static` whose making is asynchronous, say.
///
/// # Fairness
///
/// When a future fails, the one that has waited longest is the next to try, unless somebody who comes just then is
/// faster.
///
/// # Memory
///
/// The value, two flags, and a [`Notify`]. Nothing is allocated.
///
/// # Example
///
/// ```
/// use rt::sync::OnceCell;
///
/// static ADDRESS: OnceCell<String> = OnceCell::const_new();
///
/// async fn address() -> &'static str {
///     ADDRESS.get_or_init(|| async { look_up("example.com").await }).await
/// }
/// # async fn look_up(name: &str) -> String { name.to_string() }
/// # #[rt::main]
/// # async fn main() {
/// assert_eq!(address().await, "example.com");
/// assert_eq!(address().await, "example.com");
/// # }
/// ```
pub struct OnceCell<T> {
    slot: Slot<T>,
    /// Somebody makes the value, or it is there.
    is_taken: AtomicBool,
    notify: Notify,
}

impl<T> OnceCell<T> {
    /// Makes one without a value.
    pub fn new() -> Self {
        Self::new_with(None)
    }

    /// As [`new`](Self::new), for constants and statics.
    #[cfg(not(loom))]
    pub const fn const_new() -> Self {
        Self { slot: Slot::empty(), is_taken: AtomicBool::new(false), notify: Notify::const_new() }
    }

    /// Makes one, with a value if there is one.
    pub fn new_with(value: Option<T>) -> Self {
        let is_taken = AtomicBool::new(value.is_some());
        Self { slot: Slot::new(value), is_taken, notify: Notify::new() }
    }

    /// Makes one with a value, for constants and statics.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::OnceCell;
    ///
    /// static ANSWER: OnceCell<u32> = OnceCell::const_new_with(42);
    /// assert_eq!(ANSWER.get(), Some(&42));
    /// ```
    #[cfg(not(loom))]
    pub const fn const_new_with(value: T) -> Self {
        Self { slot: Slot::filled(value), is_taken: AtomicBool::new(true), notify: Notify::const_new() }
    }

    /// Whether the value is there.
    pub fn initialized(&self) -> bool {
        self.slot.is_filled()
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&T> {
        self.slot.get()
    }

    /// The value, if it is there, to be changed.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.get_mut()
    }

    /// Sets the value.
    ///
    /// # Errors
    ///
    /// Gives the value back if there is one already, or somebody is making one.
    ///
    /// # Example
    ///
    /// ```
    /// let cell = rt::sync::OnceCell::new();
    /// cell.set(1).unwrap();
    /// assert!(cell.set(2).unwrap_err().is_already_init_err());
    /// ```
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match self.try_make() {
            Some(making) => {
                making.finish(value);
                Ok(())
            }
            None if self.initialized() => Err(SetError::AlreadyInitializedError(value)),
            None => Err(SetError::InitializingError(value)),
        }
    }

    /// The value. If it is not there, makes it with the future of this closure, or waits for the task that makes it.
    ///
    /// # Panics
    ///
    /// Panics if the closure or its future does. Then the next tries. If the future waits for this very cell, neither
    /// ever ends.
    ///
    /// # Cancel safety
    ///
    /// If this is dropped while it makes the value, its future is dropped, and the next tries.
    pub async fn get_or_init<F, Fut>(&self, f: F) -> &T
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        match self.get_or_make().await {
            Ok(value) => value,
            Err(making) => making.finish(f().await),
        }
    }

    /// As [`get_or_init`](Self::get_or_init), with a future that may fail.
    ///
    /// # Errors
    ///
    /// That of the future, if it is this one that makes the value. Others are not told of it: the next tries.
    ///
    /// # Panics, and cancel safety
    ///
    /// As [`get_or_init`](Self::get_or_init).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::OnceCell;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let cell = OnceCell::new();
    /// let failed = cell.get_or_try_init(|| async { "x".parse::<u32>() }).await;
    /// assert!(failed.is_err());
    /// assert_eq!(cell.get_or_try_init(|| async { "7".parse::<u32>() }).await, Ok(&7));
    /// # }
    /// ```
    pub async fn get_or_try_init<E, F, Fut>(&self, f: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        match self.get_or_make().await {
            Ok(value) => Ok(value),
            Err(making) => Ok(making.finish(f().await?)),
        }
    }

    /// The value, if it is there, without the cell.
    pub fn into_inner(mut self) -> Option<T> {
        self.slot.take()
    }

    /// Takes the value out, if it is there, and leaves the cell as new.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, or the right to make it.
    async fn get_or_make(&self) -> Result<&T, Making<'_, T>> {
        coop::cooperative(async {
            loop {
                if let Some(value) = self.get() {
                    return Ok(value);
                }
                let mut notified = pin!(self.notify.notified());
                if let Some(making) = self.try_make() {
                    return Err(making);
                }
                // Somebody makes it, or has made it before the future was made. A task that makes it after that
                // notifies the future; a task that gives up leaves a permit, if nobody waits yet.
                if !self.initialized() {
                    poll_fn(|cx| waits::named(notified.as_mut().poll_freely(cx), Leaf::Lock(LockKind::OnceCell, 0)))
                        .await;
                }
            }
        })
        .await
    }

    fn try_make(&self) -> Option<Making<'_, T>> {
        let taken = self.is_taken.compare_exchange(false, true, AcqRel, Acquire);
        taken.is_ok().then(|| Making { cell: self })
    }
}

/// The right to make the value of a cell, which has none. Dropped, it goes to the next.
struct Making<'a, T> {
    cell: &'a OnceCell<T>,
}

impl<'a, T> Making<'a, T> {
    fn finish(self, value: T) -> &'a T {
        let cell = self.cell;
        std::mem::forget(self);
        // SAFETY: it has no value: nobody else has had the right and made one.
        let value = unsafe { cell.slot.fill(value) };
        cell.notify.notify_waiters();
        value
    }
}

impl<T> Drop for Making<'_, T> {
    fn drop(&mut self) {
        self.cell.is_taken.store(false, Release);
        self.cell.notify.notify_one();
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.get()).finish()
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

/// A [`OnceCell`] does not take a value by [`set`](OnceCell::set). Here is the value.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// There is one already.
    AlreadyInitializedError(T),
    /// Somebody is making one.
    InitializingError(T),
}

impl<T> SetError<T> {
    /// Whether there is a value already.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, Self::AlreadyInitializedError(_))
    }

    /// Whether somebody is making a value.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, Self::InitializingError(_))
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyInitializedError(_) => "AlreadyInitializedError",
            Self::InitializingError(_) => "InitializingError",
        })
    }
}

impl<T: fmt::Debug> Error for SetError<T> {}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::test_wakers::Count;

    #[test]
    fn one_makes_the_value_for_all_that_wait() {
        let cell = OnceCell::new();
        let count = Count::new();
        let mut cx = Context::from_waker(Waker::noop());
        let mut making = Box::pin(cell.get_or_init(pending));
        assert!(making.as_mut().poll(&mut cx).is_pending());
        assert_eq!(cell.set(1), Err(SetError::InitializingError(1)));
        let mut waits: Vec<_> = (0..3).map(|n| Box::pin(cell.get_or_init(move || ready(n)))).collect();
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        }
        drop(making);
        assert_eq!(count.wakes(), 1, "the one that has waited longest");
        assert_eq!(waits[0].as_mut().poll(&mut cx), Poll::Ready(&0));
        assert_eq!(count.wakes(), 3);
        for wait in &mut waits[1..] {
            assert_eq!(wait.as_mut().poll(&mut cx), Poll::Ready(&0));
        }
        assert_eq!(cell.set(1), Err(SetError::AlreadyInitializedError(1)));
    }

    #[test]
    fn a_dropped_waiter_hands_its_turn_on() {
        let cell = OnceCell::new();
        let mut cx = Context::from_waker(Waker::noop());
        let mut making = Box::pin(cell.get_or_init(pending));
        assert!(making.as_mut().poll(&mut cx).is_pending());
        let count = Count::new();
        let (mut first, mut second) =
            (Box::pin(cell.get_or_init(|| ready(1))), Box::pin(cell.get_or_init(|| ready(2))));
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        drop(making);
        drop(first);
        assert_eq!(count.wakes(), 1);
        assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(&2));
    }

    #[test]
    fn a_value_is_taken_dropped_and_made_anew() {
        let value = Arc::new(());
        let mut cell = OnceCell::from(value.clone());
        assert!(cell.get_mut().is_some());
        drop(cell.take());
        assert_eq!(Arc::strong_count(&value), 1);
        assert_eq!(cell.set(value.clone()), Ok(()));
        drop(cell);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn one_of_many_tasks_makes_the_value_though_others_fail() {
        let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(async {
            let (cell, tries) = (Arc::new(OnceCell::new()), Arc::new(AtomicUsize::new(0)));
            let tasks: Vec<_> = (0..100)
                .map(|_| {
                    let (cell, tries) = (cell.clone(), tries.clone());
                    rt::spawn(async move {
                        let make = || async {
                            rt::task::yield_now().await;
                            let nth = tries.fetch_add(1, Ordering::Relaxed);
                            if nth < 50 { Err(nth) } else { Ok(nth) }
                        };
                        cell.get_or_try_init(make).await.copied()
                    })
                })
                .collect();
            let mut failed = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(value) => assert_eq!(value, 50),
                    Err(_) => failed += 1,
                }
            }
            assert_eq!((failed, tries.load(Ordering::Relaxed)), (50, 51));
        });
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use std::task::{Context, Poll, Waker};

    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::test_wakers::Count;

    /// One gives up making the value while another waits for it, and then makes it itself.
    #[test]
    fn loom_the_right_to_make_the_value_is_not_lost() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let cell = Arc::new(OnceCell::new());
            let theirs = cell.clone();
            let maker = thread::spawn(move || {
                if let Some(making) = theirs.try_make() {
                    drop(making);
                }
            });
            let count = Count::new();
            let mut wait = Box::pin(cell.get_or_init(|| std::future::ready(2)));
            let early = wait.as_mut().poll(&mut Context::from_waker(&count.waker()));
            maker.join().unwrap();
            if early.is_pending() {
                assert_eq!(count.wakes(), 1, "what was told to wait is woken");
                let mut cx = Context::from_waker(Waker::noop());
                assert_eq!(wait.as_mut().poll(&mut cx), Poll::Ready(&2));
            }
            assert_eq!(cell.get(), Some(&2));
        });
    }

    /// Two make it: one value is there, and both see it.
    #[test]
    fn loom_one_of_two_makes_the_value() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let cell = Arc::new(OnceCell::new());
            let theirs = cell.clone();
            let other = thread::spawn(move || theirs.set(1).is_ok());
            let count = Count::new();
            let mut wait = Box::pin(cell.get_or_init(|| std::future::ready(2)));
            let early = wait.as_mut().poll(&mut Context::from_waker(&count.waker()));
            let expected = if other.join().unwrap() { 1 } else { 2 };
            match early {
                Poll::Ready(value) => assert_eq!(*value, expected),
                Poll::Pending => {
                    assert_eq!(count.wakes(), 1, "what was told to wait is woken");
                    let mut cx = Context::from_waker(Waker::noop());
                    assert_eq!(wait.as_mut().poll(&mut cx), Poll::Ready(&expected));
                }
            }
        });
    }
}
