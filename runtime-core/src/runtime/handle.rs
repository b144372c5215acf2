//! [`Handle`]: a runtime, for those who do not own it; and what the free functions do with the current one.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;

use super::config::Flavor;
use super::{Inner, RuntimeMetrics, Scheduler};
use crate::blocking_pool::Kind;
use crate::box_large::boxed_if_large;
use crate::context::{self, Missing, RuntimeGuard, UserGuard};
use crate::local_set;
use crate::scheduler::{ThreadRole, current, multi};
use crate::spans;
use crate::task::{Id, JoinHandle, Site, SpawnInfo};
use crate::trace::Trace;

/// A reference to a runtime, for spawning onto it and for waiting on futures in its context. Cheap to clone.
///
/// A handle does not keep the runtime from shutting down. What is spawned on one that has shut down is cancelled at
/// once.
#[derive(Clone)]
pub struct Handle {
    pub(super) inner: Arc<Inner>,
}

impl Handle {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// The runtime that the calling code runs in.
    ///
    /// # Panics
    ///
    /// If there is none.
    ///
    /// # Example
    ///
    /// ```
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let handle = rt::runtime::Handle::current();
    /// std::thread::spawn(move || handle.spawn(async { println!("hello from a task") })).join().unwrap();
    /// # });
    /// ```
    #[track_caller]
    pub fn current() -> Self {
        match Self::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// The runtime that the calling code runs in.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn try_current() -> Result<Self, TryCurrentError> {
        context::current().map(Self::new).ok_or(TryCurrentError(()))
    }

    /// Makes this the current runtime of the thread until the guard is dropped: `spawn`, sockets and timers then refer
    /// to it.
    ///
    /// Of several guards on a thread, the youngest decides. They may be dropped in any order.
    ///
    /// A guard made in the future of a `block_on` holds until that call returns. One made in a task, in a closure on
    /// the blocking pool or in a hook of the runtime holds until the poll, the closure or the hook returns, whatever
    /// becomes of it: what else runs on the thread is in its own runtime.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// let _guard = runtime.enter();
    /// let task = rt::spawn(async { "spawned outside of async code" });
    /// # runtime.handle().block_on(task).unwrap();
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard { _guard: UserGuard::enter(Arc::clone(&self.inner)), _handle: PhantomData }
    }

    /// Spawns a task. See [`spawn`](crate::spawn()).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_named(future, None)
    }

    #[track_caller]
    #[inline]
    pub(crate) fn spawn_named<F>(&self, future: F, name: Option<&str>) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let mut info = Self::info::<F>(name);
        boxed_if_large!(future: F, Box::pin => {
            let future = spans::task(future, &mut info, "task");
            spawn_on(&self.inner, future, info)
        })
    }

    /// Runs a closure on the blocking pool. See [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let info = Self::info::<F>(None);
        boxed_if_large!(f: F, Box::new => self.inner.blocking.spawn(&self.inner, f, info, Kind::Ordinary))
    }

    #[track_caller]
    pub(crate) fn try_spawn_blocking_named<F, R>(&self, f: F, name: Option<&str>) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let info = Self::info::<F>(name);
        let (handle, submitted) = boxed_if_large!(f: F, Box::new => {
            self.inner.blocking.try_spawn(&self.inner, f, info, Kind::Ordinary)
        });
        submitted.map(|()| handle)
    }

    /// Runs a future on the calling thread until it is done, and returns its output. See `Runtime::block_on`.
    ///
    /// On a current-thread runtime whose `Runtime::block_on` runs on another thread, this only polls the future: the
    /// other thread drives sockets, timers and tasks.
    ///
    /// A `LocalRuntime` is driven by its own thread only. On any other thread this only polls the future, too: sockets,
    /// timers and tasks of that runtime make no progress unless its own thread is in `LocalRuntime::block_on`. A future
    /// that needs them waits until then: for ever, if that never comes.
    ///
    /// # Panics
    ///
    /// If the calling thread is already inside a runtime. Panics of the future are passed on.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        boxed_if_large!(future: F, Box::pin => block_on(&self.inner, future))
    }

    /// Which kind of runtime this is.
    pub fn runtime_flavor(&self) -> Flavor {
        self.inner.flavor()
    }

    /// Which runtime this is, among those of the process.
    pub fn id(&self) -> super::Id {
        self.inner.id
    }

    /// What `Builder::name` has called the runtime.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().name("ingest").build().unwrap();
    /// assert_eq!(runtime.handle().name(), Some("ingest"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// A view of what the runtime counts.
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::new(Arc::clone(&self.inner))
    }

    /// The runtime's flight recorder.
    ///
    /// # Example
    ///
    /// ```
    /// # let runtime = rt::runtime::Runtime::new().unwrap();
    /// let trace = runtime.handle().trace();
    /// assert!(!trace.is_running());
    /// ```
    pub fn trace(&self) -> Trace {
        Trace::new(Arc::clone(self.inner.events.recorder()))
    }

    /// What a task spawned by the calling code is told about itself, of a future of that type; identifier and arena
    /// come later.
    #[track_caller]
    #[inline]
    pub(crate) fn info<F>(name: Option<&str>) -> SpawnInfo {
        let site = Site::new(Location::caller(), name);
        SpawnInfo { id: Id(0), site, arena: None, original_size: size_of::<F>() }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("flavor", &self.runtime_flavor()).finish_non_exhaustive()
    }
}

/// There is no current runtime. See [`Handle::try_current`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether the thread is in no runtime: always so, because there is no other reason.
    ///
    /// # Example
    ///
    /// ```
    /// let error = rt::runtime::Handle::try_current().unwrap_err();
    /// assert!(error.is_missing_context() && !error.is_thread_local_destroyed());
    /// ```
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether the thread is ending and has dropped what it knew of its runtime: never so. That has no destructor, and
    /// is there until the thread is gone; in a destructor of another thread-local the context is just missing.
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Missing::Runtime.fmt(f)
    }
}

impl std::error::Error for TryCurrentError {}

/// Keeps a runtime the current one of its thread. See [`Handle::enter`].
#[derive(Debug)]
#[must_use = "the runtime is current only while the guard lives"]
pub struct EnterGuard<'a> {
    /// Not `Send`, which ties this to the thread as well.
    _guard: UserGuard,
    /// Tied to the handle, as Tokio's is.
    _handle: PhantomData<&'a Handle>,
}

#[inline]
fn spawn_on<F>(inner: &Inner, future: F, info: SpawnInfo) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match &inner.scheduler {
        Scheduler::Multi(shared) => shared.spawn(inner, future, info),
        Scheduler::Current(shared) => shared.spawn(inner, future, info),
    }
}

/// Spawns onto the current runtime.
#[track_caller]
#[inline]
pub(crate) fn spawn_here<F>(future: F, mut info: SpawnInfo) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let future = spans::task(future, &mut info, "task");
    match context::own_role() {
        ThreadRole::Multi(worker) => worker.with(|worker| worker.spawn(future, info)),
        ThreadRole::Current(worker) => worker.with(|worker| worker.spawn(future, info)),
        // A copy of the current runtime: a refused future is dropped in the call, which may make another one current.
        ThreadRole::External
        | ThreadRole::BlockingPool(_)
        | ThreadRole::BlockingInPlace(_)
        | ThreadRole::CoreRevoked(_) => match context::current() {
            Some(inner) => spawn_on(&inner, future, info),
            None => panic!("{}", Missing::Runtime),
        },
    }
}

/// Spawns a task that stays on this thread.
#[track_caller]
pub(crate) fn spawn_local_here<F>(future: F, mut info: SpawnInfo) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let future = spans::task(future, &mut info, "local");
    let future = match local_set::spawn_here(future, info) {
        Ok(handle) => return handle,
        Err(future) => future,
    };
    if let Some(inner) = context::current()
        && let Scheduler::Current(shared) = &inner.scheduler
    {
        let spawned = shared.spawn_local(&inner, future, info);
        match spawned {
            Ok(handle) => return handle,
            Err(_) if shared.is_bound() => panic!(
                "Local tasks can only be spawned on a LocalRuntime from the thread the runtime was created on: this is \
                 another one"
            ),
            Err(_) => {}
        }
    }
    panic!(
        "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`: it needs a set that \
         runs, or a runtime that is bound to this thread, as `#[rt::main(flavor = \"current_thread\")]` and \
         `Builder::build_local` make it"
    );
}

/// Runs a closure on the current runtime's blocking pool.
#[track_caller]
pub(crate) fn spawn_blocking_here<F, R>(f: F, info: SpawnInfo, kind: Kind) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    match context::current() {
        Some(inner) => inner.blocking.spawn(&inner, f, info, kind),
        None => panic!("{}", Missing::Runtime),
    }
}

/// Drives a future on the calling thread.
#[track_caller]
pub(super) fn block_on<F: Future>(inner: &Arc<Inner>, future: F) -> F::Output {
    let mut info = Handle::info::<F>(None);
    let future = spans::task(future, &mut info, "block_on");
    drive("block_on", "Await the future instead, or move the call into `spawn_blocking`", inner, || {
        let mut future = pin!(Some(future));
        let poll = poll_fn(|cx| future.as_mut().as_pin_mut().expect("emptied below").poll(cx));
        let output = match &inner.scheduler {
            Scheduler::Multi(_) => multi::block_on(inner, poll),
            Scheduler::Current(_) => current::block_on(inner, poll),
        };
        // By hand: a drop that panics on the way out of a function leaks what the function was about to return.
        future.set(None);
        output
    })
}

/// Has the calling thread enter the runtime for as long as the closure runs. Panics if it is inside one already, with
/// the advice to do something else `instead`.
#[track_caller]
pub(super) fn drive<R>(what: &str, instead: &str, inner: &Arc<Inner>, f: impl FnOnce() -> R) -> R {
    let Some(_entered) = context::try_enter() else {
        panic!(
            "`{what}` was called inside a runtime: this thread is already driving a future or a worker, which would \
             stand still meanwhile. {instead}"
        );
    };
    let _runtime = RuntimeGuard::enter(Arc::clone(inner));
    f()
}
