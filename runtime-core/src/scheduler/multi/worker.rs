//! A worker: one thread with a core, and the loop it runs.
//!
//! # A tick
//!
//! 1. If an interval of polls is over (`poll_interval.rs`): exchange dead tasks, help a peer that is stalled, and look
//!    after the drivers (`maintenance.rs`).
//! 2. Take a task from the own queues (`run_queue.rs` says in which order; the injector has its turn there).
//! 3. Else a batch from the injector; else search: steal half of a queue of some other worker, going round once from a
//!    random start, and look at the injector again.
//! 4. Else go to sleep, look at everything once more, and sleep (`park_worker.rs`): in the drivers, if nobody else
//!    does.
//!
//! Everything the worker holds is on its queues, where others can get it, but for the task that it polls and, while it
//! has the drivers, the batch of tasks that these wake (`driver_events.rs`). Those are queued together, with one
//! notification: on the FIFO queue if a socket woke them, on the timer queue if a timer did; in the order of their
//! events, and behind those that an earlier poll of the drivers has woken. (On the LIFO queue each batch would bury the
//! one before it, and under load the unlucky would wait for the bound.)
//!
//! The worker is reached through the thread's context while user code runs inside its calls, so every field is a cell,
//! and none is borrowed across such a call.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;

use super::driver_events::EventBatch;
use super::{Core, Multi, Shared, Slot};
use crate::clock::Moment;
use crate::events::TaskEventKind;
use crate::metrics::{PollTimes, WorkerCounters, WorkerState};
use crate::rng::Stream;
use crate::runtime::{DEFAULT_INTERVAL, Inner};
use crate::scheduler::followed::Follower;
use crate::scheduler::poll_interval::PollInterval;
use crate::spans;
use crate::task::arena::LocalArena;
use crate::task::{Again, JoinHandle, Notified, PollClock, Runner, SpawnInfo};
use crate::trace::LaneId;

/// What a thread has a core for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// One of the runtime's workers.
    Worker,
    /// A worker in the place of one that is blocked (`spares.rs`).
    Spare,
    /// A caller of `block_on`, which runs no tasks (`block_on.rs`).
    BlockOn,
}

/// How its core stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    InUse,
    /// A spare worker is one too many, and gives its core back.
    Retiring,
    /// The scheduler was ended while this worker blocked in place (`block_in_place.rs`): its queues and its tasks are
    /// no longer its own.
    Revoked,
}

/// A task that has woken itself in its poll.
struct Yielded {
    task: Notified,
    has_given_way: bool,
}

/// A worker: what its thread alone uses. Others see its [`Slot`].
pub(crate) struct Worker {
    pub(super) runtime: Arc<Inner>,
    /// The scheduler and this worker's slot of it, both inside the runtime: looked up once, used all the time.
    shared: NonNull<Shared>,
    slot: NonNull<Slot>,
    local_arena: LocalArena,
    pub(super) core: Box<Core>,
    pub(super) searching: Cell<bool>,
    pub(super) poll_interval: PollInterval,
    pub(super) poll_times: PollTimes,
    pub(super) follower: Follower,
    role: Role,
    standing: Cell<Standing>,
    /// The count of polls from which on a task that is woken in its poll may go first.
    rewake_lifo_from: Cell<u64>,
    /// Which poll was the last that ended with a yield beside one other task.
    yielded_beside_one: Cell<u64>,
}

impl Worker {
    pub(super) fn new(runtime: Arc<Inner>, core: Box<Core>) -> Self {
        let poll_interval = PollInterval::new(runtime.event_interval);
        let shared = Multi::shared(&runtime);
        let slot = shared.slot(core.index);
        // SAFETY: the thread that has the core owns the arena, which lies in the runtime. A worker does not change
        // threads.
        let local_arena = unsafe { LocalArena::new(NonNull::from(&slot.arena)) };
        let role = match core.index {
            index if index < shared.workers => Role::Worker,
            index if index < shared.slots.len() => Role::BlockOn,
            _ => Role::Spare,
        };
        let follower = Follower::new(slot.counters.local_schedules.get());
        let (shared, slot) = (NonNull::from(shared), NonNull::from(slot));
        let poll_times = PollTimes::new(runtime.measures_polls, runtime.events.are_polls_heard());
        Self {
            runtime,
            shared,
            slot,
            local_arena,
            core,
            searching: Cell::new(false),
            poll_interval,
            poll_times,
            follower,
            role,
            standing: Cell::new(Standing::InUse),
            rewake_lifo_from: Cell::new(0),
            yielded_beside_one: Cell::new(u64::MAX),
        }
    }

    pub(crate) fn runtime(&self) -> &Arc<Inner> {
        &self.runtime
    }

    /// Whether a task waits on its queues.
    pub(super) fn has_queued(&self) -> bool {
        !self.core.run_queue.is_empty()
    }

    /// Its runtime, and its core, unless that is lost.
    pub(super) fn into_parts(self) -> (Arc<Inner>, Option<Box<Core>>) {
        self.local_arena.flush();
        let is_revoked = self.is_core_revoked();
        (self.runtime, (!is_revoked).then_some(self.core))
    }

    /// The scheduler was ended while this worker blocked in place.
    pub(super) fn revoke_core(&self) {
        self.standing.set(Standing::Revoked);
        self.local_arena.abandon();
    }

    pub(super) fn is_core_revoked(&self) -> bool {
        self.standing.get() == Standing::Revoked
    }

    pub(super) fn is_block_on(&self) -> bool {
        self.role == Role::BlockOn
    }

    fn is_spare(&self) -> bool {
        self.role == Role::Spare
    }

    fn is_retiring(&self) -> bool {
        self.standing.get() == Standing::Retiring
    }

    /// Its number among the slots that were there from the start; spare workers have none.
    #[inline]
    pub(crate) fn index(&self) -> Option<usize> {
        (!self.is_spare()).then_some(self.core.index)
    }

    /// Where the flight recorder has its events.
    #[inline]
    pub(super) fn lane(&self) -> LaneId {
        LaneId::Core(self.core.index)
    }

    #[inline]
    pub(super) fn shared(&self) -> &Shared {
        // SAFETY: it lies in the runtime, which `runtime` counts and which does not move.
        unsafe { self.shared.as_ref() }
    }

    #[inline]
    pub(super) fn slot(&self) -> &Slot {
        // SAFETY: as in `shared`.
        unsafe { self.slot.as_ref() }
    }

    #[inline]
    pub(crate) fn is_of(&self, runtime: &Inner) -> bool {
        std::ptr::eq(&*self.runtime, runtime)
    }

    #[inline]
    pub(crate) fn counters(&self) -> &WorkerCounters {
        &self.slot().counters
    }

    #[inline]
    pub(crate) fn local_arena(&self) -> &LocalArena {
        &self.local_arena
    }

    pub(crate) fn user_random(&self) -> &Stream {
        &self.core.user_random
    }

    /// Spawns a task onto this worker.
    #[inline]
    pub(crate) fn spawn<F>(&self, future: F, mut info: SpawnInfo) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        info.id = spans::id_or(info.id, || self.core.ids.next(&self.runtime));
        let (task, handle) = self.local_arena.guard().new_task::<F, Multi>(future, info);
        self.counters().spawns.add(1);
        self.runtime.events.emit(|| self.lane(), task.task(), TaskEventKind::Spawned);
        self.push(task);
        handle
    }

    /// Queues a task that was woken or spawned on this thread.
    #[inline]
    pub(super) fn push(&self, task: Notified) {
        if self.serves_its_queues() {
            self.queue_unannounced(task);
            self.offer_surplus();
        } else {
            let queued = self.counters().local_schedules.increment();
            if self.follower.wants(queued) || self.shared().follows_injected.load(Relaxed) {
                self.follow(&task);
            }
            self.shared().inject_unfollowed(&self.runtime, task);
        }
    }

    /// A task is about to be queued.
    #[inline(always)] // into the wake and the spawn of a task
    fn count_queued(&self, task: &Notified) {
        if self.follower.wants(self.counters().local_schedules.increment()) {
            self.follow(task);
        }
    }

    /// Whether its thread takes tasks out of its queues.
    #[inline]
    pub(super) fn serves_its_queues(&self) -> bool {
        !self.is_block_on() && !self.is_core_revoked()
    }

    /// Queues a task that was woken on this thread. The caller offers the surplus.
    #[inline]
    pub(super) fn queue_unannounced(&self, task: Notified) {
        self.count_queued(&task);
        self.core.run_queue.push(task);
    }

    /// Queues a task that woke itself in its poll.
    #[inline(always)] // the compiler takes it for seldom
    fn push_yielded(&self, Yielded { task, has_given_way }: Yielded) {
        self.count_queued(&task);
        if has_given_way {
            self.core.run_queue.push_given_way(task);
        } else {
            self.core.run_queue.push_self_woken(task);
        }
        if !self.polls_both_soon() {
            self.offer_surplus();
        }
    }

    /// A task has yielded: whether it and the only other task here are polled within a time that nobody notices
    /// (`idle/`). Not if the other one has just done the same, for then both may go on and on.
    #[inline]
    fn polls_both_soon(&self) -> bool {
        if self.core.run_queue.len() != 2 {
            return false;
        }
        let polls = self.counters().polls.get();
        let is_second = self.yielded_beside_one.replace(polls).wrapping_add(1) == polls;
        !is_second && self.poll_interval.has_short_polls(2)
    }

    #[inline]
    pub(super) fn offer_surplus(&self) {
        if self.core.run_queue.has_surplus() {
            self.shared().notify(&self.runtime, || !self.core.run_queue.has_surplus());
        }
    }

    /// A cold copy, so that the compiler makes one piece of the hot path.
    #[cold]
    fn put_back(&self, yielded: Yielded) {
        self.push_yielded(yielded);
    }

    /// The loop of a worker thread.
    pub(super) fn run(&self) {
        if self.is_spare() {
            // It was started because nobody looks after things: above all the drivers. What those wake, and have woken
            // on the queues of those that are stuck, comes before what else lies about, of which any may block again.
            self.poll_interval.end_now();
            let others = self.shared().victims().filter(|&slot| !ptr::eq(slot, self.slot()));
            others.for_each(|slot| self.core.run_queue.steal_events_from(&slot.run_queue));
            self.offer_surplus();
        }
        let now = Moment::now();
        self.turn_to(WorkerState::Busy, now);
        self.measure().begin_polls_with_tick(now);
        let mut batch = EventBatch::default();
        let mut yielded: Option<Yielded> = None;
        let runner = self.runner();
        loop {
            let flags = self.shared().control.get();
            if flags.is_closing() {
                break;
            }
            if flags.is_driver_poll_requested() && self.shared().control.take_driver_poll_request() {
                self.poll_interval.end_now();
            }
            if self.poll_interval.tick() {
                self.end_part(&mut batch);
                if self.is_retiring() {
                    break;
                }
            }
            let next = match yielded.take() {
                // To put it into a queue and take it out again would cost as much as its poll.
                Some(yielded) if self.core.run_queue.is_alone() => {
                    self.counters().local_schedules.add(1);
                    Some(yielded.task)
                }
                Some(yielded) => {
                    self.push_yielded(yielded);
                    self.next_task()
                }
                None => self.next_task(),
            };
            match next {
                Some(task) if self.is_spare() && self.leaves_to_others(&task) => self.quarantine(task),
                Some(task) => yielded = self.execute(task, &runner),
                None => {
                    self.idle(&mut batch);
                    if self.is_retiring() {
                        break;
                    }
                }
            }
        }
        match yielded {
            Some(yielded) if self.is_core_revoked() => self.shared().inject(&self.runtime, yielded.task),
            Some(yielded) => self.put_back(yielded),
            None => {}
        }
        self.stop_searching();
        self.turn_to_nothing();
    }

    /// Whether this is a spare worker, and one too many. If so it is on its way out.
    pub(super) fn may_retire(&self) -> bool {
        let retires = self.is_spare() && !self.is_responder() && self.shared().spares.count.retire();
        if retires {
            debug_assert!(!self.is_retiring(), "it retires once");
            self.standing.set(Standing::Retiring);
        }
        retires
    }

    /// A spare worker that retires leaves nothing behind that anybody relied on it for.
    pub(super) fn depart(&self) {
        if !self.is_retiring() {
            return;
        }
        let shared = self.shared();
        let mut left = false;
        for task in self.core.run_queue.drain() {
            shared.injector.push(task);
            left = true;
        }
        if left {
            shared.notify(&self.runtime, || shared.injector.is_empty());
        }
        shared.ensure_driver_attended(&self.runtime);
        self.exchange_frees();
        self.local_arena.trim();
        self.slot().ended.publish(self.counters());
        fence(SeqCst);
        self.tell_end();
    }

    fn next_task(&self) -> Option<Notified> {
        let run_queue = &self.core.run_queue;
        if run_queue.is_injectors_turn()
            && let Some(task) = self.take_injected()
        {
            return Some(self.note_passing(task));
        }
        let from_others = || self.take_injected().or_else(|| self.search()).map(|task| self.note_passing(task));
        run_queue.next().or_else(from_others)
    }

    /// Passes a task on that another thread has queued, perhaps after this worker's last event.
    #[inline]
    fn note_passing(&self, task: Notified) -> Notified {
        self.record_passing();
        task
    }

    /// The next poll does not begin when the last event happened.
    #[inline]
    pub(super) fn record_passing(&self) {
        if let Some(events) = self.runtime.events.heard() {
            events.record_passing(self.lane());
        }
    }

    /// This thread, as its tasks know it.
    fn runner(&self) -> Runner<'_> {
        let counters = self.counters();
        Runner {
            events: Some(&self.runtime.events),
            lane: self.lane(),
            completions: Some(&counters.completions),
            local_arena: Some(&self.local_arena),
            clock: Some(PollClock { counters, times: &self.slot().times, poll_times: &self.poll_times }),
        }
    }

    /// Runs a task. Gives it back if it has yielded.
    fn execute(&self, task: Notified, runner: &Runner<'_>) -> Option<Yielded> {
        self.stop_searching();
        if task.header().place().load(Relaxed) != 0 {
            self.arrive(&task);
        }
        self.counters().polls.add(1);
        self.slot().activity.polls(task.task());
        let again = task.run_current(runner, self.runtime.budget);
        self.slot().activity.polls_nothing();
        match again {
            Again::No => None,
            Again::GaveWay(task) => {
                self.poll_interval.note_gave_way();
                Some(Yielded { task, has_given_way: true })
            }
            Again::WokeItself(task) => Some(Yielded { task, has_given_way: false }),
            Again::Woken(task) => {
                self.push_woken(task);
                None
            }
        }
    }

    /// Queues a task that somebody else has woken during its poll, as if that had ended before: what a timer wakes just
    /// as its task goes to sleep must not wait behind all those that yield. Not more often than the injector and
    /// the drivers have a turn: one that is woken in every poll would leave the others little.
    #[cold]
    fn push_woken(&self, task: Notified) {
        let polls = self.counters().polls.get();
        if self.is_core_revoked() {
            self.shared().inject(&self.runtime, task);
        } else if polls < self.rewake_lifo_from.get() {
            self.put_back(Yielded { task, has_given_way: false });
        } else {
            self.rewake_lifo_from.set(polls + u64::from(DEFAULT_INTERVAL));
            self.push(task);
        }
    }
}
