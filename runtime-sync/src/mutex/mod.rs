//! [`Mutex`]: a lock that can be held over an `await`.

mod guards;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::UnsafeCell;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

pub use self::guards::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use crate::blocking::block_on;
use crate::guard::Lock;
use crate::semaphore::Permits;
use crate::semaphore::batch::Batch;

/// A lock that can be held over an `await`.
///
/// For data that is only touched between two `await`s, a lock of the standard library or of `parking_lot` is faster.
/// This one is for what has to be held meanwhile, such as a connection.
///
/// A panic while the lock is held just releases it: there is no poisoning.
///
/// # Fairness
///
/// First come, first served. A `try_lock` succeeds only if nobody waits.
///
/// # Memory
///
/// Four words beside the data. A waiter is part of the future that waits; nothing is allocated. To lock what is free,
/// and to unlock it while nobody waits, takes one atomic exchange each.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use rt::sync::Mutex;
///
/// # #[rt::main]
/// # async fn main() {
/// let count = Arc::new(Mutex::new(0));
/// let mut tasks = Vec::new();
/// for _ in 0..10 {
///     let count = count.clone();
///     tasks.push(rt::spawn(async move {
///         let mut count = count.lock().await;
///         rt::task::yield_now().await;
///         *count += 1;
///     }));
/// }
/// for task in tasks {
///     task.await.unwrap();
/// }
/// assert_eq!(*count.lock().await, 10);
/// # }
/// ```
pub struct Mutex<T: ?Sized> {
    batch: Batch,
    data: UnsafeCell<T>,
}

// SAFETY: the data goes with it.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: one at a time gets at the data, on whatever thread.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> Lock for Mutex<T> {
    fn batch(&self) -> &Batch {
        &self.batch
    }
}

/// The lock is held by somebody, so that [`Mutex::try_lock`], [`RwLock::try_read`](crate::RwLock::try_read) or one of
/// their siblings would have to wait.
#[derive(Debug)]
pub struct TryLockError(pub(crate) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl Error for TryLockError {}

impl<T: ?Sized> Mutex<T> {
    /// Makes one that nobody holds.
    pub fn new(t: T) -> Self
    where
        T: Sized,
    {
        Self { batch: Batch::new(1), data: UnsafeCell::new(t) }
    }

    /// As [`new`](Self::new), for constants and statics.
    ///
    /// # Example
    ///
    /// ```
    /// static NAMES: rt::sync::Mutex<Vec<String>> = rt::sync::Mutex::const_new(Vec::new());
    /// ```
    #[cfg(not(loom))]
    pub const fn const_new(t: T) -> Self
    where
        T: Sized,
    {
        Self { batch: Batch::const_new(1), data: UnsafeCell::new(t) }
    }

    /// Locks, waiting for its turn. The guard unlocks when it is dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        if !self.batch.acquire_now(1) {
            self.wait().await;
        }
        MutexGuard::new(self)
    }

    /// As [`lock`](Self::lock), for a plain thread, which waits.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// As [`lock_owned`](Self::lock_owned), for a plain thread, which waits.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// As [`lock`](Self::lock), for a guard that keeps the mutex alive and can be moved to a task.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        if !self.batch.acquire_now(1) {
            self.wait().await;
        }
        OwnedMutexGuard::new(self)
    }

    /// Locks, if nobody holds the lock.
    ///
    /// # Errors
    ///
    /// If somebody does.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        self.try_acquire()?;
        Ok(MutexGuard::new(self))
    }

    /// As [`try_lock`](Self::try_lock), for a guard that keeps the mutex alive and can be moved to a task.
    ///
    /// # Errors
    ///
    /// If somebody holds the lock.
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        self.try_acquire()?;
        Ok(OwnedMutexGuard::new(self))
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

    async fn wait(&self) {
        if self.batch.acquire_as(1, Permits::OfMutex).await.is_err() {
            unreachable!("the semaphore of a mutex is never closed");
        }
    }

    fn try_acquire(&self) -> Result<(), TryLockError> {
        self.batch.try_acquire(1).map_err(|_| TryLockError(()))
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(t: T) -> Self {
        Self::new(t)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => debug.field("data", &&*guard),
            Err(_) => debug.field("data", &format_args!("<locked>")),
        };
        debug.finish()
    }
}
