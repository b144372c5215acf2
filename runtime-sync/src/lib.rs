//! Channels and locks for asynchronous code: `rt::sync`.
//!
//! This crate is re-exported as `rt::sync`, and [`task`] as a part of `rt::task`; use it from there. Everything here
//! but what spawns works on rt, on any other executor, and between plain threads. On rt each operation that is awaited
//! spends the task's budget.

mod barrier;
mod blocking;
pub mod broadcast;
mod cancellation;
pub mod futures;
mod guard;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod panics;
mod rwlock;
mod scope;
mod semaphore;
mod set_once;
mod slot;
mod task_tracker;
#[cfg(test)]
mod test_wakers;
mod timeout;
mod waiters;
pub mod watch;

pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError};
pub use self::notify::Notify;
pub use self::once_cell::{OnceCell, SetError};
pub use self::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard,
};
pub use self::semaphore::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
pub use self::set_once::{SetOnce, SetOnceError};

/// Groups of tasks: a part of `rt::task`.
pub mod task {
    pub use crate::cancellation::{
        CancellationToken, DropGuard, DropGuardRef, WaitForCancellationFuture, WaitForCancellationFutureOwned,
    };
    pub use crate::scope::{Scope, scope};
    pub use crate::task_tracker::TaskTracker;

    /// The futures and tokens of [`TaskTracker`].
    pub mod task_tracker {
        pub use crate::task_tracker::{TaskTracker, TaskTrackerToken, TaskTrackerWaitFuture, TrackedFuture};
    }
}
