//! The work-stealing scheduler.
//!
//! Each worker thread has four queues that others can steal from: a LIFO deque, where wakes and spawns go; a *FIFO
//! queue*, where tasks go that have woken themselves or were woken by sockets; a *timer queue* (FIFO) for what timers
//! wake; and one of those that have *given way* (FIFO), by `yield_now` or for want of budget. What comes from remote
//! threads goes through the *injector*.
//!
//! - A worker's life: `worker.rs` has its loop, `maintenance.rs` what it sees to in between, `slot.rs` what others see
//!   of it.
//! - Its tasks: `run_queue.rs` has the order in which the queues are served, `lifo_slot.rs` and `given_way.rs` two of
//!   them, `steal.rs` how it comes by others' tasks, `inject.rs` how tasks come in from outside, `wake_all.rs` how many
//!   are woken at once, `block_on.rs` what `block_on` does on its caller's thread.
//! - Sleep: `driver_events.rs` has what it does with the drivers, `park_worker.rs` how it falls asleep, `idle/` the
//!   protocol of that, `notify.rs` how it is woken, `control_word.rs` what all workers are told.
//! - Workers that are blocked: `rescue/` looks after them, `spares.rs` stand in for them, `spare_count.rs` says how
//!   many, `responder.rs` which one keeps free, `block_in_place.rs` what a worker does that says so itself.
//! - Beginning and end: `cores.rs` says which thread has which core, `threads.rs` starts the threads, `shutdown.rs`
//!   ends the scheduler. `measure.rs` and `observe.rs`: what is seen of it.
//!
//! [`Shared`] is what all threads see of it. It lies in the runtime's [`Inner`], once.

mod block_in_place;
mod block_on;
mod comebacks;
mod control_word;
mod cores;
mod driver_events;
mod given_way;
mod idle;
mod inject;
mod lifo_slot;
mod maintenance;
mod measure;
mod notify;
mod observe;
mod park_worker;
mod rescue;
mod responder;
mod run_queue;
mod shutdown;
mod slot;
mod spare_count;
mod spares;
mod stalled;
mod steal;
mod threads;
mod wake_all;
mod worker;

use std::sync::atomic::AtomicBool;
use std::task::Waker;

use crate::primitive::{Injector, Parker};
use crossbeam_utils::CachePadded;

pub(crate) use self::block_in_place::outside;
pub(crate) use self::block_on::block_on;
use self::control_word::ControlWord;
use self::cores::Cores;
use self::idle::Idle;
use self::rescue::Monitor;
use self::responder::Quarantine;
use self::run_queue::RunQueue;
pub(crate) use self::run_queue::take_one;
use self::slot::Slot;
use self::spares::Spares;
use self::stalled::PeerLooks;
pub(crate) use self::threads::start;
pub use self::wake_all::wake_all;
pub(crate) use self::worker::Worker;

use super::closing::Closing;
use super::followed::Places;
use super::park::{SharedDriver, Wakeup};
use super::remote_spawns::RemoteSpawns;
use super::{AtWork, IdBlock, ThreadRole};
use crate::context;
use crate::driver::Driver;
use crate::rng::{Generator, Stream};
use crate::runtime::{Config, Inner};
use crate::spin::Spinner;
use crate::task::Notified;
use crate::task::arena::{ArenaId, TaskArena};
use crate::trace::LaneId;

/// The number of callers of `block_on` that spawn as cheaply as workers at the same time. Further ones spawn like
/// remote threads.
pub(crate) const BLOCK_ON_CORES: usize = 4;

/// How many arenas there are for tasks from remote threads, so that those do not all queue for one lock. More than
/// processors, because threads come to an arena by chance.
fn remote_arenas(processors: usize) -> usize {
    (2 * processors.min(32)).next_power_of_two()
}

/// What all threads see of the scheduler.
pub(crate) struct Shared {
    /// One for each worker, then one for each `block_on` thread. Those of spare workers, whose numbers follow, are in
    /// `spares`.
    slots: Box<[CachePadded<Slot>]>,
    workers: usize,
    spares: Spares,
    quarantine: Quarantine,
    /// For the spare workers' streams.
    rng: Generator,
    injector: Injector<Notified>,
    /// Wakers that are not of this runtime's tasks, and that are called when the drivers have been given back.
    external_wakers: Injector<Waker>,
    queues: Closing,
    /// Every thread of the scheduler looks at it each tick.
    control: ControlWord,
    idle: CachePadded<Idle>,
    driver: SharedDriver,
    remote_spawns: Box<[CachePadded<RemoteSpawns>]>,
    cores: Cores,
    monitor: Monitor,
    places: Places,
    peer_looks: CachePadded<PeerLooks>,
    /// The next thread that puts a task into the injector is to follow it.
    follows_injected: CachePadded<AtomicBool>,
    /// The number of workers that can run at the same time, each on a processor.
    processors: usize,
    /// Whether the process may use one processor only: then waiting for another thread by looking is waiting in vain.
    single_cpu: bool,
}

/// The private side: whatever thread has the core is the worker, or the `block_on` thread. It stays in one place, for
/// it changes hands in each call of `block_on`; and shares no cache line, for they are all made by one thread.
#[repr(align(128))]
struct Core {
    index: usize,
    run_queue: RunQueue,
    parker: Parker,
    victims: Stream,
    user_random: Stream,
    ids: IdBlock,
    spinner: Spinner,
}

/// Both sides of a worker.
fn new_worker(index: usize, injector_interval: u32, rng: &Generator) -> (Slot, Box<Core>) {
    let (run_queue, stealers) = RunQueue::new(injector_interval);
    let (wakeup, parker) = Wakeup::new();
    let (victims, user_random) = (rng.split(), rng.split());
    let (ids, spinner) = (IdBlock::default(), Spinner::default());
    let core = Core { index, run_queue, parker, victims, user_random, ids, spinner };
    (Slot::new(index, stealers, wakeup), Box::new(core))
}

impl Shared {
    pub(crate) fn new(config: &Config, driver: Box<dyn Driver>, rng: Generator) -> Self {
        let processors = config.worker_threads.min(config.num_processors());
        let (slots, cores): (Vec<_>, Vec<_>) = (0..config.worker_threads + BLOCK_ON_CORES)
            .map(|index| new_worker(index, config.global_queue_interval, &rng))
            .map(|(slot, core)| (CachePadded::new(slot), core))
            .unzip();
        let remote_arenas = remote_arenas(config.num_processors());
        Self {
            places: Places::new(slots.len() + remote_arenas),
            peer_looks: CachePadded::default(),
            follows_injected: CachePadded::default(),
            slots: slots.into(),
            workers: config.worker_threads,
            spares: Spares::new(config.spare_workers(), config.thread_keep_alive),
            quarantine: Quarantine::new(),
            rng,
            injector: Injector::new(),
            external_wakers: Injector::new(),
            queues: Closing::new(),
            control: ControlWord::default(),
            idle: CachePadded::new(Idle::new(config.worker_threads)),
            driver: SharedDriver::new(driver),
            remote_spawns: (0..remote_arenas).map(|index| CachePadded::new(RemoteSpawns::new(index))).collect(),
            cores: Cores::new(cores, config.worker_threads),
            monitor: Monitor::new(config),
            processors,
            single_cpu: config.num_processors() == 1,
        }
    }

    /// Called once, when the runtime has its place in memory.
    pub(crate) fn bind(&self, runtime: *const Inner) {
        self.arenas().for_each(|arena| arena.bind(runtime));
    }

    fn arenas(&self) -> impl Iterator<Item = &TaskArena> {
        self.all_slots().map(|slot| &slot.arena).chain(self.remote_spawns.iter().map(|remote| remote.arena()))
    }

    /// The public sides of all workers, `block_on` threads, and spare workers that there ever were.
    fn all_slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().map(|slot| &**slot).chain(self.spares.slots())
    }

    /// The public side of a worker, a `block_on` thread or a spare worker.
    #[inline]
    fn slot(&self, index: usize) -> &Slot {
        match self.slots.get(index) {
            Some(slot) => slot,
            None => self.spares.slot(index - self.slots.len()).expect("a spare worker's slot is made before its core"),
        }
    }

    /// How many there are that tasks can be stolen from.
    #[inline]
    fn num_victims(&self) -> usize {
        self.workers + self.cores.spares_in_use()
    }

    /// One of them. `None` for a spare worker that is being made at this moment.
    #[inline]
    fn victim(&self, number: usize) -> Option<&Slot> {
        match number.checked_sub(self.workers) {
            None => Some(&self.slots[number]),
            Some(spare) => self.spares.slot(spare),
        }
    }

    /// The workers and spare workers that run, or could.
    fn victims(&self) -> impl Iterator<Item = &Slot> {
        (0..self.num_victims()).filter_map(|number| self.victim(number))
    }

    #[inline]
    fn is_closing(&self) -> bool {
        self.control.get().is_closing()
    }

    /// The workers' public sides, without the `block_on` threads'.
    fn worker_slots(&self) -> &[CachePadded<Slot>] {
        &self.slots[..self.workers]
    }

    /// Has a slot's dead tasks freed that other threads have returned.
    pub(crate) fn request_drain(&self, runtime: &Inner, arena: ArenaId) {
        let slot = match arena {
            ArenaId::Slot(slot) => slot,
            ArenaId::Remote(index) => return self.remote_spawns[index].request_drain(),
        };
        let vacant = slot >= self.workers
            && self.cores.visit_vacant(slot, || {
                // SAFETY: a vacant core is nobody's, and the lock keeps it so: its arena is this thread's.
                let arena = unsafe { self.slot(slot).arena.guard() };
                arena.drain_remote_frees();
                if slot >= self.slots.len() {
                    // Nobody is about to make tasks of them.
                    arena.trim();
                }
            });
        if !vacant {
            self.wake_worker(runtime, slot);
        }
    }

    /// The worker that the current thread is for this runtime, if it is one.
    #[inline]
    fn worker_here(runtime: &Inner) -> Option<AtWork<Worker>> {
        match context::role() {
            ThreadRole::Multi(worker) if worker.with(|worker| worker.is_of(runtime)) => Some(worker),
            _ => None,
        }
    }

    /// Where the flight recorder has the calling thread's events.
    #[cold]
    fn lane_here(runtime: &Inner) -> LaneId {
        match Self::worker_here(runtime) {
            Some(worker) => worker.with(Worker::lane),
            None => Self::lane_elsewhere(),
        }
    }

    /// The same, of a thread that has no core of this runtime.
    fn lane_elsewhere() -> LaneId {
        LaneId::Shared(context::thread_token())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        debug_assert!(self.injector_depth() == 0, "shutdown empties the queues");
    }
}

/// The work-stealing scheduler, to its tasks.
pub(crate) struct Multi;

impl Multi {
    fn shared(runtime: &Inner) -> &Shared {
        match &runtime.scheduler {
            super::Scheduler::Multi(shared) => shared,
            super::Scheduler::Current(_) => unreachable!("a task stays with its kind of scheduler"),
        }
    }
}
