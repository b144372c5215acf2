//! [`JoinSet`]: tasks that belong together, joined in the order in which they end.
//!
//! A set has the join handles of its tasks, each under a key. What it waits for is not the handles but a line of the
//! keys of those that have ended ([`ended`]); so joining one of a thousand does not look at the others.

mod builder;
mod ended;

pub use self::builder::Builder;

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use self::ended::{EndOf, Ended};
use crate::coop;
use crate::local_set::LocalSet;
use crate::runtime::Handle;
use crate::spawn::{spawn, spawn_blocking, spawn_local};
use crate::task::{AbortHandle, Id, JoinError, JoinHandle};

/// Tasks that all return a `T`, to be awaited in the order in which they end.
///
/// A task starts to run when it is spawned, whether or not the set is awaited. Dropping the set aborts the tasks that
/// are left in it; [`detach_all`](Self::detach_all) lets them go on by themselves.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let mut set = rt::task::JoinSet::new();
/// for n in 0..10 {
///     set.spawn(async move { n });
/// }
/// let mut sum = 0;
/// while let Some(n) = set.join_next().await {
///     sum += n.unwrap();
/// }
/// assert_eq!(sum, 45);
/// # });
/// ```
pub struct JoinSet<T> {
    /// By key. `None` where a task was joined.
    handles: Vec<Option<JoinHandle<T>>>,
    /// The keys of those.
    free: Vec<usize>,
    ended: Arc<Ended>,
}

impl<T> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        Self { handles: Vec::new(), free: Vec::new(), ended: Arc::new(Ended::new()) }
    }

    /// How many tasks are in the set: spawned and not joined yet, ended or not.
    pub fn len(&self) -> usize {
        self.handles.len() - self.free.len()
    }

    /// Whether no task is in the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn handles(&self) -> impl Iterator<Item = &JoinHandle<T>> {
        self.handles.iter().flatten()
    }

    /// Puts a new task into the set.
    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let key = self.free.pop().unwrap_or_else(|| {
            self.handles.push(None);
            self.handles.len() - 1
        });
        let waker = Waker::from(Arc::new(EndOf { key, ended: Arc::clone(&self.ended) }));
        let has_ended = handle.wake_when_finished(&waker);
        self.handles[key] = Some(handle);
        if has_ended {
            self.ended.push(key);
        }
        abort
    }

    /// Takes the task out of the set whose key was in the line.
    fn join(&mut self, key: usize) -> Result<(Id, T), JoinError> {
        let mut handle = self.handles[key].take().expect("a key is in the line once, while its task is in the set");
        self.free.push(key);
        let output = handle.take_finished().expect("a task whose key is in the line has ended");
        output.map(|output| (handle.id(), output))
    }

    /// Drops the handles of tasks that have ended, in the order of their ends: what drops the outputs may show it.
    fn drop_ended(&mut self) {
        while let Some(key) = self.ended.pop() {
            self.handles[key] = None;
        }
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task that has a name into the set.
    ///
    /// # Example
    ///
    /// ```
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut set = rt::task::JoinSet::new();
    /// set.build_task().name("answer").spawn(async { 42 })?;
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder::new(self)
    }

    /// Spawns a task onto the current runtime, as [`spawn`](crate::spawn) does, and puts it into the set.
    ///
    /// # Panics
    ///
    /// If there is no current runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(spawn(task))
    }

    /// The same onto the runtime of the handle.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Spawns a task that stays on this thread, as [`spawn_local`](crate::spawn_local) does, and puts it into the set.
    ///
    /// # Panics
    ///
    /// Outside of a [`LocalSet`] and of a `LocalRuntime`.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(spawn_local(task))
    }

    /// Spawns a task onto a [`LocalSet`], and puts it into this set. It runs when the `LocalSet` is run.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    /// Runs a closure on the blocking pool, as [`spawn_blocking`](crate::spawn_blocking) does, and puts its task into
    /// the set. Once it has begun it cannot be aborted.
    ///
    /// # Panics
    ///
    /// If there is no current runtime.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(spawn_blocking(f))
    }

    /// The same on the blocking pool of the handle's runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }

    /// Waits until a task of the set ends, and takes it out of the set. `None` if the set is empty.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is taken out only when its output is returned.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// The same, and tells which task it was. That of an error is in the error.
    ///
    /// # Cancel safety
    ///
    /// As [`join_next`](Self::join_next).
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// Takes a task out of the set that has ended. `None` if there is none. Does not wait, and spends no budget.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// The same, and tells which task it was.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let key = self.ended.pop()?;
        Some(self.join(key))
    }

    /// As [`join_next`](Self::join_next), for code that polls. Of several calls that are pending, the last one's waker
    /// is called.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|joined| joined.map(without_id))
    }

    /// As [`join_next_with_id`](Self::join_next_with_id), for code that polls.
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        let coop = ready!(coop::poll_proceed(cx));
        let key = ready!(self.ended.poll_pop(cx.waker()));
        coop.made_progress();
        Poll::Ready(Some(self.join(key)))
    }

    /// Waits for all tasks, and returns their outputs in the order in which they ended.
    ///
    /// # Panics
    ///
    /// If a task panicked, with its panic, or was cancelled. The other tasks are aborted then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the set, which aborts its tasks, and the outputs that were there.
    ///
    /// # Example
    ///
    /// ```
    /// # rt::runtime::Runtime::new().unwrap().block_on(async {
    /// let set: rt::task::JoinSet<_> = (0..3).map(|n| async move { n }).collect();
    /// let mut all = set.join_all().await;
    /// all.sort();
    /// assert_eq!(all, [0, 1, 2]);
    /// # });
    /// ```
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined.map_err(JoinError::try_into_panic) {
                Ok(output) => outputs.push(output),
                Err(Ok(payload)) => panic::resume_unwind(payload),
                Err(Err(error)) => panic!("{error}"),
            }
        }
        outputs
    }

    /// Aborts all tasks, and waits until they have ended. The set is empty then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, in that the tasks are aborted as soon as the future is polled; it can be called again to wait.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Aborts all tasks. They stay in the set, and are joined as cancelled, but for those that have ended before.
    pub fn abort_all(&mut self) {
        self.handles().for_each(JoinHandle::abort);
    }

    /// Takes all tasks out of the set. They go on by themselves.
    pub fn detach_all(&mut self) {
        self.drop_ended();
        // A task that ends just now may still push its key: onto a line that nobody looks at any more.
        self.handles.clear();
        self.free.clear();
        self.ended = Arc::new(Ended::new());
    }
}

fn without_id<T>(joined: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    joined.map(|(_, output)| output)
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.handles().for_each(JoinHandle::abort);
        self.drop_ended();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

/// Spawns each future onto the current runtime.
///
/// # Panics
///
/// If there is no current runtime, and there is a future.
impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}

/// Spawns each future onto the current runtime. Panics as [`FromIterator`] does.
impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
