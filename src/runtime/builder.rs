//! [`Builder`]: where the parts of a runtime are put together.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use runtime_core::RngSeed;
use runtime_core::blocked::BlockedTask;
use runtime_core::clock::Clock;
use runtime_core::driver::DriverStack;
use runtime_core::events::TaskEvent;
use runtime_core::processors;
use runtime_core::runtime::{Config, Flavor, LocalOptions, MAX_WORKER_THREADS, ThreadNames};
use runtime_core::stall::Stall;
use runtime_core::trace::TraceConfig;

use super::{LocalRuntime, Runtime, drivers, stall, trace};

/// Builds a [`Runtime`].
///
/// Without further calls a runtime has neither sockets nor timers: see [`enable_all`](Self::enable_all).
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// let runtime = rt::runtime::Builder::new_multi_thread()
///     .worker_threads(4)
///     .thread_name("my-app")
///     .thread_keep_alive(Duration::from_secs(60))
///     .enable_all()
///     .build()
///     .unwrap();
/// # drop(runtime);
/// ```
pub struct Builder {
    config: Config,
    /// `None`: what the environment says when the runtime is built.
    worker_threads: Option<usize>,
    /// `None`: as many as suit the flavor.
    io_events: Option<usize>,
    enable_io: bool,
    enable_time: bool,
    start_paused: bool,
    records_tasks: bool,
    #[cfg(feature = "inspect")]
    inspect: Option<std::net::SocketAddr>,
}

impl Builder {
    /// A runtime with worker threads that steal work from each other.
    pub fn new_multi_thread() -> Self {
        Self::new(Flavor::MultiThread)
    }

    /// A runtime on the thread that calls `block_on`.
    pub fn new_current_thread() -> Self {
        Self::new(Flavor::CurrentThread)
    }

    fn new(flavor: Flavor) -> Self {
        Self {
            config: Config::new(flavor),
            worker_threads: None,
            io_events: None,
            enable_io: false,
            enable_time: false,
            start_paused: false,
            records_tasks: false,
            #[cfg(feature = "inspect")]
            inspect: None,
        }
    }

    /// Enables sockets and timers.
    pub fn enable_all(&mut self) -> &mut Self {
        self.enable_io().enable_time()
    }

    /// Enables sockets, and whatever else waits for a file descriptor.
    pub fn enable_io(&mut self) -> &mut Self {
        self.enable_io = true;
        self
    }

    /// Enables timers.
    pub fn enable_time(&mut self) -> &mut Self {
        self.enable_time = true;
        self
    }

    /// The number of worker threads. Without this call it is what the environment variable `RT_WORKER_THREADS` says, or
    /// else one for each processor that the process may use: by its affinity, and by the quotas of its control groups
    /// and of those above them. A current-thread runtime has none, and ignores it.
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
    pub fn thread_name_fn(&mut self, name: impl Fn() -> String + Send + Sync + 'static) -> &mut Self {
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
    /// no worker gets on. It also counts such polls ([`blocked_count`](super::RuntimeMetrics::blocked_count)) and
    /// reports them ([`on_blocked`](Self::on_blocked)).
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

    /// Calls the hook when a task has blocked its worker while other work waited: once for each place in the program
    /// where such tasks are spawned, when the poll is over, or after a second if it is not. Without this call the
    /// [`BlockedTask`](super::BlockedTask) is written to stderr, as one line.
    ///
    /// Reports are made one after the other, on a thread of their own, which nobody waits for: the hook may block, and
    /// so may the write to stderr. The thread that watches the workers goes on helping them meanwhile, and the runtime
    /// comes to its end. So a report may come late, also after the runtime has ended, and it is lost if the process
    /// ends before. While a hook has not returned some dozens of reports wait; further ones are dropped, and counted
    /// ([`dropped_reports`](super::RuntimeMetrics::dropped_reports)).
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_multi_thread()
    ///     .on_blocked(|blocked| eprintln!("please look into this: {blocked}"))
    ///     .build()
    ///     .unwrap();
    /// # drop(runtime);
    /// ```
    pub fn on_blocked(&mut self, hook: impl Fn(&BlockedTask) + Send + Sync + 'static) -> &mut Self {
        self.config.on_blocked = Some(Arc::new(hook));
        self
    }

    /// Has what tasks do and what they wait for recorded from now on, for [`Handle::tasks`](super::Handle::tasks):
    /// their polls, how long these took, and the last thing that each waits for. Otherwise this begins with whatever is
    /// the first to look: that method, [`inspect`](Self::inspect) or `RT_INSPECT`, or the [detection of
    /// stalls](Self::report_stalls). Of a task that was polled before and not since, nothing is known but its place,
    /// its name and its state.
    ///
    /// It is for the whole process, from when the runtime is built, and costs each poll that ends with its task waiting
    /// some nanoseconds.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().record_tasks().build().unwrap();
    /// let (_tx, rx) = rt::sync::oneshot::channel::<()>();
    /// let task = runtime.spawn(rx);
    /// runtime.block_on(rt::task::yield_now());
    /// let seen = runtime.handle().tasks().pop().unwrap();
    /// assert_eq!(seen.waits_for.unwrap().to_string(), "oneshot channel, to receive");
    /// # drop(task);
    /// ```
    pub fn record_tasks(&mut self) -> &mut Self {
        self.records_tasks = true;
        self
    }

    /// Has a thread of its own (`rt-stall`) look for tasks that can never go on, each time that `every` has passed, and
    /// report them: to the hook of [`on_stall`](Self::on_stall), or to stderr.
    ///
    /// It reports tasks that wait for each other's locks and ends, tasks that nobody can wake any more, and that no
    /// task of the runtime can go on. What is not certain is not reported, but for one thing that
    /// [`Stall`](super::Stall) tells of. So it says nothing of most of what may stand still. What it reports it has
    /// seen twice, so it takes twice that time, or somewhat more. Each finding is reported once, until it changes.
    ///
    /// Without this call the environment variable `RT_STALL` may ask for it, with a number of seconds. A look takes a
    /// tenth of a microsecond a task. From the first runtime on that asks for it, locks of the whole process note who
    /// has them, which makes each of them some ten nanoseconds dearer.
    ///
    /// # Panics
    ///
    /// If it is zero.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// let runtime =
    ///     rt::runtime::Builder::new_multi_thread().report_stalls(Duration::from_secs(10)).enable_all().build().unwrap();
    /// # drop(runtime);
    /// ```
    #[track_caller]
    pub fn report_stalls(&mut self, every: Duration) -> &mut Self {
        assert!(!every.is_zero(), "there must be some time between two looks for stalls");
        self.config.report_stalls = Some(every);
        self
    }

    /// Calls the hook with what [`report_stalls`](Self::report_stalls) finds. Without this call it is written to
    /// stderr, a line each.
    ///
    /// It is called as the hook of [`on_blocked`](Self::on_blocked) is: on a thread that nobody waits for, perhaps
    /// late.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// let runtime = rt::runtime::Builder::new_multi_thread()
    ///     .report_stalls(Duration::from_secs(10))
    ///     .on_stall(|stall| eprintln!("this will never end: {stall}"))
    ///     .build()
    ///     .unwrap();
    /// # drop(runtime);
    /// ```
    pub fn on_stall(&mut self, hook: impl Fn(&Stall) + Send + Sync + 'static) -> &mut Self {
        self.config.on_stall = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on each worker and blocking thread before it begins to work.
    ///
    /// Should it block, that holds up what the thread would have done: a worker gets help as in a poll that blocks, and
    /// of blocking jobs one waits. The end of the runtime waits for the hook.
    pub fn on_thread_start(&mut self, hook: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.config.on_thread_start = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on each worker and blocking thread before it ends. The end of the runtime waits for it.
    pub fn on_thread_stop(&mut self, hook: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.config.on_thread_stop = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on a worker that has nothing to do, before it goes to sleep.
    ///
    /// It may spawn tasks: the worker then runs them instead of sleeping. It should not block.
    pub fn on_thread_park(&mut self, hook: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.config.on_thread_park = Some(Arc::new(hook));
        self
    }

    /// Calls the hook on a worker that was asleep.
    pub fn on_thread_unpark(&mut self, hook: impl Fn() + Send + Sync + 'static) -> &mut Self {
        self.config.on_thread_unpark = Some(Arc::new(hook));
        self
    }

    /// Tells the hook whatever happens to every task: spawned, polled, pending, woken, completed.
    ///
    /// It is called in the middle of the scheduler, on whatever thread it happens: it must be quick, and must not call
    /// back into the runtime. Without it, each of these points costs one predictable branch.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread()
    ///     .on_task_event(|event| println!("task {}: {}", event.id, event.kind))
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    /// ```
    pub fn on_task_event(&mut self, hook: impl Fn(&TaskEvent) + Send + Sync + 'static) -> &mut Self {
        self.config.on_task_event = Some(Arc::new(hook));
        self
    }

    /// Whether to measure how long polls take and how long tasks wait for them (yes), for
    /// [`poll_times`](super::RuntimeMetrics::poll_times) and
    /// [`wake_to_poll_times`](super::RuntimeMetrics::wake_to_poll_times), and for the records of
    /// [`tasks`](super::Handle::tasks).
    ///
    /// It costs a worker a percent of its time or less, as it reads the clock seldom where polls are short. Switched
    /// off, the clock is read for neither, these two are empty, the polls of tasks take no time by their records, and
    /// the time in which a worker looks for work at others counts as time in which it has some. Whatever else is
    /// counted always is.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_current_thread().metrics_histograms(false).build().unwrap();
    /// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    /// assert_eq!(runtime.metrics().poll_times().count(), 0);
    /// ```
    pub fn metrics_histograms(&mut self, enable: bool) -> &mut Self {
        self.config.measure_polls = enable;
        self
    }

    /// As [`metrics_histograms(true)`](Self::metrics_histograms): by Tokio's name, for a part of it.
    pub fn enable_metrics_poll_time_histogram(&mut self) -> &mut Self {
        self.metrics_histograms(true)
    }

    /// As [`metrics_histograms(true)`](Self::metrics_histograms): by Tokio's name, for a part of it.
    pub fn enable_metrics_schedule_latency_histogram(&mut self) -> &mut Self {
        self.metrics_histograms(true)
    }

    /// Has the runtime's [flight recorder](super::trace) run from the start, and write a trace to a file when something
    /// goes wrong, if it is told so. Without this call it is off, until [`Handle::trace`](super::Handle::trace) starts
    /// it.
    ///
    /// If the environment variable `RT_TRACE` is set to a path, each runtime that is built without this call has it
    /// all: a recorder that runs, and writes that file when a task panics or blocks its worker.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::runtime::trace::TraceConfig;
    /// let runtime = rt::runtime::Builder::new_current_thread()
    ///     .trace(TraceConfig::new().file(std::env::temp_dir().join("my-app.pftrace")).on_panic(true))
    ///     .build()
    ///     .unwrap();
    /// assert!(runtime.handle().trace().is_running());
    /// ```
    pub fn trace(&mut self, config: TraceConfig) -> &mut Self {
        self.config.trace = Some(config);
        self
    }

    /// After at most `ticks` ticks a busy worker looks into the global queue, where tasks wait that were spawned or
    /// woken from outside (61). When tasks take long, it does so sooner by itself. Whatever the interval, its own tasks
    /// are left half of its polls.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn global_queue_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(ticks > 0, "the global queue's interval must be above zero");
        self.config.global_queue_interval = ticks;
        self
    }

    /// After at most `ticks` ticks a busy worker looks after sockets and timers (61). When tasks take long, it does so
    /// sooner by itself; not before 2 ms have passed, while many tasks are left on its own queue that sockets have
    /// woken.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn event_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(ticks > 0, "the event interval must be above zero");
        self.config.event_interval = ticks;
        self
    }

    /// How many operations on sockets, timers, channels and handles a task may do in one poll before it is made to
    /// yield (128). See [`task::coop`](crate::task::coop).
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn coop_budget(&mut self, operations: u32) -> &mut Self {
        assert!(operations > 0, "with a budget of zero no task could ever make progress");
        self.config.coop_budget = operations;
        self
    }

    /// The seed of the runtime's random decisions: which worker to steal from, which branch of `select!` to poll first.
    pub fn rng_seed(&mut self, seed: RngSeed) -> &mut Self {
        self.config.rng_seed = Some(seed);
        self
    }

    /// The most events that one call to the operating system's poller delivers (32 with workers, 1,024 on a
    /// current-thread runtime). More than 65,536 count as that.
    ///
    /// What a call does not deliver stays with the system for the next one, which may be another worker's. What it does
    /// deliver waits on the worker's queue, and if the operating system takes the processor from that worker it waits
    /// for longer.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, events: usize) -> &mut Self {
        assert!(
            events > 0,
            "max_io_events_per_tick must be non-zero: the poller delivers at least one event at a time"
        );
        self.io_events = Some(events);
        self
    }

    /// Names the runtime, for programs that have many: see [`Handle::name`](super::Handle::name).
    ///
    /// # Panics
    ///
    /// If the name is empty, or nothing but white space.
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(!name.trim().is_empty(), "a runtime's name must not be empty");
        self.config.name = Some(name);
        self
    }

    /// Starts with the clock paused, as by [`time::pause`](crate::time::pause). For tests on a current-thread runtime.
    pub fn start_paused(&mut self, paused: bool) -> &mut Self {
        self.start_paused = paused;
        self
    }

    /// Lets the runtime be looked into over HTTP at this address, by a thread of its own (`rt-inspect`), which answers
    /// also while every worker is stuck: a page for a browser with its workers, tasks and reports of blocked tasks, the
    /// same as JSON, metrics for Prometheus, and traces. What there is, `runtime_inspect::answers` tells.
    ///
    /// Without this call the environment variable `RT_INSPECT` may ask for it, with an address or a port: if it cannot
    /// be had there, stderr tells, and the program goes on. Runtimes that ask for the same address share the thread. It
    /// ends with the last of them, and keeps none alive.
    ///
    /// On an address other than a loopback one each request must show a token, as `?token=` or `Authorization: Bearer`.
    /// It is what the environment variable `RT_INSPECT_TOKEN` says, or else a new one, written to stderr. The
    /// connection is not encrypted.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_multi_thread().inspect(([127, 0, 0, 1], 0).into()).build().unwrap();
    /// println!("see http://{}/", runtime.inspect_address().unwrap());
    /// ```
    #[cfg(feature = "inspect")]
    pub fn inspect(&mut self, address: std::net::SocketAddr) -> &mut Self {
        self.inspect = Some(address);
        self
    }

    /// The server that is asked for. Only what the program itself asks for can fail.
    #[cfg(feature = "inspect")]
    pub(super) fn inspector(&self) -> io::Result<Option<runtime_inspect::Prepared>> {
        match self.inspect {
            Some(address) => runtime_inspect::prepare(&runtime_inspect::Settings::new(address)).map(Some),
            None => Ok(runtime_inspect::prepare_from_environment()),
        }
    }

    /// Builds the runtime, and starts its threads.
    ///
    /// # Errors
    ///
    /// If the operating system refuses a thread or a file descriptor; if `RT_WORKER_THREADS` is set to something that
    /// is not a number from 1 to 65,000; if the clock is to start paused without timers or on a multi-thread runtime;
    /// if the address that it is to be looked into at cannot be had.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        #[cfg_attr(not(feature = "inspect"), allow(unused_mut))]
        let (mut config, clock, drivers) = self.parts()?;
        #[cfg(feature = "inspect")]
        let inspector = self.inspector()?.inspect(|inspector| inspector.observe(&mut config));
        #[cfg_attr(not(feature = "inspect"), allow(unused_mut))]
        let mut runtime = Runtime::from_parts(&config, clock, drivers)?;
        #[cfg(feature = "inspect")]
        runtime.be_inspected(inspector);
        Ok(runtime)
    }

    /// Builds a current-thread runtime that is bound to the calling thread and can run tasks that are not `Send`.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    ///
    /// # Panics
    ///
    /// On a multi-thread builder.
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        assert!(
            self.config.flavor == Flavor::CurrentThread,
            "only a current-thread runtime can be local: begin with `Builder::new_current_thread`"
        );
        #[cfg_attr(not(feature = "inspect"), allow(unused_mut))]
        let (mut config, clock, drivers) = self.parts()?;
        #[cfg(feature = "inspect")]
        let inspector = self.inspector()?.inspect(|inspector| inspector.observe(&mut config));
        #[cfg_attr(not(feature = "inspect"), allow(unused_mut))]
        let mut runtime = LocalRuntime::from_parts(config, clock, drivers)?;
        #[cfg(feature = "inspect")]
        runtime.be_inspected(inspector);
        Ok(runtime)
    }

    /// The configuration, and the drivers stacked on each other: the timers on the sockets.
    fn parts(&self) -> io::Result<(Config, Arc<Clock>, DriverStack)> {
        let mut config = self.config.clone();
        config.processors = processors::available();
        if config.flavor == Flavor::MultiThread {
            config.worker_threads = match self.worker_threads {
                Some(threads) => threads,
                None => config
                    .default_worker_threads()
                    .map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?,
            };
        }
        config.trace = config.trace.or_else(trace::asked_for_by_environment);
        config.report_stalls = config.report_stalls.or_else(stall::asked_for_by_environment);
        if self.records_tasks {
            runtime_core::inspect::watch();
        }
        let clock = Arc::new(Clock::new());
        if self.start_paused {
            if !self.enable_time || config.flavor != Flavor::CurrentThread {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "only a current-thread runtime with `enable_time` can start with its clock paused",
                ));
            }
            clock.pause();
        }
        let slots = config.slots();
        let mut stack = DriverStack::bare();
        if self.enable_io {
            let events = self.io_events.unwrap_or(self.config.max_events());
            drivers::add_io(&mut stack, slots, events)?;
        }
        if self.enable_time {
            drivers::add_time(&mut stack, slots, &clock);
        }
        Ok((config, clock, stack))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("config", &self.config)
            .field("worker_threads", &self.worker_threads)
            .field("enable_io", &self.enable_io)
            .field("enable_time", &self.enable_time)
            .finish_non_exhaustive()
    }
}
