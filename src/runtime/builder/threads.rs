//! Which threads a runtime has, and what it does about those that are blocked.

use std::sync::Arc;
use std::time::Duration;

use runtime_core::runtime::{MAX_WORKER_THREADS, ThreadNames};

use super::Builder;

/// # Threads
impl Builder {
    /// The number of worker threads. Without this call it is what the environment variable `RT_WORKER_THREADS` says, or
    /// else Tokio's `TOKIO_WORKER_THREADS`, or else one for each processor that the process may use: by its affinity,
    /// and by the quotas of its control groups and of those above them. A current-thread runtime has none, and ignores
    /// it.
    ///
    /// A thread in `block_on` is not one of them: it polls its own future, and no tasks.
    ///
    /// More workers than processors do no more work; they only take turns at the processors, and the switches between
    /// them cost time. Nothing is gained for tasks that block either, because the runtime starts further threads for
    /// those by itself ([`rescue_blocked`](Self::rescue_blocked)).
    ///
    /// # Panics
    ///
    /// If it is zero or above 65,000, the most there can be.
    #[track_caller]
    pub fn worker_threads(&mut self, threads: usize) -> &mut Self {
        assert!(threads > 0, "a runtime needs at least one worker thread");
        assert!(
            threads <= MAX_WORKER_THREADS,
            "a runtime can have at most {MAX_WORKER_THREADS} worker threads, not {threads}"
        );
        self.worker_threads = Some(threads);
        self
    }

    /// The most threads of the blocking pool (512). More closures than that wait their turn.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, threads: usize) -> &mut Self {
        assert!(threads > 0, "the blocking pool needs at least one thread");
        self.config.max_blocking_threads = threads;
        self
    }

    /// How long a thread of the blocking pool waits for work before it ends (10 s).
    pub fn thread_keep_alive(&mut self, duration: Duration) -> &mut Self {
        self.config.thread_keep_alive = duration;
        self
    }

    /// The name of the worker, spare and blocking threads. Without this call they are numbered: `rt-worker-0`,
    /// `rt-blocking-1`.
    ///
    /// # Panics
    ///
    /// If the name contains a zero byte, which no thread's name can.
    #[track_caller]
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(!name.contains('\0'), "a thread's name cannot contain a zero byte: {name:?}");
        self.config.thread_names = ThreadNames::Same(name);
        self
    }

    /// Like [`thread_name`](Self::thread_name), with a name for each thread.
    ///
    /// Names are made in advance, because threads are started where nothing may wait for the namer: by the thread that
    /// watches the workers, for one, when all of them are blocked. So the namer is called when the runtime is built, on
    /// the thread that builds it, for each worker and for 32 more threads; and later, when half of these names are
    /// used, on a thread of its own. They are used in the order in which they were made. Some never are.
    ///
    /// A thread gets a name of the runtime's own, as if this had not been called, if the names made in advance are used
    /// up (by more threads at once than that, or because the namer has not returned), and for each call of the namer
    /// that panics or gives a name with a zero byte. Nothing waits for the namer later, not even the end of the
    /// runtime.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    /// let next = AtomicUsize::new(0);
    /// let runtime = rt::runtime::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .thread_name_fn(move || format!("my-app {}", next.fetch_add(1, Relaxed)))
    ///     .build()
    ///     .unwrap();
    /// let task = runtime.spawn_blocking(|| std::thread::current().name().map(str::to_owned));
    /// assert_eq!(runtime.block_on(task).unwrap().as_deref(), Some("my-app 1"));
    /// ```
    pub fn thread_name_fn<F: Fn() -> String + Send + Sync + 'static>(&mut self, name: F) -> &mut Self {
        self.config.thread_names = ThreadNames::Each(Arc::new(name));
        self
    }

    /// The stack size of the worker and blocking threads, in bytes. The standard library's default is 2 MiB. Less than
    /// 64 KiB counts as that, which is what the runtime itself may need. If the system has no room for a stack of the
    /// size, [`build`](Self::build) returns its error.
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.config.thread_stack_size = Some(bytes);
        self
    }

    /// Whether to come to the help of blocked workers (yes). A multi-thread runtime watches its workers; when one is in
    /// the same poll for longer than the [threshold](Self::blocked_threshold) while other work waits, it has an idle
    /// worker take over. If none is idle it starts a *spare worker*, a further thread, where the blocked one sleeps, or
    /// no worker gets on. It also counts such polls ([`blocked_count`](crate::runtime::RuntimeMetrics::blocked_count))
    /// and reports them ([`on_blocked`](Self::on_blocked)).
    ///
    /// Switched off, a blocked worker is neither counted nor reported, and no thread is started for it, but for one
    /// that calls [`block_in_place`](crate::task::block_in_place). Idle workers take over what it holds up all the
    /// same.
    pub fn rescue_blocked(&mut self, rescue: bool) -> &mut Self {
        self.config.rescue_blocked = rescue;
        self
    }

    /// How long a poll of a task may take before its worker is taken to be blocked, if anything waits for that worker
    /// (10 ms; at least 1 ms). It is noticed after that time and at most 3 ms more; or 10 ms more, if nothing had run,
    /// or nothing had waited, for a while before.
    pub fn blocked_threshold(&mut self, threshold: Duration) -> &mut Self {
        self.config.blocked_threshold = threshold;
        self
    }

    /// The most spare workers at once (512), for blocked workers and for
    /// [`block_in_place`](crate::task::block_in_place). With zero there are none: then a program that blocks all
    /// workers stands still, but is told so.
    ///
    /// Beyond twice the number of workers there are only as many as there are threads that *sleep* in a blocked poll:
    /// more threads do not help those that compute. What helps is one that keeps free: the first spare worker runs
    /// nothing but tasks that were spawned in other places than those whose tasks block. (Should it get stuck itself
    /// another one does, up to 32 times.)
    ///
    /// A spare worker retires when the blocked ones have returned; its thread is kept for
    /// [`thread_keep_alive`](Self::thread_keep_alive).
    pub fn max_spare_workers(&mut self, workers: usize) -> &mut Self {
        self.config.max_spare_workers = workers;
        self
    }

    /// Calls the hook on each worker and blocking thread before it begins to work.
    ///
    /// Should it block, that holds up what the thread would have done: a worker gets help as in a poll that blocks, and
    /// of blocking jobs one waits. The end of the runtime waits for the hook.
    pub fn on_thread_start<F: Fn() + Send + Sync + 'static>(&mut self, hook: F) -> &mut Self {
        self.config.on_thread_start = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on each worker and blocking thread before it ends. The end of the runtime waits for it.
    pub fn on_thread_stop<F: Fn() + Send + Sync + 'static>(&mut self, hook: F) -> &mut Self {
        self.config.on_thread_stop = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on a worker that has nothing to do, before it goes to sleep.
    ///
    /// It may spawn tasks: the worker then runs them instead of sleeping. It should not block.
    pub fn on_thread_park<F: Fn() + Send + Sync + 'static>(&mut self, hook: F) -> &mut Self {
        self.config.on_thread_park = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on a worker that was asleep.
    pub fn on_thread_unpark<F: Fn() + Send + Sync + 'static>(&mut self, hook: F) -> &mut Self {
        self.config.on_thread_unpark = Some(Arc::new(hook));
        self
    }
}
