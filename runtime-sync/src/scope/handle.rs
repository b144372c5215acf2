//! [`Scope`]: what a body spawns its children by.

use std::fmt;
use std::future::{Future, pending};
use std::panic::{self, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use runtime_core::{JoinError, JoinHandle, spawn, spawn_blocking, spawn_local};

use super::CURRENT;
use super::child::{Child, Shared};
use super::group::{Group, Member, Seat};
use crate::task::CancellationToken;

/// Spawns tasks into a [`scope`](super::scope). Clones are for the same scope, and may be given to children.
///
/// When the scope is over, or about to end by a failure, nothing can be spawned into it: the future is dropped without
/// being run, and its handle says that it was cancelled.
pub struct Scope<E> {
    shared: Arc<Shared<E>>,
}

// What is behind locks is in order whenever foreign code runs, so a panic of that does no harm.
impl<E> UnwindSafe for Scope<E> {}
impl<E> RefUnwindSafe for Scope<E> {}

impl<E> Scope<E> {
    pub(super) fn new(shared: Arc<Shared<E>>) -> Self {
        Self { shared }
    }

    /// Spawns a child, as [`spawn`] spawns a task.
    ///
    /// The handle gives the value of the child. It says that the child was cancelled if that was aborted, or if it
    /// failed: the error, or the panic, is the scope's then. To drop the handle changes nothing.
    ///
    /// To abort a child by its handle is no failure of the scope.
    ///
    /// # Panics
    ///
    /// If there is no current runtime.
    ///
    /// # Example
    ///
    /// A child that spawns others:
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let done = rt::task::scope(async |s| {
    ///     let same = s.clone();
    ///     s.spawn(async move {
    ///         for n in 0..3 {
    ///             same.spawn(async move { Ok(println!("{n}")) });
    ///         }
    ///         Ok::<_, std::io::Error>(())
    ///     });
    ///     Ok("all has been printed")
    /// });
    /// assert_eq!(done.await.unwrap(), "all has been printed");
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, future: F) -> JoinHandle<T>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        let Some(seat) = self.group().enter_child() else {
            drop(future);
            return aborted(spawn(pending()));
        };
        let number = seat.number();
        self.seated(number, spawn(self.child(future, seat)))
    }

    /// Spawns a child that stays on this thread, as [`spawn_local`] spawns a task.
    ///
    /// # Panics
    ///
    /// Outside of a [`LocalSet`](runtime_core::LocalSet) and of a `LocalRuntime`.
    ///
    /// # Example
    ///
    /// ```
    /// use std::rc::Rc;
    /// use rt::task::{LocalSet, scope};
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let sum = scope(async |s| {
    ///     let number = Rc::new(7);
    ///     let task = s.spawn_local({
    ///         let number = number.clone();
    ///         async move { Ok::<_, ()>(*number) }
    ///     });
    ///     Ok(*number + task.await.unwrap())
    /// });
    /// assert_eq!(LocalSet::new().run_until(sum).await, Ok(14));
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F, T>(&self, future: F) -> JoinHandle<T>
    where
        F: Future<Output = Result<T, E>> + 'static,
        T: 'static,
        E: 'static,
    {
        let Some(seat) = self.group().enter_child() else {
            drop(future);
            return aborted(spawn_local(pending()));
        };
        let number = seat.number();
        self.seated(number, spawn_local(self.child(future, seat)))
    }

    /// Runs a closure on the blocking pool, as [`spawn_blocking`] does. The scope waits for it.
    ///
    /// A closure that has begun cannot be aborted: a scope that fails waits until it returns. A long one may look at
    /// the scope's [`token`](Self::token) from time to time, which is cancelled then. One that has not begun is
    /// aborted, and does not run. But it stays in the queue of the pool until a thread of that comes to it and drops
    /// it, and the scope waits for this too: if all threads are busy, with closures of others perhaps, it waits for
    /// one of them.
    ///
    /// # Panics
    ///
    /// If there is no current runtime.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let text = rt::task::scope(async |s| {
    ///     let text = s.spawn_blocking(|| std::fs::read_to_string("Cargo.toml"));
    ///     Ok(text.await?)
    /// });
    /// assert!(text.await.unwrap().contains("[package]"));
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        let (Some(member), Some(seat)) = (self.group().enter(), self.group().enter_child()) else {
            drop(f);
            return aborted(spawn(pending()));
        };
        let job = Job { f, _member: member };
        let mut blocking = AbortOnDrop(spawn_blocking(move || job.run()));
        let (group, number) = (self.group().clone(), seat.number());
        // The child waits for the closure, so that what becomes of that is treated as of any child. The closure is a
        // member by itself, because the child may be aborted while it runs.
        let child = async move {
            match (&mut blocking.0).await.map_err(JoinError::try_into_panic) {
                Ok(result) => result,
                Err(Ok(payload)) => panic::resume_unwind(payload),
                Err(Err(_)) => {
                    // It was not run: there is no thread for it. So the child has no value either.
                    group.abort(number);
                    pending().await
                }
            }
        };
        self.seated(number, spawn(self.child(child, seat)))
    }

    /// Aborts the children that there are, and leaves the scope open: for a body that has what it wanted.
    ///
    /// # Example
    ///
    /// ```
    /// use std::future::pending;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let first = rt::task::scope(async |s| {
    ///     let (tx, mut rx) = rt::sync::mpsc::channel(1);
    ///     s.spawn(async move { Ok(tx.send(7).await.unwrap()) });
    ///     s.spawn(pending::<Result<(), ()>>());
    ///     let first = rx.recv().await;
    ///     s.abort_all();
    ///     Ok(first)
    /// });
    /// assert_eq!(first.await, Ok(Some(7)));
    /// # }
    /// ```
    pub fn abort_all(&self) {
        self.group().abort_all();
    }

    /// The scope's token, by which children can be asked to come to an end by themselves.
    ///
    /// It is cancelled by a call of [`cancel`](CancellationToken::cancel); by the scope when that fails, or its future
    /// is dropped; and with the token of a scope around this one. It aborts nothing.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let total = rt::task::scope(async |s| {
    ///     let token = s.token().clone();
    ///     let worker = s.spawn(async move {
    ///         token.cancelled().await;
    ///         Ok::<_, ()>("all is put away")
    ///     });
    ///     s.token().cancel();
    ///     Ok(worker.await.unwrap())
    /// });
    /// assert_eq!(total.await, Ok("all is put away"));
    /// # }
    /// ```
    pub fn token(&self) -> &CancellationToken {
        self.group().token()
    }

    fn group(&self) -> &Arc<Group> {
        &self.shared.group
    }

    fn child<F, T>(&self, future: F, seat: Seat) -> impl Future<Output = T> + use<F, T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        CURRENT.scope(self.group().clone(), Child::new(future, self.shared.clone(), seat))
    }

    fn seated<T>(&self, number: u64, handle: JoinHandle<T>) -> JoinHandle<T> {
        self.group().spawned(number, handle.abort_handle());
        handle
    }
}

/// A task that was to be run by a scope that takes none.
fn aborted<T>(handle: JoinHandle<T>) -> JoinHandle<T> {
    handle.abort();
    handle
}

/// A closure for the blocking pool.
struct Job<F> {
    // The order is that of their drops.
    f: F,
    _member: Member,
}

impl<F: FnOnce() -> R, R> Job<F> {
    fn run(self) -> R {
        (self.f)()
    }
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<E> Clone for Scope<E> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<E> fmt::Debug for Scope<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("members", &self.group().members()).finish()
    }
}
