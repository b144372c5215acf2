//! [`Semaphore`]: a number of permits, which are given out in turn.

mod acquire;
pub(crate) mod batch;
mod error;
#[cfg(all(test, loom))]
mod loom_tests;
mod permit;
#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::Arc;

pub(crate) use self::acquire::Permits;
use self::batch::Batch;
pub use self::error::{AcquireError, TryAcquireError};
pub use self::permit::{OwnedSemaphorePermit, SemaphorePermit};
use crate::blocking::block_on;

/// A number of permits, which are given out in turn.
///
/// A task that acquires a permit waits until one is free. When the permit is dropped, it is free again. So at most as
/// many tasks are past that point at a time as there are permits. A semaphore can be given more permits, and be
/// deprived of some, while it is in use.
///
/// # Fairness
///
/// First come, first served. One that wants many permits is not overtaken by others that want fewer: the permits that
/// become free are kept for it until there are enough. A `try_acquire` succeeds only if nobody waits.
///
/// # Memory
///
/// Four words. A waiter is part of the future that waits; nothing is allocated. To acquire a free permit, and to give
/// it back while nobody waits, takes one atomic exchange each.
///
/// # Example
///
/// At most three requests at a time:
///
/// ```
/// use std::sync::Arc;
/// use rt::sync::Semaphore;
///
/// # async fn request(_: u32) {}
/// # #[rt::main]
/// # async fn main() {
/// let semaphore = Arc::new(Semaphore::new(3));
/// let mut tasks = Vec::new();
/// for i in 0..10 {
///     let permit = semaphore.clone().acquire_owned().await.unwrap();
///     tasks.push(rt::spawn(async move {
///         request(i).await;
///         drop(permit);
///     }));
/// }
/// for task in tasks {
///     task.await.unwrap();
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Semaphore {
    batch: Batch,
}

impl Semaphore {
    /// The greatest number of permits that a semaphore can have.
    pub const MAX_PERMITS: usize = Batch::MAX_PERMITS;

    /// Makes one that has `permits` free permits.
    ///
    /// # Panics
    ///
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self { batch: Batch::new(permits) }
    }

    /// As [`new`](Self::new), for constants and statics.
    ///
    /// # Example
    ///
    /// ```
    /// static CONNECTIONS: rt::sync::Semaphore = rt::sync::Semaphore::const_new(100);
    /// ```
    #[cfg(not(loom))]
    pub const fn const_new(permits: usize) -> Self {
        Self { batch: Batch::const_new(permits) }
    }

    /// How many permits are free now.
    pub fn available_permits(&self) -> usize {
        self.batch.available()
    }

    /// Adds permits, and gives them to those that wait.
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS) free.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.batch.release(n);
    }

    /// Takes up to `n` of the free permits away for good. Returns how many it has taken.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.batch.forget(n)
    }

    /// Acquires a permit, waiting for its turn.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::Semaphore;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let semaphore = Semaphore::new(2);
    /// let permit = semaphore.acquire().await.unwrap();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// drop(permit);
    /// assert_eq!(semaphore.available_permits(), 2);
    /// # }
    /// ```
    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        if !self.batch.acquire_now(1) {
            self.batch.acquire(1).await?;
        }
        Ok(SemaphorePermit::new(self, 1))
    }

    /// Acquires `n` permits at once, waiting for its turn. Otherwise as [`acquire`](Self::acquire).
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line, and the permits that it has so far go to others.
    pub async fn acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        if !self.batch.acquire_now(n as usize) {
            self.batch.acquire(n as usize).await?;
        }
        Ok(SemaphorePermit::new(self, n as usize))
    }

    /// Acquires a permit if one is free now.
    ///
    /// # Errors
    ///
    /// [`TryAcquireError::Closed`] if the semaphore is closed, [`TryAcquireError::NoPermits`] if no permit is free.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Acquires `n` permits if as many are free now.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.batch.try_acquire(n as usize)?;
        Ok(SemaphorePermit::new(self, n as usize))
    }

    /// As [`acquire`](Self::acquire), for a plain thread, which waits.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// As [`acquire_many`](Self::acquire_many), for a plain thread, which waits.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(n))
    }

    /// As [`acquire`](Self::acquire), for a permit that keeps the semaphore alive and can be moved to a task.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line.
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        if !self.batch.acquire_now(1) {
            self.batch.acquire(1).await?;
        }
        Ok(OwnedSemaphorePermit::new(self, 1))
    }

    /// As [`acquire_many`](Self::acquire_many), for a permit that keeps the semaphore alive and can be moved to a task.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line, and the permits that it has so far go to others.
    pub async fn acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        if !self.batch.acquire_now(n as usize) {
            self.batch.acquire(n as usize).await?;
        }
        Ok(OwnedSemaphorePermit::new(self, n as usize))
    }

    /// As [`try_acquire`](Self::try_acquire), for a permit that keeps the semaphore alive and can be moved to a task.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`try_acquire_many`](Self::try_acquire_many), for a permit that keeps the semaphore alive and can be moved to
    /// a task.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.batch.try_acquire(n as usize)?;
        Ok(OwnedSemaphorePermit::new(self, n as usize))
    }

    /// As [`acquire_owned`](Self::acquire_owned), for a plain thread, which waits.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_owned())
    }

    /// As [`acquire_many_owned`](Self::acquire_many_owned), for a plain thread, which waits.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, or becomes so meanwhile.
    ///
    /// # Panics
    ///
    /// Inside a runtime, in a task or in `block_on`: it would hold up other tasks.
    #[track_caller]
    pub fn blocking_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_many_owned(n))
    }

    /// Gives out no permits any more: a task that waits for some, or asks from now on, gets an error. Permits that are
    /// out stay as they are.
    pub fn close(&self) {
        self.batch.close();
    }

    /// Whether the semaphore is closed.
    pub fn is_closed(&self) -> bool {
        self.batch.is_closed()
    }
}
