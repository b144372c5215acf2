//! [`RwLock`]: a lock for many readers or one writer, which can be held over an `await`.

mod guards;
mod owned_guards;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;

pub use self::guards::{RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard};
pub use self::owned_guards::{OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
use crate::TryLockError;
use crate::blocking::block_on;
use crate::guard::Lock;
use crate::semaphore::Permits;
use crate::semaphore::batch::Batch;

/// As many readers there may be at a time, if the lock is not made for another number.
const MAX_READERS: u32 = u32::MAX >> 3;

/// A lock for many readers or one writer, which can be held over an `await`.
///
/// A panic while the lock is held just releases it: there is no poisoning.
///
/// # Fairness
///
/// First come, first served, readers and writers in one line. So readers that come while a writer waits stand behind
/// it, and it is not overtaken for ever. A task that reads, and reads once more while a writer waits in between, waits
/// for itself.
///
/// # Memory
///
/// Five words beside the data. A waiter is part of the future that waits; nothing is allocated. To lock what is free,
/// and to unlock it while nobody waits, takes one atomic exchange each.
///
/// # Example
///
/// ```
/// use rt::sync::RwLock;
///
/// # #[rt::main]
/// # async fn main() {
/// let lock = RwLock::new(5);
/// {
///     let (one, two) = (lock.read().await, lock.read().await);
///     assert_eq!(*one + *two, 10);
/// }
/// *lock.write().await += 1;
/// assert_eq!(lock.into_inner(), 6);
/// # }
/// ```
pub struct RwLock<T: ?Sized> {
    batch: Batch,
    /// A reader has one permit, the writer this many, which are all.
    max_readers: u32,
    data: UnsafeCell<T>,
}

// SAFETY: the data goes with it.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: many threads may look at the data, and any may have it to itself.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> Lock for RwLock<T> {
    fn batch(&self) -> &Batch {
        &self.batch
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Makes one that nobody holds.
    pub fn new(value: T) -> Self
    where
        T: Sized,
    {
        Self::with_max_readers(value, MAX_READERS)
    }

    /// As [`new`](Self::new), for `max_reads` readers at a time. Further ones wait.
    ///
    /// # Panics
    ///
    /// If `max_reads` is zero, or greater than `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> Self
    where
        T: Sized,
    {
        assert_possible(max_reads);
        Self { batch: Batch::new(max_reads as usize), max_readers: max_reads, data: UnsafeCell::new(value) }
    }

    /// As [`new`](Self::new), for constants and statics.
    ///
    /// # Example
    ///
    /// ```
    /// static LEVEL: rt::sync::RwLock<u32> = rt::sync::RwLock::const_new(5);
    /// ```
    #[cfg(not(loom))]
    pub const fn const_new(value: T) -> Self
    where
        T: Sized,
    {
        Self::const_with_max_readers(value, MAX_READERS)
    }

    /// As [`with_max_readers`](Self::with_max_readers), for constants and statics.
    #[cfg(not(loom))]
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> Self
    where
        T: Sized,
    {
        assert_possible(max_reads);
        Self { batch: Batch::const_new(max_reads as usize), max_readers: max_reads, data: UnsafeCell::new(value) }
    }

    /// Locks for reading, waiting for its turn. The guard unlocks when it is dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn read(&self) -> RwLockReadGuard<'_, T> {
        if !self.batch.acquire_now(1) {
            self.wait(1).await;
        }
        RwLockReadGuard::new(self)
    }

    /// As [`read`](Self::read), for a plain thread, which waits.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// As [`read`](Self::read), for a guard that keeps the lock alive and can be moved to a task.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn read_owned(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {
        if !self.batch.acquire_now(1) {
            self.wait(1).await;
        }
        OwnedRwLockReadGuard::new(self)
    }

    /// Locks for reading, if no writer holds the lock, and nobody waits.
    ///
    /// # Errors
    ///
    /// If it would have to wait.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        self.try_acquire(1)?;
        Ok(RwLockReadGuard::new(self))
    }

    /// As [`try_read`](Self::try_read), for a guard that keeps the lock alive and can be moved to a task.
    ///
    /// # Errors
    ///
    /// If it would have to wait.
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        self.try_acquire(1)?;
        Ok(OwnedRwLockReadGuard::new(self))
    }

    /// Locks for writing, waiting for its turn. The guard unlocks when it is dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn write(&self) -> RwLockWriteGuard<'_, T> {
        if !self.batch.acquire_now(self.all()) {
            self.wait(self.all()).await;
        }
        RwLockWriteGuard::new(self)
    }

    /// As [`write`](Self::write), for a plain thread, which waits.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// As [`write`](Self::write), for a guard that keeps the lock alive and can be moved to a task.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn write_owned(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {
        if !self.batch.acquire_now(self.all()) {
            self.wait(self.all()).await;
        }
        OwnedRwLockWriteGuard::new(self)
    }

    /// Locks for writing, if nobody holds the lock.
    ///
    /// # Errors
    ///
    /// If somebody does.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        self.try_acquire(self.all())?;
        Ok(RwLockWriteGuard::new(self))
    }

    /// As [`try_write`](Self::try_write), for a guard that keeps the lock alive and can be moved to a task.
    ///
    /// # Errors
    ///
    /// If somebody holds the lock.
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        self.try_acquire(self.all())?;
        Ok(OwnedRwLockWriteGuard::new(self))
    }

    /// The data, without locking: nobody else can have the lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }

    /// Takes the data out.
    pub fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.data.into_inner()
    }

    fn all(&self) -> usize {
        self.max_readers as usize
    }

    async fn wait(&self, permits: usize) {
        let what = if permits == 1 { Permits::ToRead } else { Permits::ToWrite };
        if self.batch.acquire_as(permits, what).await.is_err() {
            unreachable!("the semaphore of a lock is never closed");
        }
    }

    fn try_acquire(&self, permits: usize) -> Result<(), TryLockError> {
        self.batch.try_acquire(permits).map_err(|_| TryLockError(()))
    }
}

#[track_caller]
const fn assert_possible(max_readers: u32) {
    assert!(max_readers > 0, "a RwLock may not be created with 0 readers");
    assert!(max_readers <= MAX_READERS, "a lock cannot have more than `u32::MAX >> 3` readers at a time");
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => debug.field("data", &&*guard),
            Err(_) => debug.field("data", &format_args!("<locked>")),
        };
        debug.finish()
    }
}
