//! [`Runtime`] and [`LocalRuntime`]: the owners of a runtime, whose drop is its end.

use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use runtime_core::JoinHandle;
use runtime_core::clock::Clock;
use runtime_core::driver::DriverStack;
use runtime_core::runtime::{Config, EnterGuard, Handle, LocalOptions, RuntimeMetrics, control};

use super::Builder;

/// A runtime. Made by `Builder::build`, or with the defaults by `Runtime::new`.
///
/// # The end
///
/// Dropping it shuts it down: the workers, and other threads in `block_on`, finish the polls at hand, every task that
/// is left is dropped, sockets and timers that outlive it give errors, and the blocking pool finishes what it has
/// begun; jobs that have not begun are cancelled. The drop waits for all that.
/// [`shutdown_timeout`](Self::shutdown_timeout) waits for a limited time,
/// [`shutdown_background`](Self::shutdown_background) not at all.
///
/// # Forking
///
/// To start another program, with `std::process::Command` or whatever else forks and then executes at once, is safe at
/// any time; the runtime's descriptors are closed in it.
///
/// A child that goes on in this program without executing another (`libc::fork`, daemonizing) has a copy of the memory,
/// and of the threads only the one that forked: no workers, and every lock that another thread held stays locked. Up to
/// its `exec` or `_exit` it may only do what is *async-signal-safe* (`man 7 signal-safety`), as POSIX has it for any
/// program with threads. It must not use, drop or build a runtime, this one or another: building one takes locks of the
/// whole process (the allocator's, and the table of waiting threads of `parking_lot`), and hangs now and then. Nor may
/// it drop rt's sockets: that would take them out of a poller which it shares with its parent.
///
/// So fork first, while the process has one thread, and then build the runtime, in the child. With
/// [`macro@crate::main`] the runtime is there when the function begins: make `main` a plain function, fork, and call
/// [`Runtime::block_on`].
///
/// # Panics
///
/// Dropping it inside a task or a `block_on` panics, because it would wait for itself; shut it down in the background
/// there, or drop it elsewhere.
///
/// # Example
///
/// ```
/// let runtime = rt::runtime::Runtime::new().unwrap();
/// let answer = runtime.block_on(async { rt::spawn(async { 42 }).await.unwrap() });
/// assert_eq!(answer, 42);
/// ```
pub struct Runtime {
    handle: Handle,
    built_at: &'static Location<'static>,
    /// Whether the shutdown is over, or somebody else's business.
    ended: bool,
    /// Dropped after the shutdown, so that one that takes long can be looked into.
    #[cfg(feature = "inspect")]
    inspected: Option<runtime_inspect::Registration>,
}

impl Runtime {
    /// A multi-thread runtime with sockets and timers, and the defaults of [`Builder`] for the rest.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    #[track_caller]
    pub fn new() -> io::Result<Self> {
        Builder::new_multi_thread().enable_all().build()
    }

    #[track_caller]
    pub(super) fn from_parts(config: &Config, clock: Arc<Clock>, drivers: DriverStack) -> io::Result<Self> {
        Ok(Self::new_from(control::start(config, clock, drivers)?, Location::caller()))
    }

    fn new_from(handle: Handle, built_at: &'static Location<'static>) -> Self {
        Self {
            handle,
            built_at,
            ended: false,
            #[cfg(feature = "inspect")]
            inspected: None,
        }
    }

    #[cfg(feature = "inspect")]
    pub(super) fn be_inspected(&mut self, inspector: Option<runtime_inspect::Prepared>) {
        self.inspected = inspector.map(|inspector| inspector.register(&self.handle));
    }

    /// Where the runtime can be looked into, if [`Builder::inspect`] or the environment has asked for that: the address
    /// with the port that was found, should the system have chosen it.
    #[cfg(feature = "inspect")]
    pub fn inspect_address(&self) -> Option<std::net::SocketAddr> {
        self.inspected.as_ref().map(|inspected| inspected.address())
    }

    /// A handle to the runtime, which can be cloned and sent to other threads.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future on the calling thread until it is done, and returns its output.
    ///
    /// On a multi-thread runtime the calling thread polls this future and nothing else; tasks run on the workers. On a
    /// current-thread runtime it drives the whole runtime.
    ///
    /// # Panics
    ///
    /// If the calling thread is already inside a runtime. Panics of the future are passed on.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// A view of what the runtime counts.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Spawns a task. See [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure on the blocking pool. See [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(f)
    }

    /// Makes this the current runtime of the thread until the guard is dropped. See [`Handle::enter`].
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Shuts the runtime down, waiting for at most `limit`. What has not ended by then is left to end by itself.
    ///
    /// # Panics
    ///
    /// Inside a task or a `block_on`, unless the limit is zero.
    #[track_caller]
    pub fn shutdown_timeout(mut self, limit: Duration) {
        if !limit.is_zero() && !may_wait("shut down with a timeout", self.built_at) {
            // The drop closes it.
            return;
        }
        self.ended = true;
        control::close(&self.handle);
        control::wait_closed(&self.handle, Some(limit));
    }

    /// Shuts the runtime down without waiting: it comes to its end by itself, as soon as the polls and blocking jobs at
    /// hand return. May be called inside a task.
    pub fn shutdown_background(mut self) {
        self.ended = true;
        control::close(&self.handle);
    }
}

impl control::Owned for Runtime {
    fn owned_handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        control::close(&self.handle);
        // A drop cannot tell its caller's place.
        if may_wait("dropped", self.built_at) {
            control::wait_closed(&self.handle, None);
        }
    }
}

/// Whether the thread may wait for the end. Panics if it may not, but for a thread that panics already: another panic
/// would abort, and hide the first. (The workers end by themselves.)
#[track_caller]
fn may_wait(what: &str, built_at: &Location<'_>) -> bool {
    let may_wait = !control::is_entered();
    assert!(
        may_wait || thread::panicking(),
        "an rt runtime (the one built at {built_at}) was {what} inside a task or `block_on`, where waiting for its end \
         would block the thread: move it out of async code, drop it in `spawn_blocking`, or call `shutdown_background`"
    );
    may_wait
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("flavor", &self.handle.runtime_flavor()).finish_non_exhaustive()
    }
}

/// A current-thread runtime that is bound to the thread that made it, and can therefore run tasks that are not `Send`.
/// Made by `Builder::build_local`.
///
/// # Example
///
/// ```
/// use std::rc::Rc;
/// let runtime = rt::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
/// let shared = Rc::new(7);
/// let copy = Rc::clone(&shared);
/// let seven = runtime.block_on(async move { rt::spawn_local(async move { *copy }).await.unwrap() });
/// assert_eq!(seven, *shared);
/// ```
#[derive(Debug)]
pub struct LocalRuntime {
    runtime: Runtime,
    /// It must be dropped where its tasks are at home.
    _not_send: PhantomData<*const ()>,
}

impl control::Owned for LocalRuntime {
    fn owned_handle(&self) -> &Handle {
        self.runtime.handle()
    }
}

impl LocalRuntime {
    /// A runtime with sockets and timers, and the defaults of [`Builder`] for the rest.
    ///
    /// # Errors
    ///
    /// As [`Builder::build_local`].
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::LocalRuntime::new().unwrap();
    /// let task = runtime.spawn_local(async { std::rc::Rc::new(7) });
    /// assert_eq!(*runtime.block_on(task).unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn new() -> io::Result<Self> {
        Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    /// A view of what the runtime counts.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.runtime.metrics()
    }

    #[track_caller]
    pub(super) fn from_parts(config: Config, clock: Arc<Clock>, drivers: DriverStack) -> io::Result<Self> {
        // SAFETY: this object closes the runtime, and cannot leave the thread.
        let handle = unsafe { control::start_local(config, clock, drivers)? };
        let built_at = Location::caller();
        Ok(Self { runtime: Runtime::new_from(handle, built_at), _not_send: PhantomData })
    }

    #[cfg(feature = "inspect")]
    pub(super) fn be_inspected(&mut self, inspector: Option<runtime_inspect::Prepared>) {
        self.runtime.be_inspected(inspector);
    }

    /// A handle to the runtime. On other threads it can spawn tasks that are `Send`.
    ///
    /// [`Handle::block_on`] on another thread only polls its future. Sockets, timers and tasks of this runtime make no
    /// progress unless its own thread is in [`block_on`](Self::block_on), so a future that needs them waits until then:
    /// for ever, if that never comes.
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Runs a future on this thread until it is done, and the runtime's tasks with it. Nothing else drives the runtime.
    ///
    /// # Panics
    ///
    /// If the thread is already inside a runtime. Panics of the future are passed on.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Spawns a task that stays on this thread. It runs while the thread drives the runtime: in
    /// [`block_on`](Self::block_on), [`run`](Self::run), [`try_tick`](Self::try_tick) or
    /// [`run_until_stalled`](Self::run_until_stalled).
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        control::spawn_local(&self.runtime.handle, future)
    }

    /// Runs a closure on the blocking pool. See [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.runtime.spawn_blocking(f)
    }

    /// Makes this the current runtime of the thread until the guard is dropped. See [`Handle::enter`].
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// Shuts the runtime down, waiting for its blocking jobs for at most `limit`.
    #[track_caller]
    pub fn shutdown_timeout(self, limit: Duration) {
        self.runtime.shutdown_timeout(limit);
    }

    /// Shuts the runtime down without waiting for its blocking jobs.
    pub fn shutdown_background(self) {
        self.runtime.shutdown_background();
    }
}
