//! A lock with a condition variable for threads that may wait for long: those without work, and those that wait for the
//! end of others.
//!
//! The standard library's, in parking_lot's shape. A thread that waits in parking_lot's stands in a table of the
//! process. A forked child has that table, with entries of threads that it does not have. The stacks on which these
//! entries lie are given to its own threads, and then whoever follows the table waits for ever, or reads what is none.
//! So no thread may wait in it but for a moment: `clippy.toml` disallows parking_lot's `Condvar`.
//!
//! As with parking_lot's, a panic does not poison a lock.

// With ThreadSanitizer it is parking_lot's.
#![allow(clippy::disallowed_types)]

use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError};
use std::time::Instant;

use crate::clock::Clock;

/// parking_lot's `Mutex`, as far as it is needed.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

/// Has a guard at all times but while it waits, or is [unlocked](Self::unlocked).
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    lock: &'a sync::Mutex<T>,
    guard: Option<sync::MutexGuard<'a, T>>,
}

const LOCKED: &str = "the guard is there unless the thread waits";

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Locks, waiting if it must.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { lock: &self.0, guard: Some(lock(&self.0)) }
    }
}

#[inline]
fn lock<T>(mutex: &sync::Mutex<T>) -> sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> MutexGuard<'_, T> {
    /// Calls a function without the lock.
    pub fn unlocked<R>(guard: &mut Self, f: impl FnOnce() -> R) -> R {
        guard.guard = None;
        let result = f();
        guard.guard = Some(lock(guard.lock));
        result
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.guard.as_ref().expect(LOCKED)
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect(LOCKED)
    }
}

/// parking_lot's `Condvar`, as far as it is needed. Waits may end for no reason.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

/// Whether the time was up before anybody notified.
#[derive(Debug)]
pub struct WaitTimeoutResult(bool);

impl Condvar {
    /// Makes one.
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Waits for a notification.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let inner = guard.guard.take().expect(LOCKED);
        guard.guard = Some(self.0.wait(inner).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for a notification, until then at most.
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> WaitTimeoutResult {
        let inner = guard.guard.take().expect(LOCKED);
        let left = deadline.saturating_duration_since(Clock::real());
        let (inner, result) = self.0.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner);
        guard.guard = Some(inner);
        WaitTimeoutResult(result.timed_out())
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl WaitTimeoutResult {
    /// See the type.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}
