//! What a runtime is told when it is made. The facade's `Builder` fills it in.

use std::env;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::names::{Names, ThreadNames};
use super::unhandled_panic::UnhandledPanic;
use crate::blocked::{BlockedHook, DEFAULT_BLOCKED_THRESHOLD};
use crate::events::{Listeners, Observer};
use crate::rng::RngSeed;
use crate::scheduler::injector_turns::MAX_SHARED_BATCH;
use crate::scheduler::multi::BLOCK_ON_CORES;
use crate::task_hooks::TaskHooks;
use crate::trace::{LaneNumbers, TraceConfig};

/// A hook without arguments.
pub type Hook = Arc<dyn Fn() + Send + Sync>;

/// The environment variables that set the default number of worker threads. The first one that is set counts. The other
/// is Tokio's, for programs that were written for it.
const WORKER_THREADS_VARS: [&str; 2] = ["RT_WORKER_THREADS", "TOKIO_WORKER_THREADS"];

/// The most worker threads a runtime can have.
pub const MAX_WORKER_THREADS: usize = 65_000;

/// The default of `global_queue_interval` and of `event_interval`, in polls.
pub(crate) const DEFAULT_INTERVAL: u32 = 61;

/// The default of `coop_budget`.
pub(crate) const DEFAULT_COOP_BUDGET: u32 = 128;

/// The least stack of a thread, in bytes. The scheduler itself, and a panic that is reported with a backtrace, take up
/// to 48 KiB in an unoptimized build; a thread with less would overflow before it has run anything.
pub const MIN_THREAD_STACK_SIZE: usize = 64 * 1024;

pub use self::RuntimeFlavor as Flavor;

/// The kinds of runtime.
// By its public name, which is what signatures in the documentation have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// One thread: the one that calls `block_on`.
    CurrentThread,
    /// Worker threads that steal work from each other.
    MultiThread,
}

/// A runtime's configuration. The defaults are those of the facade's builder.
#[derive(Clone)]
pub struct Config {
    /// Which scheduler.
    pub flavor: Flavor,
    /// What the user calls the runtime.
    pub name: Option<String>,
    /// Bind a current-thread runtime to the thread that makes it, so that it can run `!Send` tasks.
    pub(crate) local: bool,
    /// Worker threads of a multi-thread runtime.
    pub worker_threads: usize,
    /// How many [processors](crate::processors) the runtime may use. All that depends on their number goes by this one.
    /// Zero: not asked yet. The blocking pool asks then when it has to know; for all others it counts as one.
    pub processors: usize,
    /// The most threads of the blocking pool.
    pub max_blocking_threads: usize,
    /// How long a thread of the blocking pool waits for work before it ends.
    pub thread_keep_alive: Duration,
    /// What worker, spare and blocking threads are called.
    pub thread_names: ThreadNames,
    /// The stack size of these threads, in bytes; [`MIN_THREAD_STACK_SIZE`] at least. `None`: the standard library's.
    pub thread_stack_size: Option<usize>,
    /// Whether the monitor helps when a worker is stuck, and reports it.
    pub rescue_blocked: bool,
    /// A poll that lasts longer, while other work waits, is taken to be blocked.
    pub blocked_threshold: Duration,
    /// The most spare workers at once.
    pub max_spare_workers: usize,
    /// Told of polls that were blocked. `None`: a line on stderr.
    pub on_blocked: Option<BlockedHook>,
    /// Has a thread look for tasks that can never go on, each time that this has passed.
    pub report_stalls: Option<Duration>,
    /// Told of tasks that can never go on. `None`: a line on stderr.
    #[cfg(not(loom))]
    pub on_stall: Option<crate::stall::StallHook>,
    /// Called on each new thread before it works.
    pub on_thread_start: Option<Hook>,
    /// Called on each thread before it ends.
    pub on_thread_stop: Option<Hook>,
    /// Called on a worker before it goes to sleep.
    pub on_thread_park: Option<Hook>,
    /// Called on a worker after it slept.
    pub on_thread_unpark: Option<Hook>,
    /// Told what happens to tasks.
    pub on_task_event: Option<Observer>,
    /// The same in Tokio's shape.
    pub task_hooks: TaskHooks,
    /// What a panic of a task means to the others, on a current-thread runtime.
    pub unhandled_panic: UnhandledPanic,
    /// Whether the clock is read for histograms of how long polls take and how long tasks wait.
    pub measure_polls: bool,
    /// Has the flight recorder run from the start.
    pub trace: Option<TraceConfig>,
    /// The most ticks until a busy worker takes tasks from the injector.
    pub global_queue_interval: u32,
    /// The most ticks until a busy worker polls the drivers.
    pub event_interval: u32,
    /// The coop budget of a poll, in units.
    pub coop_budget: u32,
    /// The seed of all random decisions. `None`: one that differs from run to run.
    pub rng_seed: Option<RngSeed>,
}

impl Config {
    /// The defaults for a flavor, with one worker thread on one processor.
    pub fn new(flavor: Flavor) -> Self {
        Self {
            flavor,
            name: None,
            local: false,
            worker_threads: 1,
            processors: 1,
            max_blocking_threads: 512,
            thread_keep_alive: Duration::from_secs(10),
            thread_names: ThreadNames::default(),
            thread_stack_size: None,
            rescue_blocked: true,
            blocked_threshold: DEFAULT_BLOCKED_THRESHOLD,
            max_spare_workers: 512,
            on_blocked: None,
            report_stalls: None,
            #[cfg(not(loom))]
            on_stall: None,
            on_thread_start: None,
            on_thread_stop: None,
            on_thread_park: None,
            on_thread_unpark: None,
            on_task_event: None,
            task_hooks: TaskHooks::default(),
            unhandled_panic: UnhandledPanic::Ignore,
            measure_polls: true,
            trace: None,
            global_queue_interval: DEFAULT_INTERVAL,
            event_interval: DEFAULT_INTERVAL,
            coop_budget: DEFAULT_COOP_BUDGET,
            rng_seed: None,
        }
    }

    /// How many events of sockets a driver is to take from the system at a time, if the user does not say. With several
    /// workers few, for what it does not take is there for the others.
    pub fn max_events(&self) -> usize {
        match self.flavor {
            Flavor::MultiThread => MAX_SHARED_BATCH as usize,
            Flavor::CurrentThread => 1024,
        }
    }

    /// The number of worker threads that the environment asks for by `RT_WORKER_THREADS`, or else by
    /// `TOKIO_WORKER_THREADS`; if neither is set, one for each [processor](Self::processors).
    ///
    /// # Errors
    ///
    /// What is wrong with the variable, if it is not a number from 1 to [`MAX_WORKER_THREADS`].
    pub fn default_worker_threads(&self) -> Result<usize, String> {
        let var = WORKER_THREADS_VARS.into_iter().find_map(|name| Some((name, env::var_os(name)?)));
        let Some((name, value)) = var else { return Ok(self.num_processors().min(MAX_WORKER_THREADS)) };
        let number = value.to_str().and_then(|text| text.trim().parse().ok());
        let number = number.filter(|number| (1..=MAX_WORKER_THREADS).contains(number));
        number.ok_or_else(|| format!("{name} must be a number from 1 to {MAX_WORKER_THREADS}, and is {value:?}"))
    }

    /// How many processors the runtime may use: one at least.
    pub(crate) fn num_processors(&self) -> usize {
        self.processors.max(1)
    }

    /// How many worker slots the runtime will have from the start, so that drivers can keep one shard for each. What
    /// [`worker_index`](crate::context::worker_index) gives is below it.
    pub fn slots(&self) -> usize {
        match self.flavor {
            Flavor::CurrentThread => 1,
            Flavor::MultiThread => self.worker_threads + BLOCK_ON_CORES,
        }
    }

    /// How many spare workers there can be.
    pub(crate) fn spare_workers(&self) -> usize {
        // The idle protocol counts all threads that sleep.
        self.max_spare_workers.min(MAX_WORKER_THREADS - self.worker_threads)
    }

    /// Who is called when something happens to a task.
    pub(crate) fn listeners(&self) -> Option<Listeners> {
        Listeners::new(self.on_task_event.clone(), &self.task_hooks)
    }

    /// Which threads have lanes of their own in the flight recorder.
    pub(crate) fn lane_numbers(&self) -> LaneNumbers {
        match self.flavor {
            Flavor::CurrentThread => LaneNumbers { workers: 1, block_on_threads: 0, spares: 0 },
            Flavor::MultiThread => LaneNumbers {
                workers: self.worker_threads,
                block_on_threads: BLOCK_ON_CORES,
                spares: self.spare_workers(),
            },
        }
    }

    /// How the threads are made. Calls the user's namer for those that the runtime has from the start, and for some
    /// more.
    pub(crate) fn threads(&self) -> Threads {
        let workers = match self.flavor {
            Flavor::CurrentThread => 0,
            Flavor::MultiThread => self.worker_threads,
        };
        Threads { names: Names::new(&self.thread_names, workers), stack_size: self.thread_stack_size }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("flavor", &self.flavor)
            .field("name", &self.name)
            .field("worker_threads", &self.worker_threads)
            .field("processors", &self.processors)
            .field("max_blocking_threads", &self.max_blocking_threads)
            .field("thread_keep_alive", &self.thread_keep_alive)
            .field("thread_stack_size", &self.thread_stack_size)
            .field("rescue_blocked", &self.rescue_blocked)
            .field("blocked_threshold", &self.blocked_threshold)
            .field("max_spare_workers", &self.max_spare_workers)
            .field("report_stalls", &self.report_stalls)
            .field("measure_polls", &self.measure_polls)
            .field("trace", &self.trace)
            .field("global_queue_interval", &self.global_queue_interval)
            .field("event_interval", &self.event_interval)
            .field("coop_budget", &self.coop_budget)
            .field("rng_seed", &self.rng_seed)
            .finish_non_exhaustive()
    }
}

/// How a runtime's threads are made.
pub(crate) struct Threads {
    names: Names,
    stack_size: Option<usize>,
}

impl Threads {
    fn builder(&self, role: &str, number: u64) -> thread::Builder {
        let builder = thread::Builder::new().name(self.names.next(role, number));
        match self.stack_size {
            Some(size) => builder.stack_size(size.clamp(MIN_THREAD_STACK_SIZE, isize::MAX as usize)),
            None => builder,
        }
    }

    /// For the monitor.
    pub(crate) fn monitor_builder(&self) -> thread::Builder {
        thread::Builder::new().name("rt-monitor".into())
    }

    /// For the end, should no other thread be there for it.
    pub(crate) fn finale_builder(&self) -> thread::Builder {
        thread::Builder::new().name("rt-shutdown".into())
    }

    pub(crate) fn worker_builder(&self, index: usize) -> thread::Builder {
        self.builder("worker", index as u64)
    }

    pub(crate) fn spare_builder(&self, number: u64) -> thread::Builder {
        self.builder("spare", number)
    }

    pub(crate) fn blocking_builder(&self, number: u64) -> thread::Builder {
        self.builder("blocking", number)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::driver::DriverStack;
    use crate::runtime::control;

    #[test]
    fn a_runtime_may_have_any_number_of_processors() {
        for flavor in [Flavor::CurrentThread, Flavor::MultiThread] {
            for processors in [0, 1, 2, 33, usize::MAX] {
                let mut config = Config::new(flavor);
                (config.worker_threads, config.processors) = (2, processors);
                assert!((1..=MAX_WORKER_THREADS).contains(&config.default_worker_threads().unwrap()));
                let handle = control::start(&config, Arc::new(Clock::new()), DriverStack::bare()).unwrap();
                // By way of the injector, and by way of the blocking pool.
                for task in [handle.spawn(async {}), handle.spawn_blocking(|| ())] {
                    handle.block_on(task).unwrap();
                }
                control::close(&handle);
                control::wait_closed(&handle, None);
            }
        }
    }
}
