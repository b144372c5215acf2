//! [`scope`]: tasks that end before the code that has spawned them goes on.
//!
//! `group.rs` has the protocol, `child.rs` what is around the future of a child. Programs use this as a part of
//! `rt::task`. It must never lend anything to a task: see [`scope`] for the reason.

mod child;
mod group;
#[cfg(all(test, loom))]
mod loom_tests;

use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::panic::{self, AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use runtime_core::{JoinError, JoinHandle, spawn, spawn_blocking, spawn_local};

use self::child::{Child, Failure, Shared};
use self::group::{Group, Member, Seat};
use crate::task::CancellationToken;

runtime_core::task_local! {
    /// The scope in whose body, or child, this is.
    static CURRENT: Arc<Group>;
}

/// Runs the body, which may spawn tasks into the scope, and ends when all these tasks have ended.
///
/// The tasks, called *children*, are real ones: they run on any worker, beside the body and each other. A child returns a
/// `Result`. Its value goes to its handle; awaiting that is a choice, and so is keeping it.
///
/// - If the body returns `Ok`, the scope waits for all children, and then returns that value.
/// - The first error, of the body or a child, ends the scope. The other children are aborted, the body is dropped where it
///   waits, and when all have ended, the error is returned. Errors that come after the first are dropped.
/// - A panic is treated like an error, and goes on in the caller of the scope when all children have ended.
///
/// A scope may be used in the body or in a child of another one. The inner scope's children are a matter of the outer
/// scope then, too: it does not end before they have ended. The inner one's token is a child of the outer one's.
///
/// # When children have ended
///
/// A child has ended when its future, and all that is in it, has been dropped.
///
/// - *The scope was awaited to its end*, whether it returned or panicked: all children have ended, and all closures on
///   the blocking pool have returned. The same holds for the children of scopes in it, however those ended.
/// - *The scope's future was dropped*: the body is dropped, all children are aborted, no further one is begun, and the
///   scope's token is cancelled. This cannot wait: a child that is being polled at that moment ends when that poll ends,
///   one that waits is dropped by a worker soon, and a closure on the blocking pool ends when it returns. If the scope
///   was inside of another one, that waits for them.
/// - *The scope's future was forgotten*, by [`std::mem::forget`] or a cycle of references: nothing is aborted, and the
///   children go on as if they had been spawned by themselves. A scope around it still waits for them.
///
/// A runtime that is shut down drops the children as it drops all tasks.
///
/// # Why children cannot borrow
///
/// All is sound in each of these cases because a child owns what it uses: its future is `'static`. If children could
/// borrow from the body's variables, all that would keep those in place is the drop of the scope's future, and that need
/// not happen: Rust calls it safe to forget a value. [`std::thread::scope`] does not have this problem, because it
/// returns to its caller only when the threads have ended; a future returns at each `await`.
///
/// Share with an [`Arc`], or move values into a child and get them back as its output. Futures that may run by turns, in
/// the one task that awaits them, can borrow: for these there are `rt::join!` and `rt::try_join!`, and in the crate
/// `futures` the sets `FuturesUnordered`.
///
/// # Cancel safety
///
/// Not cancel safe: what the children have done so far stays done, and what they returned is lost.
///
/// # Panics
///
/// With the first panic of the body or of a child.
///
/// # Example
///
/// ```
/// use rt::task::scope;
///
/// async fn fetch(n: u32) -> Result<u32, String> {
///     rt::task::yield_now().await;
///     if n < 10 { Ok(n * n) } else { Err(format!("there is no {n}")) }
/// }
///
/// # #[rt::main]
/// # async fn main() {
/// let sum = scope(async |s| {
///     let (a, b) = (s.spawn(fetch(3)), s.spawn(fetch(4)));
///     Ok(a.await.unwrap() + b.await.unwrap())
/// });
/// assert_eq!(sum.await, Ok(25));
///
/// let failed = scope(async |s| {
///     s.spawn(fetch(10));
///     s.spawn(std::future::pending::<Result<(), String>>()); // is aborted
///     Ok(())
/// });
/// assert_eq!(failed.await, Err("there is no 10".to_owned()));
/// # }
/// ```
pub async fn scope<T, E, F>(body: F) -> Result<T, E>
where
    F: AsyncFnOnce(Scope<E>) -> Result<T, E>,
{
    let group = Group::new(CURRENT.try_get().ok());
    let shared = Shared::new(group.clone());
    // Dropped last, if this future is dropped: nothing that the body does when it is dropped escapes it.
    let owner = Owner(group.clone());
    let handle = Scope { shared: shared.clone() };
    // The closure is called in a poll, so that a panic of it is one of the body.
    let mut body = pin!(Some(CURRENT.scope(group.clone(), async move { body(handle).await })));
    let output = poll_fn(|cx| {
        if group.poll_closed(cx.waker()).is_ready() {
            return Poll::Ready(None);
        }
        let body = body.as_mut().as_pin_mut().expect("it is there until it is done");
        match panic::catch_unwind(AssertUnwindSafe(|| body.poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(payload) => {
                shared.note(Failure::Panic(payload));
                Poll::Ready(None)
            }
        }
    });
    let value = match output.await {
        Some(Ok(value)) => Some(value),
        Some(Err(error)) => {
            shared.note(Failure::Error(error));
            None
        }
        None => None,
    };
    shared.drop_in_place(body.as_mut());
    if value.is_none() {
        group.close();
    }
    poll_fn(|cx| group.poll_empty(cx.waker())).await;
    drop(owner);
    match shared.take_failure() {
        None => Ok(value.expect("a scope without a value has failed")),
        Some(Failure::Error(error)) => Err(error),
        Some(Failure::Panic(payload)) => panic::resume_unwind(payload),
    }
}

/// Ends a scope whose future is dropped. When it has come to its end that does nothing.
struct Owner(Arc<Group>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.forget_waker();
        self.0.close();
    }
}

/// Spawns tasks into a [`scope`]. Clones are for the same scope, and may be given to children.
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
    /// Spawns a child, as [`spawn`] spawns a task.
    ///
    /// The handle gives the value of the child. It says that the child was cancelled if that was aborted, or if it failed:
    /// the error, or the panic, is the scope's then. To drop the handle changes nothing.
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
    /// A closure that has begun cannot be aborted: a scope that fails waits until it returns. A long one may look at the
    /// scope's [`token`](Self::token) from time to time, which is cancelled then.
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
    /// It is cancelled by whoever calls [`cancel`](CancellationToken::cancel); by the scope when that fails, or its future
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
