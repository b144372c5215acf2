//! [`Builder`]: spawns tasks that have a name into a set.

use std::fmt;
use std::future::Future;
use std::io;

use super::JoinSet;
use crate::local_set::LocalSet;
use crate::runtime::Handle;
use crate::spawn;
use crate::task::AbortHandle;

/// Spawns a task that has a name into a [`JoinSet`]. See [`JoinSet::build_task`].
///
/// Its methods have the results that Tokio's have, and errors where [`task::Builder`](crate::TaskBuilder) has them.
#[must_use = "a builder does nothing until it spawns"]
pub struct Builder<'a, T> {
    set: &'a mut JoinSet<T>,
    builder: spawn::Builder<'a>,
}

impl<'a, T: 'static> Builder<'a, T> {
    pub(super) fn new(set: &'a mut JoinSet<T>) -> Self {
        Self { set, builder: spawn::Builder::new() }
    }

    /// Names the task, as [`task::Builder::name`](crate::TaskBuilder::name) does.
    pub fn name(self, name: &'a str) -> Self {
        Self { builder: self.builder.name(name), ..self }
    }

    /// See [`JoinSet::spawn`].
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn(future)?))
    }

    /// See [`JoinSet::spawn_on`].
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_on(future, handle)?))
    }

    /// See [`JoinSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.builder.spawn_local(future)?))
    }

    /// See [`JoinSet::spawn_local_on`].
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.builder.spawn_local_on(future, local_set)?))
    }

    /// See [`JoinSet::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking(f)?))
    }

    /// See [`JoinSet::spawn_blocking_on`].
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking_on(f, handle)?))
    }
}

impl<T> fmt::Debug for Builder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("set", &self.set).field("builder", &self.builder).finish()
    }
}
