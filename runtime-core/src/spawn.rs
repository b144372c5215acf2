//! The free functions that spawn onto the current runtime, and the builder for tasks with a name.

use std::future::Future;
use std::io;

use crate::blocking_pool::Kind;
use crate::box_large::boxed_if_large;
use crate::local_set::LocalSet;
use crate::runtime::{Handle, spawn_blocking_here, spawn_here, spawn_local_here};
use crate::task::JoinHandle;

/// Spawns a task onto the current runtime.
///
/// The task starts to run at once, whether or not the returned [`JoinHandle`] is awaited; dropping the handle detaches
/// it. On a runtime that has shut down, the future is dropped and the handle says that the task was cancelled.
///
/// Tasks spawned by a task of a multi-thread runtime tend to start in reverse: the newest, whose data is still in the
/// processor's caches, first. Any order is possible, because other workers take the oldest.
///
/// # Panics
///
/// If there is no current runtime: outside of a task, of `block_on`, and of `Handle::enter`.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = rt::spawn(async { "done" });
/// assert_eq!(handle.await.unwrap(), "done");
/// # });
/// ```
#[track_caller]
#[inline]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    boxed_if_large!(future: F, Box::pin => spawn_here(future, Handle::info::<F>(None)))
}

/// Spawns a task that need not be `Send`, onto the current thread.
///
/// # Panics
///
/// Outside of a [`LocalSet`](crate::LocalSet), unless the current runtime is bound to this thread: a `LocalRuntime`, as
/// `Builder::build_local` makes it and `#[rt::main(flavor = "current_thread")]` uses it.
///
/// Where there is both, the task goes to the set.
///
/// # Example
///
/// ```
/// use std::{cell::Cell, rc::Rc};
/// let runtime = rt::runtime::Builder::new_current_thread().build_local(Default::default()).unwrap();
/// runtime.block_on(async {
///     let count = Rc::new(Cell::new(0));
///     let counter = Rc::clone(&count);
///     rt::spawn_local(async move { counter.set(1) }).await.unwrap();
///     assert_eq!(count.get(), 1);
/// });
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    boxed_if_large!(future: F, Box::pin => spawn_local_here(future, Handle::info::<F>(None)))
}

/// Runs a closure that blocks, on a thread of its own.
///
/// The runtime keeps a pool of such threads, up to `Builder::max_blocking_threads` (512) at once; more closures wait
/// their turn. A closure that has begun cannot be aborted, and the runtime's shutdown waits for it. One that waits only
/// for its thread to start is run all the same then; one that waits for others to end is cancelled.
///
/// Threads are called one at a time: while one is being woken or started, or looks for more to do, no other is called
/// for further closures. When it takes one, and there are more, it has the next thread called before it begins. So
/// closures that are short are mostly run by the first thread or two, and those that take long get a thread each.
///
/// Should the operating system refuse the pool's first thread, the handle says that the task was cancelled; refused
/// further threads just leave the closure in the queue of those that run.
///
/// # Panics
///
/// If there is no current runtime.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let text = rt::spawn_blocking(|| std::fs::read_to_string("Cargo.toml")).await.unwrap().unwrap();
/// assert!(text.contains("[package]"));
/// # });
/// ```
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    boxed_if_large!(f: F, Box::new => spawn_blocking_here(f, Handle::info::<F>(None), Kind::Ordinary))
}

/// Runs a closure that blocks, as [`spawn_blocking`] does, and also runs it if it still waits for a thread when the
/// runtime shuts down: only a runtime that has shut down already, and one that cannot start a single thread, cancels
/// it.
///
/// For what somebody has been told is as good as done: a write into a file, for example. It must not wait for anything
/// that a task does, because tasks are gone by then.
///
/// # Panics
///
/// If there is no current runtime.
#[doc(hidden)]
#[track_caller]
pub fn spawn_mandatory_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    boxed_if_large!(f: F, Box::new => spawn_blocking_here(f, Handle::info::<F>(None), Kind::Mandatory))
}

/// Spawns tasks that have a name.
///
/// Its methods have the results that Tokio's have. Of closures for the blocking pool there is an error if the pool is
/// closed, or has no thread and can start none. Tasks have none: what cannot be spawned panics, or is cancelled, as
/// without a name.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let task = rt::task::Builder::new().name("accept loop").spawn(async { rt::task::id() })?;
/// # task.await.unwrap();
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "a builder does nothing until it spawns"]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// A builder for tasks without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task.
    ///
    /// A copy of each different name is kept for as long as the program runs, for each place that spawns tasks of that
    /// name. There are 65,536 at most: tasks with yet other names have none. So a name is better without a number in it
    /// that grows.
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// Spawns the task. See [`spawn`].
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(boxed_if_large!(future: F, Box::pin => spawn_here(future, Handle::info::<F>(self.name))))
    }

    /// Spawns the task onto a runtime, whether or not it is the current one. See
    /// [`Handle::spawn`](crate::runtime::Handle::spawn).
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Runtime::new()?;
    /// let task = rt::task::Builder::new().name("greeting").spawn_on(async { "hello" }, runtime.handle())?;
    /// assert_eq!(runtime.block_on(task).unwrap(), "hello");
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(handle.spawn_named(future, self.name))
    }

    /// Spawns the task onto the current thread. See [`spawn_local`].
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(boxed_if_large!(future: F, Box::pin => spawn_local_here(future, Handle::info::<F>(self.name))))
    }

    /// Spawns the task onto a [`LocalSet`]. See [`LocalSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set.spawn_named(future, self.name))
    }

    /// Runs the closure on the blocking pool. See [`spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, f: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_on(f, &Handle::current())
    }

    /// Runs the closure on the blocking pool of a runtime, whether or not it is the current one. See
    /// [`Handle::spawn_blocking`](crate::runtime::Handle::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, f: F, handle: &Handle) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        handle.try_spawn_blocking_named(f, self.name)
    }
}
