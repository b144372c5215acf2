//! [`SetOnce`]: a value that is set once, and can be waited for.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;

use runtime_core::coop::cooperative;
use runtime_core::task::LockKind;
use runtime_core::task::waits::{self, Leaf};

use crate::Notify;
use crate::slot::Slot;

/// A value that is set once, and that any number of tasks can wait for.
///
/// As [`OnceCell`](crate::OnceCell), but the reader of the value does not know how to make it: it waits for somebody
/// who does. Once it is set, to read it is one load.
///
/// # Fairness
///
/// All that wait are woken at once, in the order in which they began.
///
/// # Memory
///
/// The value, a flag, and a [`Notify`]. Nothing is allocated.
///
/// # Example
///
/// ```
/// use rt::sync::SetOnce;
///
/// static CONFIG: SetOnce<String> = SetOnce::const_new();
///
/// # #[rt::main]
/// # async fn main() {
/// let reader = rt::spawn(async { CONFIG.wait().await.len() });
/// CONFIG.set("verbose".to_string()).unwrap();
/// assert_eq!(reader.await.unwrap(), 7);
/// assert_eq!(CONFIG.get().unwrap(), "verbose");
/// # }
/// ```
pub struct SetOnce<T> {
    slot: Slot<T>,
    /// Its lock is for those that would set the value.
    notify: Notify,
}

impl<T> SetOnce<T> {
    /// Makes one without a value.
    pub fn new() -> Self {
        Self::new_with(None)
    }

    /// As [`new`](Self::new), for constants and statics.
    #[cfg(not(loom))]
    pub const fn const_new() -> Self {
        Self { slot: Slot::empty(), notify: Notify::const_new() }
    }

    /// Makes one, with a value if there is one.
    pub fn new_with(value: Option<T>) -> Self {
        Self { slot: Slot::new(value), notify: Notify::new() }
    }

    /// Makes one with a value, for constants and statics.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::SetOnce;
    ///
    /// static ANSWER: SetOnce<u32> = SetOnce::const_new_with(42);
    /// assert_eq!(ANSWER.get(), Some(&42));
    /// ```
    #[cfg(not(loom))]
    pub const fn const_new_with(value: T) -> Self {
        Self { slot: Slot::filled(value), notify: Notify::const_new() }
    }

    /// Whether the value is set.
    pub fn initialized(&self) -> bool {
        self.slot.is_filled()
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<&T> {
        self.slot.get()
    }

    /// Sets the value, and wakes those that wait for it.
    ///
    /// # Errors
    ///
    /// Gives the value back if one is set already.
    ///
    /// # Example
    ///
    /// ```
    /// let once = rt::sync::SetOnce::new();
    /// once.set(1).unwrap();
    /// assert_eq!(once.set(2).unwrap_err().0, 2);
    /// ```
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        let mut value = Some(value);
        if !self.initialized() {
            self.notify.notify_all_and(|| {
                if self.initialized() {
                    return false;
                }
                // SAFETY: it is empty, and only who has the lock fills it.
                value.take().map(|value| unsafe { self.slot.fill(value) }).is_some()
            });
        }
        value.map_or(Ok(()), |value| Err(SetOnceError(value)))
    }

    /// The value, if it is set, without the rest.
    pub fn into_inner(mut self) -> Option<T> {
        self.slot.take()
    }

    /// Waits for the value.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, nothing happens.
    pub async fn wait(&self) -> &T {
        cooperative(async {
            loop {
                if let Some(value) = self.get() {
                    return value;
                }
                let mut notified = pin!(self.notify.notified());
                // After the future was made: if the value is set from here on, it is notified.
                if !self.initialized() {
                    poll_fn(|cx| waits::named(notified.as_mut().poll_freely(cx), Leaf::Lock(LockKind::OnceCell, 0)))
                        .await;
                }
            }
        })
        .await
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.get()).finish()
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

/// The value of a [`SetOnce`] is set already. Here is the other.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::future::Future;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::test_wakers::Count;

    #[test]
    fn all_that_wait_are_woken_by_the_first_value() {
        let once = SetOnce::new();
        let count = Count::new();
        let mut waits: Vec<_> = (0..100).map(|_| Box::pin(once.wait())).collect();
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        }
        assert_eq!(once.set(1), Ok(()));
        assert_eq!(once.set(2), Err(SetOnceError(2)));
        assert_eq!(count.wakes(), 100);
        for wait in &mut waits {
            assert_eq!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(&1));
        }
    }

    #[test]
    fn the_value_is_dropped_once() {
        let value = Arc::new(());
        drop(SetOnce::from(value.clone()));
        let once = SetOnce::new();
        once.set(value.clone()).unwrap();
        assert_eq!(Arc::strong_count(&value), 2);
        drop(once.clone().into_inner());
        drop(once);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn one_of_many_threads_sets_the_value_and_all_see_it() {
        for _ in 0..200 {
            let once = Arc::new(SetOnce::new());
            let threads = [0, 1, 2, 3].map(|n| {
                let once = once.clone();
                std::thread::spawn(move || {
                    let was_first = once.set(Box::new(n)).is_ok();
                    let value = **crate::blocking::block_on(once.wait());
                    assert_eq!(was_first, value == n);
                })
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::test_wakers::Count;

    /// Two set it, and one waits: one value is set, and the waiter sees it, and is woken if it was told to wait.
    #[test]
    fn loom_one_value_is_set_and_seen() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let once = Arc::new(SetOnce::new());
            let theirs = once.clone();
            let setter = thread::spawn(move || theirs.set(1).is_ok());
            let count = Count::new();
            let mut wait = Box::pin(once.wait());
            let early = wait.as_mut().poll(&mut Context::from_waker(&count.waker()));
            let was_mine = once.set(2).is_ok();
            assert_ne!(setter.join().unwrap(), was_mine);
            let expected = if was_mine { 2 } else { 1 };
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
