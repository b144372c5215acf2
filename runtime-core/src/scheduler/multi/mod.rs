//! The work-stealing scheduler.
//!
//! Each worker thread has three queues that others can steal from: a LIFO deque, where wakes and spawns go; a *FIFO
//! queue*, where tasks go that yielded or were woken by sockets; and a *timer queue* (FIFO) for what timers wake. What
//! comes from remote threads goes through the *injector*.
//!
//! - A worker's life: `worker.rs` has its loop, `run_queue.rs` the order in which the queues are served, `steal.rs` how
//!   it comes by others' tasks, `driver_events.rs` what it does with the drivers, `park_worker.rs` how it falls asleep,
//!   `idle/` the protocol of that, `control_word.rs` what all workers are told, `block_on.rs` what `block_on` does on
//!   its caller's thread, `wake_all.rs` how many are woken at once.
//! - Workers that are blocked: `rescue/` looks after them, `spares.rs` stand in for them, `spare_count.rs` says how
//!   many, `responder.rs` which one keeps free, `block_in_place.rs` what a worker does that says so itself.
//! - Beginning and end: `cores.rs` says which thread has which core, `threads.rs` starts the threads, `shutdown.rs`
//!   ends the scheduler.
//!
//! [`Shared`] is what all threads see of it. It lies in the runtime's [`Inner`], once.

mod block_in_place;
mod block_on;
mod control_word;
mod cores;
mod driver_events;
mod idle;
mod lifo_slot;
mod measure;
mod park_worker;
mod rescue;
mod responder;
mod run_queue;
mod shutdown;
mod slot;
mod spare_count;
mod spares;
mod steal;
mod threads;
mod wake_all;
mod worker;

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Waker;
use std::time::{Duration, Instant};

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
pub use self::wake_all::wake_all;
pub(crate) use self::worker::Worker;

use super::closing::Closing;
use super::followed::Places;
use super::park::{SharedDriver, Wakeup};
use super::remote_spawns::RemoteSpawns;
use super::{AtWork, IdBlock, ThreadRole, ends, runtime_of};
use crate::clock::Clock;
use crate::context;
use crate::driver::Driver;
use crate::events::TaskEventKind;
use crate::metrics::{Counts, WorkerCounters, WorkerTimes};
use crate::rng::{Generator, Stream};
use crate::runtime::{Config, Inner, WorkerActivity};
use crate::task::arena::{ArenaId, TaskArena};
use crate::task::{Header, JoinHandle, Notified, Schedule, SpawnInfo, TaskRef, contain, discard};
#[cfg(not(loom))]
use crate::task::{Id, Snapshot};
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
    /// The next thread that puts a task into the injector is to follow it.
    follows_injected: CachePadded<AtomicBool>,
    started: Instant,
    /// The number of workers that can run at the same time, each on a processor.
    processors: usize,
    /// Whether the process may use one processor only: then waiting for another thread by looking is waiting in vain.
    single_cpu: bool,
}

/// The private side: whatever thread has the core is the worker, or the `block_on` thread.
struct Core {
    index: usize,
    run_queue: RunQueue,
    parker: Parker,
    victims: Stream,
    user_random: Stream,
    ids: IdBlock,
    /// For how long it has waited last until it was called, if it was one for which it spins (`spin.rs`).
    last_wait: Cell<Option<Duration>>,
}

/// Both sides of a worker.
fn new_worker(index: usize, injector_interval: u32, rng: &Generator) -> (Slot, Core) {
    let (run_queue, stealers) = RunQueue::new(injector_interval);
    let (wakeup, parker) = Wakeup::new();
    let (victims, user_random) = (rng.split(), rng.split());
    let (ids, last_wait) = (IdBlock::default(), Cell::default());
    let core = Core { index, run_queue, parker, victims, user_random, ids, last_wait };
    (Slot::new(index, stealers, wakeup), core)
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
            started: Clock::real(),
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

    /// A point in time as the workers note it: in microseconds since the start.
    fn micros_since_start(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.started).as_micros() as u64
    }

    /// The present in nanoseconds since the start.
    fn nanos_since_start(&self) -> u64 {
        self.nanos_at(Clock::real())
    }

    /// A moment in nanoseconds since the start.
    fn nanos_at(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.started).as_nanos() as u64
    }

    /// The workers' public sides, without the `block_on` threads'.
    fn worker_slots(&self) -> &[CachePadded<Slot>] {
        &self.slots[..self.workers]
    }

    /// Wakes a `block_on` thread, which may spin for the next call (`spin.rs`).
    fn wake_block_on(&self, runtime: &Inner, slot: usize) {
        let slot = self.slot(slot);
        slot.wakeup.unpark(&*runtime.drivers.unpark, || slot.wake_latency.note_call(self.nanos_since_start()));
    }

    /// Wakes a worker, or a `block_on` thread that has tasks to free. A thread that a worker wakes by this does not
    /// spin for the next call: the calling worker can poll by itself what it calls for, and spinning would take a
    /// processor from it or from a client.
    fn wake_worker(&self, runtime: &Inner, slot: usize) {
        let slot = self.slot(slot);
        slot.wakeup.unpark(&*runtime.drivers.unpark, || {
            if !Self::is_worker_here(runtime) {
                slot.wake_latency.note_call(self.nanos_since_start());
            }
        });
    }

    /// Whether this thread is a worker of the runtime, not a `block_on` thread.
    fn is_worker_here(runtime: &Inner) -> bool {
        Self::worker_here(runtime).is_some_and(|worker| worker.with(|worker| !worker.is_block_on()))
    }

    /// Surplus work was made visible: wakes a worker for it, if need be. `is_taken` tells whether it has gone to
    /// somebody already; it must not look far.
    #[inline]
    fn notify(&self, runtime: &Inner, is_taken: impl Fn() -> bool) {
        if let Some(worker) = self.idle.wake_one(is_taken) {
            self.wake_worker(runtime, worker);
        }
    }

    /// Whether a worker sleeps that would take whatever there is. (Wrongly yes while the responder queues a part of
    /// what the drivers bring: the monitor looks again.)
    fn has_sleepers(&self) -> bool {
        let responder = self.quarantine.responder().map(|index| self.slot(index));
        self.idle.sleepers() > usize::from(responder.is_some_and(|slot| slot.activity.is_parked()))
    }

    /// Wakes a worker that sleeps, if there is one: whether or not somebody searches.
    fn wake_somebody(&self, runtime: &Inner) -> bool {
        let responder = self.quarantine.responder();
        // What there is may not be for the responder.
        let worker = self.idle.wake_one_of(|worker| Some(worker) != responder).or_else(|| self.idle.wake_any());
        if let Some(worker) = worker {
            self.wake_worker(runtime, worker);
        }
        worker.is_some()
    }

    /// A thread goes that may have been the one to look after the drivers: has another one come, if need be.
    fn ensure_driver_attended(&self, runtime: &Inner) {
        // Those that are awake come by the drivers sooner or later, and look at everything before they sleep.
        if !self.driver.is_attended() {
            self.wake_somebody(runtime);
        }
    }

    /// Whether there is work that a worker on its way to sleep should stay awake for.
    fn has_surplus(&self) -> bool {
        !self.injector.is_empty() || !self.external_wakers.is_empty() || self.victims().any(Slot::has_surplus)
    }

    /// Whether work waits that somebody should be woken for: also what is in quarantine.
    fn does_work_wait(&self) -> bool {
        self.has_surplus() || self.quarantine.quarantined() > 0
    }

    /// Calls the wakers that the drivers have left, one by one: a thread that comes along meanwhile takes the next.
    fn call_external_wakers(&self, count: impl Fn()) {
        while let Some(waker) = take_one(&self.external_wakers) {
            count();
            discard(contain(|| waker.wake()));
        }
    }

    /// Queues a task in the injector: from a remote thread, or from a `block_on` thread.
    #[inline]
    fn inject(&self, runtime: &Inner, task: Notified) {
        if self.follows_injected.load(Relaxed) {
            self.follow_injected(&task);
        }
        self.inject_unfollowed(runtime, task);
    }

    /// The same for a thread that follows tasks by a count of its own.
    fn inject_unfollowed(&self, runtime: &Inner, task: Notified) {
        self.injector.push(task);
        self.announce_injected(runtime);
    }

    /// Tasks have been put into the injector.
    #[inline]
    fn announce_injected(&self, runtime: &Inner) {
        self.notify(runtime, || self.injector.is_empty());
        // After the fence in `Idle::wake_one`, which `notify` passes.
        self.queues.after_push(|| self.empty_queues());
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

    /// The arena for the tasks that the calling thread spawns, if it is external.
    fn remote_spawns_here(&self) -> &RemoteSpawns {
        &self.remote_spawns[context::thread_token() % self.remote_spawns.len()]
    }

    /// Spawns a task from whatever thread.
    pub(crate) fn spawn<F>(&self, runtime: &Inner, future: F, info: SpawnInfo) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if let Some(worker) = Self::worker_here(runtime) {
            return worker.with(|worker| worker.spawn(future, info));
        }
        let (task, handle) = self.remote_spawns_here().spawn::<F, Multi>(runtime, future, info);
        if let Some(task) = task {
            self.inject(runtime, task);
        }
        handle
    }

    /// Reads every task that is not over.
    #[cfg(not(loom))]
    pub(crate) fn inspect_tasks(&self, into: &mut Vec<Snapshot>) {
        self.arenas().for_each(|arena| arena.inspect(into));
    }

    /// The tasks in whose polls workers are, and since when ([`WorkerTimes::read_clock_at`]).
    #[cfg(not(loom))]
    pub(crate) fn polls_that_go_on(&self) -> impl Iterator<Item = (Id, u64)> {
        self.all_slots().filter_map(Slot::poll_that_goes_on)
    }

    pub(crate) fn counters(&self) -> impl Iterator<Item = &WorkerCounters> {
        self.all_slots()
            .map(|slot| &slot.counters)
            .chain(self.remote_spawns.iter().flat_map(|remote| remote.counters()))
    }

    /// Whether all tasks have ended. See `ends.rs`.
    pub(crate) fn have_all_ended(&self) -> bool {
        ends::are_equal(self.all_slots().map(|slot| &slot.ended), self.counters())
    }

    pub(crate) fn num_spare_threads(&self) -> usize {
        self.spares.num_threads()
    }

    pub(crate) fn blocked(&self) -> u64 {
        self.monitor.blocked()
    }

    pub(crate) fn num_workers(&self) -> usize {
        self.workers
    }

    /// What a worker has counted, by the time it is.
    pub(crate) fn worker_counts(&self, worker: usize) -> Option<Counts> {
        self.worker_slots().get(worker).map(|slot| self.counts_of(slot))
    }

    fn counts_of(&self, slot: &Slot) -> Counts {
        slot.times.read(&slot.counters, self.nanos_since_start())
    }

    /// What all have counted: workers, `block_on` threads, spare workers, and remote threads.
    pub(crate) fn all_counts(&self) -> impl Iterator<Item = Counts> {
        let remote = self.remote_spawns.iter().flat_map(|remote| remote.counters());
        self.all_slots().map(|slot| self.counts_of(slot)).chain(remote.map(WorkerCounters::read))
    }

    pub(crate) fn worker_times(&self, worker: usize) -> Option<&WorkerTimes> {
        self.worker_slots().get(worker).map(|slot| &slot.times)
    }

    /// Those of the workers and of all spare workers that there ever were.
    pub(crate) fn all_times(&self) -> impl Iterator<Item = &WorkerTimes> {
        self.all_slots().map(|slot| &slot.times)
    }

    /// The present in nanoseconds since the start, as [`WorkerTimes`] has it.
    pub(crate) fn now_nanos(&self) -> u64 {
        self.nanos_since_start()
    }

    pub(crate) fn worker_queue_depth(&self, worker: usize) -> Option<usize> {
        Some(self.worker_slots().get(worker)?.run_queue.len())
    }

    pub(crate) fn worker_activity(&self, worker: usize) -> Option<WorkerActivity> {
        Some(self.worker_slots().get(worker)?.activity.describe())
    }

    pub(crate) fn injector_depth(&self) -> usize {
        self.injector.len() + self.quarantine.quarantined()
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

impl Schedule for Multi {
    #[inline]
    fn schedule(task: Notified) {
        // SAFETY: the task has this type in its vtable.
        let runtime: *const Inner = unsafe { runtime_of(task.header()) }.expect("a task that was refused is complete");
        // SAFETY: the task keeps its runtime; and while this thread is one of its workers, or `keep` lives, it stays.
        let runtime = unsafe { &*runtime };
        runtime.events.emit(|| Shared::lane_here(runtime), task.task(), TaskEventKind::Woken);
        if let Some(worker) = Shared::worker_here(runtime) {
            worker.with(|worker| worker.push(task));
        } else {
            // Once in the queue the task may run, end and be freed, and the runtime with it, while this thread has yet
            // to look for a sleeper. One more reference keeps both.
            let keep = TaskRef::clone(task.task());
            let shared = Self::shared(runtime);
            shared.remote_spawns_here().count_wakes(1);
            shared.inject(runtime, task);
            drop(keep);
        }
    }

    #[inline]
    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe { super::release(task, Shared::worker_here, Worker::local_arena) };
    }
}

/// Starts the threads of a runtime.
pub(crate) fn start(runtime: &Arc<Inner>, config: &Config) -> std::io::Result<()> {
    threads::start(runtime, config)
}
