//! The single-threaded scheduler: the thread that calls `block_on` drives it.
//!
//! One [`Core`] with a first-in, first-out queue. The thread that has it runs tasks, its own future among them; other
//! threads that call `block_on` meanwhile only poll their own future, and take the core over when it becomes free.
//! Tasks from remote threads come through an injector. Or the runtime's owner has it driven by hand, for a step or as
//! far as it goes without waiting (`step.rs`).
//!
//! A runtime may be bound to a thread: then only that thread takes the core, and tasks may be `!Send`,
//! because they are polled, and dropped, nowhere else.
//!
//! A panic of a task may be the end of the runtime (`UnhandledPanic`): it is closed in the middle of the poll, and the
//! thread that has the core ends it when it puts the core down. All threads in `block_on` are woken, and panic.

mod drive;
mod line;
#[cfg(all(test, loom))]
mod loom_tests;
mod main_turn;
mod measure;
mod step;

use std::cell::RefCell;
use std::future::Future;
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use crossbeam_utils::CachePadded;

pub(crate) use self::drive::{Worker, block_on};
pub(crate) use self::step::{run_until_stalled, try_tick};

use super::closing::Closing;
use super::ends::EndedTasks;
use super::followed::{Follower, Places};
use super::injector_turns::InjectorTurns;
use super::multi::take_one;
use super::park::{SharedDriver, Wakeup};
use super::poll_interval::PollInterval;
use super::remote_spawns::{self, RemoteSpawns};
use super::{AtWork, IdBlock, ThreadRole, ends, runtime_of};
use crate::clock::{Clock, Moment};
use crate::context::{self, RuntimeGuard};
use crate::driver::Driver;
use crate::events::TaskEventKind;
use crate::metrics::{Counts, PollTimes, WorkerCounters, WorkerTimes};
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use crate::primitive::atomic::{AtomicBool, AtomicUsize, fence};
use crate::primitive::waiting::{Condvar, Mutex};
use crate::primitive::{Injector, Parker, Unparker};
use crate::rng::{Generator, Stream};
use crate::runtime::{Config, Inner, UnhandledPanic};
use crate::task::arena::{ArenaId, TaskArena};
use crate::task::{Header, JoinHandle, Notified, Queue, Runner, Schedule, SpawnInfo, TaskRef};
use crate::trace::LaneId;

/// Where the flight recorder has the events of the thread that has the core.
const LANE: LaneId = LaneId::Core(0);

/// What all threads see of the scheduler.
pub(crate) struct Shared {
    slot: Mutex<CoreSlot>,
    finished: Condvar,
    closing: AtomicBool,
    unhandled_panic: UnhandledPanic,
    /// A task has panicked, and that was to be the end.
    has_panicked: AtomicBool,
    queues: Closing,
    injector: Injector<Notified>,
    driver: SharedDriver,
    /// Of whatever thread has the core.
    wakeup: CachePadded<Wakeup>,
    /// How many tasks are in the core's queue.
    depth: AtomicUsize,
    /// The tasks spawned by the thread that has the core.
    arena: TaskArena,
    /// The tasks spawned by others.
    remote_spawns: RemoteSpawns,
    counters: CachePadded<WorkerCounters>,
    times: WorkerTimes,
    places: Places,
    /// The next thread that puts a task into the injector is to follow it.
    follows_injected: std::sync::atomic::AtomicBool,
    ended: EndedTasks,
    /// The only thread that may take the core, if the runtime is bound to one.
    bound_to: Option<ThreadId>,
}

struct CoreSlot {
    /// Empty while a thread drives, and after the end.
    core: Option<Box<Core>>,
    /// Threads in `block_on` that would drive if they could; of a bound runtime those that never can, and are to hear
    /// of its end.
    waiting: Vec<Arc<Waiter>>,
    finished: bool,
}

impl CoreSlot {
    /// Has those threads look again.
    fn wake_waiting(&mut self) {
        for waiter in self.waiting.drain(..) {
            waiter.listed.store(false, Relaxed);
            waiter.unparker.unpark();
        }
    }
}

/// A thread in `block_on` that waits for the core, or for its own future.
struct Waiter {
    unparker: Unparker,
    /// Whether it is in the list. Changed under the lock.
    listed: AtomicBool,
}

/// The private side: whatever thread has it drives the runtime.
struct Core {
    queue: RefCell<Queue>,
    parker: Parker,
    user_random: Stream,
    ids: IdBlock,
    // These count across callers: a caller that stays for a few ticks only must not begin anew and leave the injector,
    // the drivers and those that have given way to the next, who does the same.
    round: usize,
    poll_interval: PollInterval,
    poll_times: PollTimes,
    follower: Follower,
    injector_turns: InjectorTurns,
}

impl Shared {
    pub(crate) fn new(config: &Config, driver: Box<dyn Driver>, rng: &Generator) -> Self {
        let (wakeup, parker) = Wakeup::new();
        let are_polls_heard = config.listeners().is_some_and(|listeners| listeners.hear_polls());
        let core = Core {
            queue: RefCell::default(),
            round: 0,
            parker,
            user_random: rng.split(),
            ids: IdBlock::default(),
            poll_interval: PollInterval::new(config.event_interval),
            poll_times: PollTimes::new(config.measure_polls && !cfg!(loom), are_polls_heard),
            follower: Follower::new(0),
            injector_turns: InjectorTurns::new(config.global_queue_interval),
        };
        Self {
            slot: Mutex::new(CoreSlot { core: Some(Box::new(core)), waiting: Vec::new(), finished: false }),
            finished: Condvar::new(),
            closing: AtomicBool::new(false),
            unhandled_panic: config.unhandled_panic,
            has_panicked: AtomicBool::new(false),
            queues: Closing::new(),
            injector: Injector::new(),
            driver: SharedDriver::new(driver),
            wakeup: CachePadded::new(wakeup),
            depth: AtomicUsize::new(0),
            arena: TaskArena::new::<Inner>(ArenaId::Slot(0)),
            remote_spawns: RemoteSpawns::new(0),
            counters: CachePadded::default(),
            times: WorkerTimes::default(),
            // For the thread that has the core, and one for all others.
            places: Places::new(2),
            follows_injected: std::sync::atomic::AtomicBool::new(false),
            ended: EndedTasks::new(),
            bound_to: config.local.then(|| thread::current().id()),
        }
    }

    /// Called once, when the runtime has its place in memory.
    pub(crate) fn bind(&self, runtime: *const Inner) {
        self.arenas().iter().for_each(|arena| arena.bind(runtime));
    }

    fn arenas(&self) -> [&TaskArena; 2] {
        [&self.arena, self.remote_spawns.arena()]
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Acquire)
    }

    /// Whether the runtime is bound to a thread.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound_to.is_some()
    }

    /// Whether the calling thread may poll and drop `!Send` futures of this runtime.
    pub(crate) fn is_home(&self) -> bool {
        self.bound_to == Some(thread::current().id())
    }

    /// The core, if it is free and this thread may have it. Else the waiter, if there is one, is unparked when that may
    /// have changed, or the runtime closes. (Of a bound runtime only the latter: the others may never have the core.)
    fn take_core<'a>(&self, waiter: impl FnOnce() -> Option<&'a Arc<Waiter>>) -> Option<Box<Core>> {
        let may_have_it = self.bound_to.is_none_or(|bound_to| bound_to == thread::current().id());
        let mut slot = self.slot.lock();
        if self.is_closing() {
            return None;
        }
        let core = if may_have_it { slot.core.take() } else { None };
        if core.is_none()
            && let Some(waiter) = waiter()
            && !waiter.listed.swap(true, Relaxed)
        {
            slot.waiting.push(Arc::clone(waiter));
        }
        core
    }

    /// A waiter that does not wait any more.
    fn unlist(&self, waiter: &Arc<Waiter>) {
        if waiter.listed.load(Relaxed) {
            self.slot.lock().waiting.retain(|other| !Arc::ptr_eq(other, waiter));
        }
    }

    /// Puts the core down. If the runtime is closing, this is the end of it.
    fn leave(&self, runtime: &Arc<Inner>, core: Box<Core>) {
        let mut slot = self.slot.lock();
        if self.is_closing() {
            slot.wake_waiting();
            drop(slot);
            self.finale(runtime, &core);
        } else {
            if !self.is_bound() && !slot.waiting.is_empty() {
                slot.wake_waiting();
            }
            slot.core = Some(core);
        }
    }

    /// Begins the shutdown.
    pub(crate) fn close(&self, runtime: &Arc<Inner>) {
        let core = {
            let mut slot = self.slot.lock();
            if self.closing.swap(true, SeqCst) {
                return;
            }
            if slot.core.is_some() {
                slot.wake_waiting();
            }
            slot.core.take()
        };
        match core {
            Some(core) => self.finale(runtime, &core),
            // The thread that has it finishes the poll at hand, and puts it down.
            None => self.unpark(runtime),
        }
    }

    /// A task has panicked, on the thread that has the core: the end, if that was asked for.
    #[cold]
    fn note_panic(&self, runtime: &Arc<Inner>) {
        if self.unhandled_panic == UnhandledPanic::ShutdownRuntime {
            // Whoever sees that the runtime closes, or finds no core any more, sees this, too.
            self.has_panicked.store(true, Relaxed);
            self.close(runtime);
        }
    }

    /// For those that drive the runtime, or would: passes on that a task has panicked, if that was to be the end.
    #[track_caller]
    fn pass_panic_on(&self) {
        assert!(
            !self.is_closing() || !self.has_panicked.load(Relaxed),
            "a spawned task panicked and the runtime is configured to shut down on unhandled panic"
        );
    }

    /// Waits until everything is over. False if that takes longer than the limit.
    pub(crate) fn wait_closed(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        let mut slot = self.slot.lock();
        while !slot.finished {
            match deadline {
                None => self.finished.wait(&mut slot),
                Some(deadline) => {
                    if self.finished.wait_until(&mut slot, deadline).timed_out() {
                        return slot.finished;
                    }
                }
            }
        }
        true
    }

    /// The end, in the steps that `multi/shutdown.rs` explains. The caller has the core, and no role at the scheduler.
    fn finale(&self, runtime: &Arc<Inner>, core: &Core) {
        // What runs here of the user's finds the runtime around it, even if this thread does not drive it. If so it may
        // block on a future, as whoever drops the runtime may.
        let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
        // It counts as the owner of no arena: what dies while the arenas are walked goes to the return stacks.
        let completions = Some(&self.remote_spawns.locked_counters().completions);
        let runner = Runner { events: Some(&runtime.events), completions, ..Runner::NOBODY };
        self.remote_spawns.close_spawns();
        // SAFETY: with the core in hand nobody else polls tasks, and the local arena is this thread's.
        self.arenas().iter().for_each(|arena| unsafe { arena.guard().cancel_all(&runner) });
        self.queues.close(|| self.empty_injector());
        let queue = std::mem::take(&mut *core.queue.borrow_mut());
        drop(queue);
        self.driver.shutdown();
        // SAFETY: as above.
        let left = self.arenas().iter().map(|arena| unsafe { arena.guard().close() }).sum();
        runtime.add_outstanding(left);
        let mut slot = self.slot.lock();
        slot.finished = true;
        self.finished.notify_all();
    }

    fn empty_injector(&self) {
        while let Some(task) = take_one(&self.injector) {
            drop(task);
        }
    }

    pub(super) fn unpark(&self, runtime: &Inner) {
        // Nobody looks out for work here, where nobody else is awake to bring any.
        self.wakeup.unpark(&*runtime.drivers.unpark, || ());
    }

    /// Queues a task from a thread that does not have the core.
    fn inject(&self, runtime: &Inner, task: Notified) {
        if self.follows_injected.load(std::sync::atomic::Ordering::Relaxed) {
            self.follow_injected(&task);
        }
        self.injector.push(task);
        // The exchange in `unpark` comes after the push, and the driving thread looks at the injector before the one by
        // which it falls asleep: it sees the task, or is woken.
        self.unpark(runtime);
        // Pairs with the one in `Closing::close`.
        fence(SeqCst);
        self.queues.after_push(|| self.empty_injector());
    }

    /// Takes dead tasks off the local arena, when nobody who has the core comes by to do it.
    pub(crate) fn request_drain(&self, runtime: &Inner, arena: ArenaId) {
        if let ArenaId::Remote(_) = arena {
            return self.remote_spawns.request_drain();
        }
        match &self.slot.lock().core {
            // SAFETY: the core is nobody's, and the lock keeps it so: the arena is this thread's.
            Some(_) => unsafe { self.arena.guard() }.drain_remote_frees(),
            None => self.unpark(runtime),
        }
    }

    /// The driver of this runtime that the current thread is, if it is.
    #[inline]
    fn worker_here(runtime: &Inner) -> Option<AtWork<Worker>> {
        match context::role() {
            ThreadRole::Current(worker) if worker.with(|worker| worker.is_of(runtime)) => Some(worker),
            _ => None,
        }
    }

    /// Where the flight recorder has the calling thread's events.
    #[cold]
    fn lane_here(runtime: &Inner) -> LaneId {
        match Self::worker_here(runtime) {
            Some(_) => LANE,
            None => LaneId::Shared(context::thread_token()),
        }
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
        let (task, handle) = self.remote_spawns.spawn::<F, Current>(runtime, future, info);
        if let Some(task) = task {
            self.inject(runtime, task);
        }
        handle
    }

    /// Spawns a task that stays on this thread. Gives the future back if the runtime is not bound to this thread.
    pub(crate) fn spawn_local<F>(
        &self,
        runtime: &Arc<Inner>,
        future: F,
        info: SpawnInfo,
    ) -> Result<JoinHandle<F::Output>, F>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        if !self.is_home() {
            return Err(future);
        }
        if let Some(worker) = Self::worker_here(runtime) {
            return Ok(worker.with(|worker| worker.spawn(future, info)));
        }
        // Outside of `block_on` the core is free, unless the runtime is at its end.
        let Some(core) = self.take_core(|| None) else {
            return Ok(remote_spawns::refuse::<F, Current>(runtime, future, info));
        };
        let worker = Worker::new(Arc::clone(runtime), core);
        let (task, handle) = worker.make(future, info);
        let told = TaskRef::clone(task.task());
        worker.push(task);
        self.leave(runtime, worker.into_parts().1);
        // With the core put down, as a listener may want it. Nobody else polls the task meanwhile: that is for this
        // thread.
        runtime.events.emit(|| LaneId::Shared(0), &told, TaskEventKind::Spawned);
        Ok(handle)
    }

    /// What the thread that has the core has counted, by the time it is.
    pub(crate) fn own_counts(&self) -> Counts {
        self.times.read(&self.counters, Moment::now())
    }

    /// What all have counted.
    pub(crate) fn all_counts(&self) -> impl Iterator<Item = Counts> {
        self.remote_spawns.counters().map(WorkerCounters::read).into_iter().chain([self.own_counts()])
    }

    pub(crate) fn times(&self) -> &WorkerTimes {
        &self.times
    }

    /// Reads every task that is not over.
    #[cfg(not(loom))]
    pub(crate) fn inspect_tasks(&self, into: &mut Vec<crate::task::Snapshot>) {
        self.arenas().iter().for_each(|arena| arena.inspect(into));
    }

    /// When the poll at hand began, if there is one, or a group of short polls earlier.
    #[cfg(not(loom))]
    pub(crate) fn poll_began(&self) -> Option<Moment> {
        self.times.read_clock_at()
    }

    pub(crate) fn counters(&self) -> impl Iterator<Item = &WorkerCounters> {
        self.remote_spawns.counters().into_iter().chain([&*self.counters])
    }

    /// Whether all tasks have ended. See `ends.rs`.
    pub(crate) fn have_all_ended(&self) -> bool {
        ends::are_equal([&self.ended], self.counters())
    }

    pub(crate) fn queue_depth(&self) -> usize {
        self.depth.load(Relaxed)
    }

    pub(crate) fn injector_depth(&self) -> usize {
        self.injector.len()
    }
}

/// The single-threaded scheduler, to its tasks.
pub(crate) struct Current;

impl Current {
    fn shared(runtime: &Inner) -> &Shared {
        match &runtime.scheduler {
            super::Scheduler::Current(shared) => shared,
            super::Scheduler::Multi(_) => unreachable!("a task stays with its kind of scheduler"),
        }
    }
}

impl Schedule for Current {
    fn schedule(task: Notified) {
        // SAFETY: the task has this type in its vtable.
        let runtime: *const Inner = unsafe { runtime_of(task.header()) }.expect("a task that was refused is complete");
        // SAFETY: the task keeps its runtime; and while this thread drives it, or `keep` lives, it stays.
        let runtime = unsafe { &*runtime };
        runtime.events.emit(|| Shared::lane_here(runtime), task.task(), TaskEventKind::Woken);
        if let Some(worker) = Shared::worker_here(runtime) {
            worker.with(|worker| worker.push(task));
        } else {
            // As in the multi-threaded scheduler: nothing else keeps the runtime once the task is in the queue.
            let keep = TaskRef::clone(task.task());
            let shared = Self::shared(runtime);
            shared.remote_spawns.count_wakes(1);
            shared.inject(runtime, task);
            drop(keep);
        }
    }

    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe { super::release(task, Shared::worker_here, Worker::local_arena) };
    }

    fn note_panic(task: &TaskRef) {
        // SAFETY: the task has this type in its vtable.
        if let Some(worker) = unsafe { runtime_of(task.header()) }.and_then(Shared::worker_here) {
            worker.with(|worker| worker.shared().note_panic(worker.runtime()));
        }
    }
}
