//! Channels and locks for asynchronous code.
//!
//! They work on rt, on any other executor, and between plain threads. On rt each operation that is awaited spends the
//! task's budget, so that a loop over one lets other tasks run. What ends in `_owned` gives a guard or permit that
//! keeps its lock alive, and can be moved to another task. What begins with `blocking_` is for plain threads, and
//! panics in a task.
//!
//! | to | use |
//! |---|---|
//! | send values to one receiver, in order | [`mpsc`] |
//! | send one value | [`oneshot`] |
//! | send every value to all receivers | [`broadcast`] |
//! | let others see the last value | [`watch`] |
//! | tell that something has happened | [`Notify`] |
//! | limit how many do something at a time | [`Semaphore`] |
//! | hold a lock over an `await` | [`Mutex`], [`RwLock`] |
//! | wait until all have arrived | [`Barrier`] |
//! | make a value once | [`OnceCell`], [`SetOnce`] |
//!
//! # Example
//!
//! ```
//! use rt::sync::{mpsc, oneshot};
//!
//! # #[rt::main]
//! # async fn main() {
//! // A task that owns a counter, and others that ask it.
//! let (tx, mut rx) = mpsc::channel::<oneshot::Sender<u32>>(16);
//! rt::spawn(async move {
//!     let mut count = 0;
//!     while let Some(answer) = rx.recv().await {
//!         count += 1;
//!         let _ = answer.send(count);
//!     }
//! });
//! let (answer, count) = oneshot::channel();
//! tx.send(answer).await.unwrap();
//! assert_eq!(count.await, Ok(1));
//! # }
//! ```

#[doc(inline)]
pub use runtime_sync::{
    AcquireError, Barrier, BarrierWaitResult, MappedMutexGuard, Mutex, MutexGuard, Notify, OnceCell,
    OwnedMappedMutexGuard, OwnedMutexGuard, OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    OwnedSemaphorePermit, RwLock, RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, Semaphore,
    SemaphorePermit, SetError, SetOnce, SetOnceError, TryAcquireError, TryLockError,
};
#[doc(inline)]
pub use runtime_sync::{broadcast, futures, mpsc, oneshot, watch};
