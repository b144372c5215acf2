//! A runtime as a whole: what its parts share (`Inner`), what users hold of it ([`Handle`]), and what its owner, a type
//! of the facade, does with it ([`control`]).

mod config;
pub mod control;
mod handle;
mod histogram_configuration;
mod hooks;
mod id;
mod local_options;
mod metrics;
mod metrics_by_tokio_names;
mod names;
mod shutdown_error;
#[cfg(not(loom))]
mod tasks;
mod thread;
mod unhandled_panic;
mod weak_handle;
mod worker_activity;

use std::io;
use std::panic::RefUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::config::{Config, Flavor, Hook, MAX_WORKER_THREADS, MIN_THREAD_STACK_SIZE, RuntimeFlavor};
pub use self::handle::{EnterGuard, Handle, TryCurrentError};
pub(crate) use self::handle::{spawn_blocking_here, spawn_here, spawn_local_here};
pub use self::histogram_configuration::{
    HistogramConfiguration, HistogramScale, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
};
pub use self::id::Id;
pub use self::local_options::LocalOptions;
pub use self::metrics::RuntimeMetrics;
pub use self::names::{ThreadNamer, ThreadNames};
pub use self::shutdown_error::{ShutDown, is_rt_shutdown_err};
#[cfg(not(loom))]
pub(crate) use self::tasks::snapshots;
pub use self::unhandled_panic::UnhandledPanic;
pub use self::weak_handle::WeakHandle;
pub use self::worker_activity::{PolledTask, WorkerActivity};

pub(crate) use self::config::{DEFAULT_COOP_BUDGET, DEFAULT_INTERVAL};
pub(crate) use self::thread::{Thread, join_threads};

use self::config::Threads;
use self::hooks::Hooks;
use crate::blocking_pool::Pool;
use crate::clock::Clock;
use crate::coop::Budget;
use crate::driver::{DriverStack, KnownService, Unpark};
use crate::events::Events;
use crate::reporter::Reporter;
use crate::rng::{Generator, RngSeed};
use crate::scheduler::ends::Ends;
use crate::scheduler::{Scheduler, current, multi};
#[cfg(not(loom))]
use crate::stall;
use crate::task::arena::ArenaId;
use crate::task::host::Host;
use crate::task::outstanding::Outstanding;

/// What all parts of a runtime share. Always in an [`Arc`]; handles, threads and main futures count it, and all its
/// tasks together hold one count (`task/outstanding.rs`).
pub(crate) struct Inner {
    pub(crate) id: Id,
    name: Option<String>,
    pub(crate) scheduler: Scheduler,
    pub(crate) drivers: Drivers,
    pub(crate) clock: Arc<Clock>,
    pub(crate) blocking: Pool,
    pub(crate) hooks: Hooks,
    pub(crate) threads: Threads,
    pub(crate) events: Events,
    pub(crate) reporter: Reporter,
    pub(crate) budget: Budget,
    pub(crate) event_interval: u32,
    pub(crate) measures_polls: bool,
    pub(crate) global_queue_interval: u32,
    pub(crate) ends: Ends,
    #[cfg(not(loom))]
    stalls: stall::Watch,
    outstanding: Outstanding,
    /// A model counts from one each time.
    #[cfg(loom)]
    next_id: AtomicU64,
}

/// What of the driver stack is for everybody.
pub(crate) struct Drivers {
    pub(crate) unpark: Arc<dyn Unpark>,
    pub(crate) io: Option<KnownService>,
    pub(crate) time: Option<KnownService>,
}

// A panic leaves a runtime as whole as it was: what can panic in it is users' code (polls, hooks, drops, wakers), which
// is called with nothing half done and no lock held; a worker whose own code panics ends the process. So code that
// catches a panic may go on to use what shares the runtime: handles, metrics, the owner.
impl RefUnwindSafe for Inner {}

impl Inner {
    /// Makes a runtime, and starts its threads.
    pub(crate) fn start(config: &Config, clock: Arc<Clock>, drivers: DriverStack) -> io::Result<Arc<Self>> {
        let rng = Generator::new(config.rng_seed.unwrap_or_else(RngSeed::arbitrary));
        let scheduler = match config.flavor {
            Flavor::MultiThread => Scheduler::Multi(multi::Shared::new(config, drivers.driver, rng)),
            Flavor::CurrentThread => Scheduler::Current(current::Shared::new(config, drivers.driver, &rng)),
        };
        let inner = Arc::new(Self {
            id: Id::next(),
            name: config.name.clone(),
            scheduler,
            drivers: Drivers {
                unpark: drivers.unpark,
                io: drivers.io.map(KnownService::new),
                time: drivers.time.map(KnownService::new),
            },
            clock,
            blocking: Pool::new(config),
            hooks: Hooks::new(config),
            threads: config.threads(),
            events: Events::new(config.listeners(), config.lane_numbers()),
            reporter: Reporter::default(),
            budget: Budget::limited(config.coop_budget),
            event_interval: config.event_interval.max(1),
            // A model's branches must not depend on the time.
            measures_polls: config.measure_polls && !cfg!(loom),
            global_queue_interval: config.global_queue_interval.max(1),
            ends: Ends::new(),
            #[cfg(not(loom))]
            stalls: stall::Watch::default(),
            outstanding: Outstanding::new(),
            #[cfg(loom)]
            next_id: AtomicU64::new(1),
        });
        if let Some(trace) = &config.trace {
            inner.events.recorder().start(trace);
        }
        // The count that all tasks together hold, from the first on.
        std::mem::forget(Arc::clone(&inner));
        match &inner.scheduler {
            Scheduler::Multi(shared) => {
                shared.bind(Arc::as_ptr(&inner));
                if let Err(error) = multi::start(&inner, config) {
                    inner.close();
                    inner.wait_closed(None);
                    return Err(error);
                }
            }
            Scheduler::Current(shared) => shared.bind(Arc::as_ptr(&inner)),
        }
        #[cfg(not(loom))]
        if let Some(every) = config.report_stalls
            && let Err(error) = inner.stalls.start(&inner, every, config.on_stall.clone())
        {
            inner.close();
            inner.wait_closed(None);
            return Err(error);
        }
        Ok(inner)
    }

    pub(crate) fn flavor(&self) -> Flavor {
        match self.scheduler {
            Scheduler::Multi(_) => Flavor::MultiThread,
            Scheduler::Current(_) => Flavor::CurrentThread,
        }
    }

    /// Worker threads; 1 on a current-thread runtime.
    pub(crate) fn num_workers(&self) -> usize {
        match &self.scheduler {
            Scheduler::Multi(shared) => shared.num_workers(),
            Scheduler::Current(_) => 1,
        }
    }

    /// The first of `n` task identifiers that nobody else gets.
    pub(crate) fn reserve_ids(&self, n: u64) -> u64 {
        #[cfg(not(loom))]
        return reserve_task_ids(n);
        #[cfg(loom)]
        self.next_id.fetch_add(n, Ordering::Relaxed)
    }

    /// Whether all tasks have ended.
    pub(crate) fn have_all_ended(&self) -> bool {
        match &self.scheduler {
            Scheduler::Multi(shared) => shared.have_all_ended(),
            Scheduler::Current(shared) => shared.have_all_ended(),
        }
    }

    /// Should all tasks have ended, tells those who wait for that. Returns whether there are any.
    pub(crate) fn tell_end(&self) -> bool {
        self.ends.tell(|| self.have_all_ended())
    }

    /// Called at the end of shutdown with the number of tasks of the closed arenas that still have their memory.
    pub(crate) fn add_outstanding(self: &Arc<Self>, tasks: usize) {
        if self.outstanding.add(tasks) {
            // SAFETY: the count that `start` set aside for all tasks, and there is none any more.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(self)) };
        }
    }

    /// Begins the shutdown: of the scheduler, then of the blocking pool.
    pub(crate) fn close(self: &Arc<Self>) {
        #[cfg(not(loom))]
        self.stalls.close();
        match &self.scheduler {
            Scheduler::Multi(shared) => shared.close(self),
            Scheduler::Current(shared) => shared.close(self),
        }
        self.blocking.close(self);
        self.reporter.close();
    }

    /// Waits until the scheduler has come to its end, and the blocking pool too. False if that takes longer than the
    /// limit.
    pub(crate) fn wait_closed(&self, limit: Option<std::time::Duration>) -> bool {
        let start = Clock::real();
        let scheduler_done = match &self.scheduler {
            Scheduler::Multi(shared) => shared.wait_closed(self, limit),
            Scheduler::Current(shared) => shared.wait_closed(limit),
        };
        let left = limit.map(|limit| limit.saturating_sub(Clock::real().saturating_duration_since(start)));
        #[cfg(not(loom))]
        self.stalls.wait_closed(left);
        self.blocking.wait_closed(self, left) && scheduler_done
    }
}

/// The first of `n` task identifiers that nobody else in the process gets.
#[cfg(not(loom))]
pub(crate) fn reserve_task_ids(n: u64) -> u64 {
    // Zero stands for "no task".
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(n, Ordering::Relaxed)
}

/// A model must not depend on how many were run before it.
#[cfg(loom)]
pub(crate) fn reserve_task_ids(_: u64) -> u64 {
    1
}

impl Host for Inner {
    fn request_drain(&self, arena: ArenaId) {
        match &self.scheduler {
            Scheduler::Multi(shared) => shared.request_drain(self, arena),
            Scheduler::Current(shared) => shared.request_drain(self, arena),
        }
    }

    unsafe fn remove_outstanding(this: *const Self) {
        // SAFETY: the caller's promise; and `start` set aside the count that the last task gives back.
        unsafe {
            if (*this).outstanding.remove_one() {
                Arc::decrement_strong_count(this);
            }
        }
    }
}

/// Which worker of the current runtime the calling thread is, as the methods of [`RuntimeMetrics`] number them.
///
/// `None` on a thread that is not a worker: one of the blocking pool, one in `block_on` of a multi-thread runtime, a
/// spare worker that stands in for a blocked one, or one without a runtime. On a current-thread runtime it is `Some(0)`
/// on the thread that drives the runtime. A task may find itself on another worker after each `await`.
///
/// # Example
///
/// ```
/// let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
/// assert_eq!(runtime.block_on(async { rt::runtime::worker_index() }), Some(0));
/// assert_eq!(rt::runtime::worker_index(), None);
/// ```
pub fn worker_index() -> Option<usize> {
    let index = crate::context::worker_index()?;
    let is_worker = crate::context::with_runtime(|runtime| index < runtime.num_workers());
    (is_worker == Ok(true)).then_some(index)
}
