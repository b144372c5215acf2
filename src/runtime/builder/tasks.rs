//! Hooks around tasks, and what a panic of one means to the others.

use std::sync::Arc;

use runtime_core::runtime::{Flavor, UnhandledPanic};
use runtime_core::task_hooks::TaskMeta;

use super::Builder;

/// # Tasks
///
/// Hooks as Tokio has them, under `tokio_unstable`. There is one of each: the last that was set. Each is called inside
/// of the runtime, on whatever thread the thing happens on, in the middle of the scheduler: it should be quick, and
/// must not block. It may spawn. A panic of it is contained. Jobs of `spawn_blocking`, the future of `block_on` and
/// tasks of a `LocalSet` are not told. Without any hook, each of these points costs one predictable branch.
///
/// [`on_task_event`](Self::on_task_event) has in one what these have, and wakes as well.
impl Builder {
    /// Calls the hook when a task is spawned, before the task is queued.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
    /// use std::sync::Arc;
    ///
    /// let alive = Arc::new(AtomicI64::new(0));
    /// let (more, fewer) = (alive.clone(), alive.clone());
    /// let runtime = rt::runtime::Builder::new_multi_thread()
    ///     .on_task_spawn(move |_| _ = more.fetch_add(1, Relaxed))
    ///     .on_task_terminate(move |_| _ = fewer.fetch_sub(1, Relaxed))
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    /// assert_eq!(alive.load(Relaxed), 0);
    /// ```
    pub fn on_task_spawn<F>(&mut self, hook: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.config.task_hooks.spawn = Some(Arc::new(hook));
        self
    }

    /// Calls the hook when a task is over: it has given its output, panicked, or was cancelled. Its future is gone by
    /// then.
    pub fn on_task_terminate<F>(&mut self, hook: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.config.task_hooks.terminate = Some(Arc::new(hook));
        self
    }

    /// Calls the hook before each poll of a task.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use std::sync::Arc;
    ///
    /// let polls = Arc::new(AtomicU64::new(0));
    /// let count = polls.clone();
    /// let runtime = rt::runtime::Builder::new_current_thread()
    ///     .on_before_task_poll(move |_| _ = count.fetch_add(1, Relaxed))
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { rt::spawn(rt::task::yield_now()).await.unwrap() });
    /// assert_eq!(polls.load(Relaxed), 2);
    /// ```
    pub fn on_before_task_poll<F>(&mut self, hook: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.config.task_hooks.before_poll = Some(Arc::new(hook));
        self
    }

    /// Calls the hook after each poll of a task, on the same thread as the one before it. After the last poll,
    /// [`on_task_terminate`](Self::on_task_terminate) comes first, unless the task is cancelled because it was aborted
    /// during that poll; its `JoinHandle` is finished after both.
    pub fn on_after_task_poll<F>(&mut self, hook: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.config.task_hooks.after_poll = Some(Arc::new(hook));
        self
    }

    /// Tells the hooks of polls how long the task has waited for the poll:
    /// [`TaskMeta::schedule_latency`](crate::runtime::TaskMeta::schedule_latency). It costs a lock and a look at the
    /// clock whenever a task is queued, and whenever it is polled, and without such a hook nothing.
    ///
    /// The times of all tasks in one histogram, which cost next to nothing, are in
    /// [`wake_to_poll_times`](crate::runtime::RuntimeMetrics::wake_to_poll_times).
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_multi_thread()
    ///     .track_task_schedule_latency()
    ///     .on_before_task_poll(|task| {
    ///         let latency = task.schedule_latency().unwrap();
    ///         if latency.as_millis() > 10 {
    ///             println!("{} has waited for {latency:?}", task.id());
    ///         }
    ///     })
    ///     .build();
    /// # runtime.unwrap();
    /// ```
    pub fn track_task_schedule_latency(&mut self) -> &mut Self {
        self.config.task_hooks.measure_latency = true;
        self
    }

    /// Says what a panic of a task means to the others; without this call, nothing
    /// ([`Ignore`](UnhandledPanic::Ignore)).
    ///
    /// With [`ShutdownRuntime`](UnhandledPanic::ShutdownRuntime) the runtime ends as soon as a task panics, even if
    /// somebody has the task's `JoinHandle`: all other tasks are dropped, those that drive it (in `block_on`, say)
    /// panic, and so do those that want to later. It is meant for tests, where the panic of a task would else go
    /// unnoticed. Closures of `spawn_blocking` are no tasks here.
    ///
    /// # Panics
    ///
    /// If it is `ShutdownRuntime`, on a multi-thread builder.
    #[track_caller]
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        assert!(
            self.config.flavor == Flavor::CurrentThread || behavior == UnhandledPanic::Ignore,
            "UnhandledPanic::ShutdownRuntime is only supported in current thread mode: begin with \
             `Builder::new_current_thread`"
        );
        self.config.unhandled_panic = behavior;
        self
    }
}
