//! Spawning what a [`TaskTracker`] tracks.

use std::future::Future;

use runtime_core::runtime::Handle;
use runtime_core::{JoinHandle, LocalSet, spawn, spawn_blocking, spawn_local};

use super::TaskTracker;

impl TaskTracker {
    /// Spawns a task onto the current runtime, as [`spawn`] does, and tracks it.
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
    /// let tracker = rt::task::TaskTracker::new();
    /// let task = tracker.spawn(async { 7 });
    /// tracker.close();
    /// tracker.wait().await;
    /// assert_eq!(task.await.unwrap(), 7);
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(self.track_future(task))
    }

    /// The same onto the runtime of the handle.
    #[track_caller]
    pub fn spawn_on<F>(&self, task: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        handle.spawn(self.track_future(task))
    }

    /// Spawns a task that stays on this thread, as [`spawn_local`] does, and tracks it.
    ///
    /// # Panics
    ///
    /// Outside of a [`LocalSet`] and of a `LocalRuntime`.
    #[track_caller]
    pub fn spawn_local<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        spawn_local(self.track_future(task))
    }

    /// Spawns a task onto a [`LocalSet`], and tracks it. It runs when the `LocalSet` is run.
    #[track_caller]
    pub fn spawn_local_on<F>(&self, task: F, local_set: &LocalSet) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        local_set.spawn_local(self.track_future(task))
    }

    /// Runs a closure on the blocking pool, as [`spawn_blocking`] does, and tracks it.
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
    /// let tracker = rt::task::TaskTracker::new();
    /// tracker.spawn_blocking(|| println!("written before the end"));
    /// tracker.close();
    /// tracker.wait().await;
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_blocking(self.track_closure(f))
    }

    /// The same on the blocking pool of the handle's runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F, T>(&self, f: F, handle: &Handle) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        handle.spawn_blocking(self.track_closure(f))
    }

    pub(super) fn track_closure<F: FnOnce() -> T, T>(&self, f: F) -> impl FnOnce() -> T + use<F, T> {
        let token = self.token();
        move || {
            let output = f();
            drop(token);
            output
        }
    }
}
