//! [`LocalSet`]: tasks that need not be `Send`, run by a future.
//!
//! A set is a scheduler of its own ([`shared`]), inside of whatever polls it: `block_on` of either kind of runtime, a
//! task, or another executor. It never starts a thread, and has no drivers.

#[cfg(not(loom))]
mod all;
mod drivers;
#[cfg(all(test, loom))]
mod loom_tests;
mod shared;

use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

#[cfg(not(loom))]
pub(crate) use self::all::inspect_tasks;
use self::shared::{Running, Shared};
use crate::box_large::boxed_if_large;
use crate::runtime::control::Owned;
use crate::runtime::{self, Handle, UnhandledPanic};
use crate::task::current::wake_in_poll;
use crate::task::{JoinHandle, Left, SpawnInfo};

/// Tasks that stay on the thread that made the set, and so need not be `Send`.
///
/// They run while the set is awaited, or a future in [`run_until`](Self::run_until). Inside of it
/// [`spawn_local`](crate::spawn_local) spawns onto it. Awaiting the set itself ends when all its tasks have ended.
///
/// A future that is not `Send` cannot be moved to another thread, so the set cannot be awaited in a task that
/// [`spawn`](crate::spawn) made; it can in `block_on` and in another local task.
///
/// Dropping the set drops the futures of all its tasks, on this thread.
///
/// # Example
///
/// ```
/// use std::rc::Rc;
/// use rt::task::{LocalSet, spawn_local};
///
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let shared = Rc::new("not Send");
/// let set = LocalSet::new();
/// set.run_until(async move {
///     let copy = Rc::clone(&shared);
///     spawn_local(async move { println!("{copy}") }).await.unwrap();
/// })
/// .await;
/// # });
/// ```
pub struct LocalSet {
    shared: Arc<Shared>,
    /// It stays on its thread. With that all calls of `Shared` below are made there.
    _stays: PhantomData<*const ()>,
}

impl LocalSet {
    /// An empty set, of this thread.
    pub fn new() -> Self {
        Self { shared: Shared::new(), _stays: PhantomData }
    }

    /// Has [`spawn_local`](crate::spawn_local) spawn onto this set, until the guard is dropped. It does not run the
    /// tasks.
    ///
    /// # Example
    ///
    /// ```
    /// let set = rt::task::LocalSet::new();
    /// let task = {
    ///     let _guard = set.enter();
    ///     rt::task::spawn_local(async { 5 })
    /// };
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// assert_eq!(set.block_on(&runtime, task).unwrap(), 5);
    /// ```
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard { before: replace_current(Some(Arc::clone(&self.shared))), _stays: PhantomData }
    }

    /// Spawns a task onto the set. It is polled when the set is run.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn_named(future, None)
    }

    #[track_caller]
    pub(crate) fn spawn_named<F>(&self, future: F, name: Option<&str>) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        // SAFETY: a `LocalSet` is on its thread.
        boxed_if_large!(future: F, Box::pin => unsafe {
            let mut info = Handle::info::<F>(name);
            let future = crate::spans::task(future, &mut info, "local");
            self.shared.spawn(future, info)
        })
    }

    /// Says what a panic of one of its tasks means to the set; without this call, nothing
    /// ([`Ignore`](UnhandledPanic::Ignore)).
    ///
    /// With [`ShutdownRuntime`](UnhandledPanic::ShutdownRuntime) the other tasks of the set are dropped as soon as one
    /// panics, and [`run_until`](Self::run_until), [`block_on`](Self::block_on) and the set as a future panic then, and
    /// whenever they are used later; the first two not if their future is ready at once. The runtime goes on.
    ///
    /// # Example
    ///
    /// ```should_panic
    /// use rt::{runtime::UnhandledPanic, task::LocalSet};
    /// let mut set = LocalSet::new();
    /// set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    /// set.spawn_local(async { panic!("a bug") });
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// set.block_on(&runtime, std::future::pending::<()>());
    /// ```
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        // SAFETY: a `LocalSet` is on its thread.
        unsafe { self.shared.set_unhandled_panic(behavior) };
        self
    }

    /// Runs a future, and the tasks of the set beside it, on a runtime and on this thread. Returns the future's output;
    /// tasks that are left stay in the set.
    ///
    /// # Panics
    ///
    /// If the thread is already inside a runtime. Panics of the future are passed on.
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &impl Owned, future: F) -> F::Output {
        rt.owned_handle().block_on(self.run_until(future))
    }

    /// Runs a future, and the tasks of the set beside it. Tasks that are left when it is done stay in the set.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the future; the tasks stay in the set.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let _drive = Drive::begin(self);
        poll_fn(|cx| {
            self.shared.put_waker(cx.waker());
            let polled = self.run(|| future.as_mut().poll(cx));
            if polled.is_pending() {
                self.run_tasks(cx);
            }
            polled
        })
        .await
    }

    /// Which set this is, among the sets and runtimes of the process.
    pub fn id(&self) -> runtime::Id {
        self.shared.id
    }

    /// Calls the closure inside of the set.
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let _guard = self.enter();
        // SAFETY: a `LocalSet` is on its thread, and borrowed; the guard goes with this frame.
        let _running = unsafe { Running::begin(&self.shared) };
        f()
    }

    /// Polls tasks, and has the set polled again if more are left. Returns whether all have ended.
    fn run_tasks(&self, cx: &Context<'_>) -> bool {
        // SAFETY: a `LocalSet` is on its thread, and runs.
        let left = self.run(|| unsafe { self.shared.run() });
        // SAFETY: as above.
        if unsafe { self.shared.has_panicked() } {
            self.end_by_panic();
        }
        let has_ended = self.shared.is_empty();
        // Not before the run only: a task may have driven the set, too.
        if !has_ended {
            if self.shared.put_waker(cx.waker()) || left == Left::Ready {
                cx.waker().wake_by_ref();
            } else if left == Left::GivenWay {
                wake_in_poll(cx.waker());
            }
        }
        has_ended
    }
}

impl LocalSet {
    #[cold]
    fn end_by_panic(&self) -> ! {
        // Else the panic goes on to the task that drives the set, and so to the run around it.
        // SAFETY: a `LocalSet` is on its thread.
        if !unsafe { self.shared.is_in_poll() } {
            // Others may drive the set, too: they find that it has ended.
            self.close(true);
        }
        panic!("a spawned task panicked and the LocalSet is configured to shutdown on unhandled panic");
    }

    /// Drops all tasks, and calls those that drive the set, if they are to hear of it.
    fn close(&self, calls_drivers: bool) {
        // What the futures' drops spawn is refused, by this set and not by another.
        let _guard = self.enter();
        // SAFETY: a `LocalSet` is on its thread; and the callers have found that it does not run.
        unsafe { Shared::close(&self.shared, calls_drivers) };
    }
}

/// A `run_until`, from its first poll to its drop.
struct Drive<'a>(&'a LocalSet);

impl<'a> Drive<'a> {
    fn begin(set: &'a LocalSet) -> Self {
        // SAFETY: a `LocalSet` is on its thread.
        unsafe { set.shared.begin_drive() };
        Self(set)
    }
}

impl Drop for Drive<'_> {
    fn drop(&mut self) {
        // SAFETY: a `LocalSet` is on its thread, and this borrows it.
        unsafe { self.0.shared.end_drive() };
    }
}

impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: a `LocalSet` is on its thread.
        unsafe { self.shared.become_future() };
        self.shared.put_waker(cx.waker());
        if self.run_tasks(cx) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        // While it runs it is borrowed, and cannot be dropped.
        self.close(false);
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

thread_local! {
    /// Where `spawn_local` spawns: a set of this thread.
    static CURRENT: Cell<Option<Arc<Shared>>> = const { Cell::new(None) };
}

/// Makes another set the current one. `None` also if the thread is ending and knows of none any more.
fn replace_current(shared: Option<Arc<Shared>>) -> Option<Arc<Shared>> {
    CURRENT.try_with(|current| current.replace(shared)).ok().flatten()
}

/// Spawns a task onto the current set. Gives back what it was given if there is none.
#[track_caller]
pub(crate) fn spawn_here<F>(future: F, info: SpawnInfo) -> Result<JoinHandle<F::Output>, F>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let current = CURRENT.try_with(|current| {
        let shared = current.take();
        current.set(shared.clone());
        shared
    });
    match current {
        // SAFETY: only this thread's sets are entered here.
        Ok(Some(shared)) => Ok(unsafe { shared.spawn(future, info) }),
        _ => Err(future),
    }
}

/// Keeps a [`LocalSet`] the one that [`spawn_local`](crate::spawn_local) spawns onto. See [`LocalSet::enter`].
///
/// Guards of several sets have to be dropped in the reverse order: each makes that set the current one again which was
/// it before.
pub struct LocalEnterGuard {
    before: Option<Arc<Shared>>,
    /// It must be dropped where it was made.
    _stays: PhantomData<*const ()>,
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        replace_current(self.before.take());
    }
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish_non_exhaustive()
    }
}
