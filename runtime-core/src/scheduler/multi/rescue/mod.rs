//! Rescue of workers that are blocked. The *monitor* is a thread that notices when a worker is stuck in one poll while
//! something waits behind it, and sees to it that others take over.
//!
//! A worker wakes others for its surplus only, so the single task on its queues waits for the poll at hand to return;
//! and a worker that left the drivers to run a task looks after them when that poll returns. Should a poll not return,
//! the monitor wakes an idle worker, which steals what is stranded, and attends the drivers when it goes back to sleep;
//! if none is idle, it starts a spare worker (`../spares.rs`).
//!
//! # What the monitor sees
//!
//! It samples, every millisecond to every ten (`sample_interval.rs`), what each worker has counted and the length of
//! its queues. All that is kept by the workers anyway, or stored as they go; they never wait for the monitor, and do
//! not answer it. `sampler.rs` decides from the samples which are stuck, and `policy.rs` what to do; spare workers are
//! watched as the others are. A poll that was blocked while something waited is an *event*: it is counted, and reported
//! once for each place where such tasks are spawned (`report.rs`).
//!
//! When the stuck workers are back there are too many: those spares that sleep are woken to retire, and those that work
//! do so at their next maintenance.
//!
//! A thread that the operating system lets wait for a processor looks stuck, too. It is not: on an overloaded machine
//! more threads would make it worse. So a thread counts as stuck only if the system says that it sleeps, or that it has
//! had processor time since it was first suspected. And a thread that sleeps while another worker gets no processor may
//! wait for a lock which that one holds: it is put off until that worker has got on, or turns out to compute, for a
//! tenth of a second at most. Processes that have used up their quota of processor time stand still like that: the
//! workers, but not always the monitor.
//!
//! # When it sleeps
//!
//! When all workers have slept for a while or block in place, none of them over a task and one of them in the drivers,
//! and no more spares are left than workers block in place, the monitor sleeps too, without a timeout, until a worker
//! wakes up (`monitor_park.rs`): an idle runtime makes no system calls. `block_on` threads need no watching: what they
//! spawn goes to the injector, which wakes a worker.
//!
//! # What it must never do
//!
//! Wait for anybody. Whatever it waited for might wait for a blocked task, and then nobody helps any more, and the
//! runtime, whose end joins this thread, never ends. So nothing runs here that is not the runtime's own: no hook, no
//! observer of task events, no waker, no write to stderr. Reports are made by the reporter (`crate::reporter`); the
//! names of the threads that it starts were made before (`runtime/names.rs`).

mod monitor;
mod monitor_park;
mod policy;
mod report;
mod sample_interval;
mod sampler;
mod sites;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use parking_lot::Mutex;

pub(super) use self::monitor::run;
use self::monitor_park::MonitorPark;
use super::Shared;
use crate::blocked::{BlockedHook, DEFAULT_BLOCKED_THRESHOLD};
use crate::primitive::Parker;
use crate::runtime::Config;

/// What is a long time to the monitor. A poll that is blocked for this long is reported before it ends. Where a thread
/// gets next to no processor time, a poll that has lasted for this long is presumed blocked without proof. And for this
/// long after a standstill, a worker that has not moved for one sample is taken to be stuck.
const LONG_BLOCK: Duration = DEFAULT_BLOCKED_THRESHOLD.saturating_mul(100);

/// What the workers see of the monitor.
pub(super) struct Monitor {
    park: MonitorPark,
    /// Until the thread takes it.
    parker: Mutex<Option<Parker>>,
    threshold: Duration,
    /// Whether spares are started, and polls that are blocked are counted and reported.
    rescues: bool,
    hook: Option<BlockedHook>,
    blocked: AtomicU64,
}

impl Monitor {
    pub(super) fn new(config: &Config) -> Self {
        let (park, parker) = MonitorPark::new();
        Self {
            park,
            parker: Mutex::new(Some(parker)),
            threshold: config.blocked_threshold.max(sample_interval::FAST_INTERVAL),
            rescues: config.rescue_blocked,
            hook: config.on_blocked.clone(),
            blocked: AtomicU64::new(0),
        }
    }

    /// A worker woke up.
    #[inline]
    pub(super) fn wake_if_asleep(&self) {
        self.park.wake();
    }

    /// Ends the monitor's wait, for shutdown.
    pub(super) fn unpark(&self) {
        self.park.unpark();
    }

    /// How many events there have been.
    pub(super) fn blocked(&self) -> u64 {
        self.blocked.load(Relaxed)
    }

    /// Whether nothing can go wrong unseen: all workers sleep or block in place, none over work, and one of them is in
    /// the drivers.
    fn all_quiet(shared: &Shared) -> bool {
        // The two words are read one after the other: see `monitor_park.rs`.
        shared.spares.count.at_rest(shared.workers).is_some_and(|sleepers| shared.idle.sleepers() == sleepers)
            && shared.driver.is_attended()
            && shared.victims().all(|slot| slot.run_queue.len() == 0)
            && shared.quarantine.responder().is_none()
            && shared.quarantine.quarantined() == 0
    }
}
