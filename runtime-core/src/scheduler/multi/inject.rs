//! How tasks come in that are spawned or woken on any thread: those of threads that are no workers of the runtime go
//! through the injector. And how the wakers are called that are no tasks' of the runtime, which the drivers leave.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use super::{Multi, Shared, Worker, take_one};
use crate::context;
use crate::events::TaskEventKind;
use crate::runtime::Inner;
use crate::scheduler::remote_spawns::RemoteSpawns;
use crate::scheduler::{release, runtime_of};
use crate::task::{Header, JoinHandle, Notified, Schedule, SpawnInfo, TaskRef, contain, discard};

impl Shared {
    /// Calls the wakers that the drivers have left, one by one: a thread that comes along meanwhile takes the next.
    pub(super) fn call_external_wakers(&self, count: impl Fn()) {
        while let Some(waker) = take_one(&self.external_wakers) {
            count();
            discard(contain(|| waker.wake()));
        }
    }

    /// Queues a task in the injector: from a remote thread, or from a `block_on` thread.
    #[inline]
    pub(super) fn inject(&self, runtime: &Inner, task: Notified) {
        if self.follows_injected.load(Relaxed) {
            self.follow_injected(&task);
        }
        self.inject_unfollowed(runtime, task);
    }

    /// The same for a thread that follows tasks by a count of its own.
    pub(super) fn inject_unfollowed(&self, runtime: &Inner, task: Notified) {
        self.injector.push(task);
        self.announce_injected(runtime);
    }

    /// Tasks have been put into the injector.
    #[inline]
    pub(super) fn announce_injected(&self, runtime: &Inner) {
        self.notify(runtime, || self.injector.is_empty());
        // After the fence in `Idle::wake_one`, which `notify` passes.
        self.queues.after_push(|| self.empty_queues());
    }

    /// The arena for the tasks that the calling thread spawns, if it is external.
    pub(super) fn remote_spawns_here(&self) -> &RemoteSpawns {
        &self.remote_spawns[context::thread_token() % self.remote_spawns.len()]
    }

    /// Spawns a task from whatever thread.
    pub(crate) fn spawn<F>(&self, runtime: &Inner, future: F, info: SpawnInfo) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if let Some(worker) = Self::worker_here(runtime) {
            return worker.with(|worker| worker.spawn(future, info));
        }
        let (task, handle) = self.remote_spawns_here().spawn::<F, Multi>(runtime, future, info);
        if let Some(task) = task {
            self.inject(runtime, task);
        }
        handle
    }
}

impl Schedule for Multi {
    #[inline]
    fn schedule(task: Notified) {
        // SAFETY: the task has this type in its vtable.
        let runtime: *const Inner = unsafe { runtime_of(task.header()) }.expect("a task that was refused is complete");
        // SAFETY: the task keeps its runtime; and while this thread is one of its workers, or `keep` lives, it stays.
        let runtime = unsafe { &*runtime };
        runtime.events.emit(|| Shared::lane_here(runtime), task.task(), TaskEventKind::Woken);
        if let Some(worker) = Shared::worker_here(runtime) {
            worker.with(|worker| worker.push(task));
        } else {
            // Once in the queue the task may run, end and be freed, and the runtime with it, while this thread has yet
            // to look for a sleeper. One more reference keeps both.
            let keep = TaskRef::clone(task.task());
            let shared = Self::shared(runtime);
            shared.remote_spawns_here().count_wakes(1);
            shared.inject(runtime, task);
            drop(keep);
        }
    }

    #[inline]
    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe { release(task, Shared::worker_here, Worker::local_arena) };
    }
}
