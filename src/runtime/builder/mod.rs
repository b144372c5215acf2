//! [`Builder`]: where the parts of a runtime are put together. What it can be told about tasks, threads, turns, and
//! seeing into the runtime has a file each.

mod seeing;
mod tasks;
mod threads;
mod turns;
mod without_effect;

use std::fmt;
use std::io;
use std::sync::Arc;

use runtime_core::clock::Clock;
use runtime_core::driver::DriverStack;
use runtime_core::processors;
use runtime_core::runtime::{Config, Flavor, LocalOptions};

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
    /// `None`: as many.
    busy_io_events: Option<usize>,
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
            busy_io_events: None,
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

    /// Builds the runtime, and starts its threads.
    ///
    /// # Errors
    ///
    /// If the operating system refuses a thread or a file descriptor; if `RT_WORKER_THREADS`, or else
    /// `TOKIO_WORKER_THREADS`, is set to something that is not a number from 1 to 65,000; if the clock is to start
    /// paused on a multi-thread runtime; if the address at which it is to be looked into cannot be had.
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
            "multi_thread is not supported for LocalRuntime: begin with `Builder::new_current_thread`"
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
        // Only the blocking pool of a current-thread runtime cares, and few of these runtimes have a thread in it. Some
        // are built for a moment's work, and to ask takes longer than to build one.
        config.processors = 0;
        if config.flavor == Flavor::MultiThread {
            config.processors = processors::available();
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
            if config.flavor != Flavor::CurrentThread {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "only a current-thread runtime can start with its clock paused",
                ));
            }
            clock.pause();
        }
        let slots = config.slots();
        let mut stack = DriverStack::bare();
        if self.enable_io {
            let events = self.io_events.unwrap_or(self.config.max_events());
            drivers::add_io(&mut stack, slots, events, self.busy_io_events)?;
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
