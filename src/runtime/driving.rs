//! Driving a runtime without a future of one's own: until all tasks have ended, or step by step.

use runtime_core::runtime::control;

use super::{LocalRuntime, Runtime};

impl Runtime {
    /// Runs the runtime until every one of its tasks has ended: with an output, by a panic, or aborted.
    ///
    /// On a current-thread runtime the calling thread drives it. On a multi-thread runtime the workers do, and the
    /// calling thread waits. Tasks that are spawned meanwhile count, be it by tasks or by other threads. So when it
    /// returns there was a moment, since the call, at which the runtime had no task; the join handles of those that it
    /// had are finished. Without any task it returns at once.
    ///
    /// It may be called again, and by several threads at a time. The runtime is as usable afterwards as before.
    ///
    /// # What counts
    ///
    /// Tasks of `spawn`, `spawn_local` on a [`LocalRuntime`], and a `JoinSet`. The tasks of a `LocalSet` count through
    /// the task that drives the set.
    ///
    /// *Blocking jobs* do not count by themselves, as some never end: a read of the terminal, say. A job counts while a
    /// task waits for it. Where one is to be waited for in any case, spawn its handle:
    /// `runtime.spawn(runtime.spawn_blocking(job))`.
    ///
    /// A task that never ends is waited for for ever: one that serves an endless stream of requests, or one that nobody
    /// can wake any more. Abort it, or use [`block_on`](Self::block_on) with a future that knows when it is enough.
    ///
    /// # Panics
    ///
    /// If the calling thread is already inside a runtime. A panic of a task is in its `JoinHandle`, and is no panic
    /// here, unless [`unhandled_panic`](super::Builder::unhandled_panic) makes it one.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let runtime = rt::runtime::Runtime::new().unwrap();
    /// let pages = Arc::new(AtomicU32::new(0));
    ///
    /// /// Visits a page, and all that it links to.
    /// fn visit(page: u32, pages: Arc<AtomicU32>) {
    ///     pages.fetch_add(1, Ordering::Relaxed);
    ///     for link in [2 * page, 2 * page + 1].into_iter().filter(|&link| link < 100) {
    ///         let pages = pages.clone();
    ///         rt::spawn(async move { visit(link, pages) });
    ///     }
    /// }
    ///
    /// runtime.spawn({
    ///     let pages = pages.clone();
    ///     async move { visit(1, pages) }
    /// });
    /// runtime.run();
    /// assert_eq!(pages.load(Ordering::Relaxed), 99);
    /// ```
    #[track_caller]
    pub fn run(&self) {
        control::run(self.handle());
    }

    /// Polls one task, if one is ready, and returns whether it did. Never waits. For current-thread runtimes.
    ///
    /// If no task is ready it looks once, without waiting, which sockets are ready and which timers are due, and polls
    /// one of the tasks that these wake. Tasks are polled in the order in which `block_on` would poll them. A panic of
    /// a task is in its `JoinHandle`; the poll counts as done.
    ///
    /// It is for programs that have a loop of their own and give the runtime a share of it, and for tests that look at
    /// the state between two polls. Between two calls nobody drives the runtime. Tasks that are spawned or woken
    /// meanwhile, on any thread, are ready at the next call; nothing tells the caller of them.
    ///
    /// False, too, if another thread drives the runtime at the moment, in [`block_on`](Self::block_on) or here.
    ///
    /// # Panics
    ///
    /// On a multi-thread runtime, whose workers poll the tasks. If the calling thread is already inside a runtime.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let task = runtime.spawn(async {
    ///     rt::task::yield_now().await;
    ///     "done"
    /// });
    /// assert!(runtime.try_tick()); // up to the yield
    /// assert!(!task.is_finished());
    /// assert!(runtime.try_tick()); // and from there
    /// assert!(task.is_finished());
    /// assert!(!runtime.try_tick());
    /// ```
    #[track_caller]
    pub fn try_tick(&self) -> bool {
        control::try_tick(self.handle())
    }

    /// Polls tasks until none is ready, and returns the number of polls. Never waits. For current-thread runtimes.
    ///
    /// The same as to call [`try_tick`](Self::try_tick) until it returns false, and cheaper: at the end no task can go
    /// on before something happens outside of it, by the last look at sockets and timers. While one task yields for
    /// ever it does not return.
    ///
    /// A paused clock stands still, as somebody drives the runtime who may have other things to do. (In
    /// [`block_on`](Self::block_on) it moves to the next timer.) So a test can move it in steps:
    ///
    /// ```
    /// use rt::runtime::Builder;
    /// use rt::time::{self, Duration};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    /// let lamp = runtime.spawn(async {
    ///     time::sleep(Duration::from_secs(60)).await;
    ///     "on"
    /// });
    /// assert_eq!(runtime.run_until_stalled(), 1); // the task has set its timer
    /// runtime.block_on(time::advance(Duration::from_secs(59)));
    /// assert_eq!(runtime.run_until_stalled(), 0);
    /// assert!(!lamp.is_finished());
    /// runtime.block_on(time::advance(Duration::from_secs(1))); // lets tasks run, as long as any can
    /// assert!(lamp.is_finished());
    /// ```
    ///
    /// # Panics
    ///
    /// As [`try_tick`](Self::try_tick).
    #[track_caller]
    pub fn run_until_stalled(&self) -> usize {
        control::run_until_stalled(self.handle())
    }
}

impl LocalRuntime {
    /// Runs the runtime on this thread until every one of its tasks has ended. See [`Runtime::run`].
    ///
    /// # Panics
    ///
    /// If the thread is already inside a runtime.
    ///
    /// # Example
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// let runtime = rt::runtime::LocalRuntime::new().unwrap();
    /// let count = Rc::new(Cell::new(0));
    /// for n in 1..=3 {
    ///     let count = count.clone();
    ///     runtime.spawn_local(async move { count.set(count.get() + n) });
    /// }
    /// runtime.run();
    /// assert_eq!(count.get(), 6);
    /// ```
    #[track_caller]
    pub fn run(&self) {
        control::run(self.handle());
    }

    /// Polls one task, if one is ready, and returns whether it did. See [`Runtime::try_tick`].
    ///
    /// # Panics
    ///
    /// If the thread is already inside a runtime.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::LocalRuntime::new().unwrap();
    /// let task = runtime.spawn_local(async { std::rc::Rc::new(7) });
    /// assert!(runtime.try_tick());
    /// assert!(task.is_finished());
    /// assert!(!runtime.try_tick());
    /// ```
    #[track_caller]
    pub fn try_tick(&self) -> bool {
        control::try_tick(self.handle())
    }

    /// Polls tasks until none is ready, and returns the number of polls. See [`Runtime::run_until_stalled`].
    ///
    /// # Panics
    ///
    /// If the thread is already inside a runtime.
    ///
    /// # Example
    ///
    /// A program with a loop of its own, which calls the runtime once in each turn:
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// let runtime = rt::runtime::LocalRuntime::new().unwrap();
    /// let frames = Rc::new(Cell::new(0));
    /// let (next_frame, mut frame) = rt::sync::mpsc::unbounded_channel::<()>();
    /// let painter = runtime.spawn_local({
    ///     let frames = frames.clone();
    ///     async move {
    ///         while frame.recv().await.is_some() {
    ///             frames.set(frames.get() + 1);
    ///         }
    ///     }
    /// });
    /// for turn in 1..=3 {
    ///     next_frame.send(()).unwrap();
    ///     runtime.run_until_stalled();
    ///     assert_eq!(frames.get(), turn);
    /// }
    /// drop(next_frame);
    /// runtime.run();
    /// assert!(painter.is_finished());
    /// ```
    #[track_caller]
    pub fn run_until_stalled(&self) -> usize {
        control::run_until_stalled(self.handle())
    }
}
