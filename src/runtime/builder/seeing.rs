//! What a runtime tells of itself, and to whom.

#[cfg(feature = "inspect")]
use std::io;
use std::sync::Arc;
use std::time::Duration;

use runtime_core::blocked::BlockedTask;
use runtime_core::events::TaskEvent;
use runtime_core::stall::Stall;
use runtime_core::trace::TraceConfig;

use super::Builder;

/// # To see into it
impl Builder {
    /// Calls the hook when a task has blocked its worker while other work waited: once for each place in the program
    /// where such tasks are spawned, when the poll is over, or after a second if it is not. Without this call the
    /// [`BlockedTask`](crate::runtime::BlockedTask) is written to stderr, as one line.
    ///
    /// Reports are made one after the other, on a thread of their own, which nobody waits for: the hook may block, and
    /// so may the write to stderr. The thread that watches the workers goes on helping them meanwhile, and the runtime
    /// comes to its end. So a report may come late, also after the runtime has ended, and it is lost if the process
    /// ends before. While a hook has not returned some dozens of reports wait; further ones are dropped, and counted
    /// ([`dropped_reports`](crate::runtime::RuntimeMetrics::dropped_reports)).
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

    /// Has what tasks do and what they wait for recorded from now on, for
    /// [`Handle::tasks`](crate::runtime::Handle::tasks): their polls, how long these took, and the last thing that each
    /// waits for. Otherwise this begins with whatever is the first to look: that method, [`inspect`](Self::inspect) or
    /// `RT_INSPECT`, or the [detection of stalls](Self::report_stalls). Of a task that was polled before and not since,
    /// nothing is known but its place, its name and its state.
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
    /// [`Stall`](crate::runtime::Stall) tells of. So it says nothing of most of what may stand still. What it reports
    /// it has seen twice, so it takes twice that time, or somewhat more. Each finding is reported once, until it
    /// changes.
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
    /// let runtime = rt::runtime::Builder::new_multi_thread()
    ///     .report_stalls(Duration::from_secs(10))
    ///     .enable_all()
    ///     .build()
    ///     .unwrap();
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
    /// late. But no finding is dropped because too many reports wait: it is reported after a later look, if it is still
    /// there.
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

    /// Tells the hook whatever happens to every task: spawned, polled, pending, woken, completed. (Not of tasks of a
    /// `LocalSet`.)
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
    /// [`poll_times`](crate::runtime::RuntimeMetrics::poll_times) and
    /// [`wake_to_poll_times`](crate::runtime::RuntimeMetrics::wake_to_poll_times), and for the records of
    /// [`tasks`](crate::runtime::Handle::tasks).
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

    /// As [`metrics_histograms(true)`](Self::metrics_histograms), by Tokio's name, for a part of it; and as
    /// [`track_task_schedule_latency`](Self::track_task_schedule_latency).
    pub fn enable_metrics_schedule_latency_histogram(&mut self) -> &mut Self {
        self.metrics_histograms(true).track_task_schedule_latency()
    }

    /// Has the runtime's [flight recorder](crate::runtime::trace) run from the start, and write a trace to a file when
    /// something goes wrong, if it is told so. Without this call it is off, until
    /// [`Handle::trace`](crate::runtime::Handle::trace) starts it.
    ///
    /// If the environment variable `RT_TRACE` is set to a path, each runtime that is built without this call has it
    /// all: a recorder that runs, and writes that file when a task panics or blocks its worker. A file that is there
    /// already is kept, as [`TraceConfig::file`](crate::runtime::trace::TraceConfig::file) says, and stderr tells so;
    /// likewise if the path is a directory, or leads through one that is not there.
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
}
