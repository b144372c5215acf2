//! Driving the single-threaded scheduler: `block_on`, and the loop of the thread that has the core. (`step.rs` goes
//! through the same loop turn by turn.)
//!
//! Between any two tasks the loop looks whether the main future was woken. If so it stands in a line behind tasks, but
//! not behind more than 61 polls of them (`line.rs`): so neither a flood of tasks nor a main future that wakes itself
//! for ever starves the other. Tasks run first in, first out, but those that give way wait for the end of a round of
//! polls; after every 61 ticks, sooner if polls are long, the injector has its turn (`injector_turns.rs`).

use std::cell::OnceCell;
use std::future::Future;
use std::iter;
use std::pin::pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::line::Line;
use super::{Core, Current, LANE, Shared, Waiter};
use crate::clock::Moment;
use crate::context::MainFuture;
use crate::driver::{WakeSink, contain};
use crate::events::TaskEventKind;
use crate::metrics::{WorkerCounters, WorkerState};
use crate::primitive::Unparker;
use crate::primitive::atomic::Ordering::{Relaxed, SeqCst};
use crate::primitive::atomic::{AtomicBool, fence};
use crate::rng::Stream;
use crate::runtime::Inner;
use crate::scheduler::injector_turns::Others;
use crate::scheduler::main_waker::{Caller, MainWaker};
use crate::scheduler::multi::take_one;
use crate::scheduler::park::Slept;
use crate::scheduler::{AnyWorker, is_task_of, work_as};
use crate::spans;
use crate::task::arena::LocalArena;
use crate::task::{self, Again, JoinHandle, Left, Notified, PollClock, Queue, Runner, SpawnInfo, current};

/// Drives a future to its end on the calling thread. The caller has entered the runtime's context.
pub(crate) fn block_on<F: Future>(runtime: &Arc<Inner>, future: F) -> F::Output {
    let mut future = pin!(future);
    // Dropped after its waker.
    let caller = Caller::new();
    caller.settle(runtime, 0);
    let main = caller.main();
    let shared = Current::shared(runtime);
    let waker = Waker::from(Arc::clone(main));
    let waiting = Waiting::new(shared, caller.parker().unparker());
    let in_context = MainFuture::new();
    let mut poll = || {
        let _context = in_context.begin_poll();
        let _budget = current::begin_main_poll(&waker, runtime.budget);
        future.as_mut().poll(&mut Context::from_waker(&waker))
    };
    loop {
        if let Some(core) = shared.take_core(|| Some(waiting.waiter())) {
            // Dropped on the way out, also when the future panics: the core goes back.
            let driving = Driving::new(runtime, core);
            if let Poll::Ready(output) = driving.run(main, &mut poll) {
                return output;
            }
        }
        shared.pass_panic_on();
        if main.take() {
            if let Poll::Ready(output) = poll() {
                return output;
            }
        } else {
            caller.parker().park();
        }
    }
}

/// A caller of `block_on`, as one that may have to wait for the core.
struct Waiting<'a> {
    shared: &'a Shared,
    unparker: &'a Unparker,
    /// Made when it has to.
    waiter: OnceCell<Arc<Waiter>>,
}

impl<'a> Waiting<'a> {
    fn new(shared: &'a Shared, unparker: &'a Unparker) -> Self {
        Self { shared, unparker, waiter: OnceCell::new() }
    }

    fn waiter(&self) -> &Arc<Waiter> {
        let make = || Arc::new(Waiter { unparker: self.unparker.clone(), listed: AtomicBool::new(false) });
        self.waiter.get_or_init(make)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.get() {
            self.shared.unlist(waiter);
        }
    }
}

/// Has this thread drive the runtime for the length of a call, if the core is free and this thread may have it. The
/// caller has entered the runtime's context.
pub(super) fn drive_here<R>(runtime: &Arc<Inner>, work: impl FnOnce(&Worker) -> R) -> Option<R> {
    let shared = Current::shared(runtime);
    let result = shared.take_core(|| None).map(|core| {
        let driving = Driving::new(runtime, core);
        let worker = driving.worker();
        work_as(AnyWorker::Current(worker), || worker.work(driving.since, work))
    });
    shared.pass_panic_on();
    result
}

/// A thread that has the core.
struct Driving {
    worker: Option<Worker>,
    since: Moment,
}

impl Driving {
    fn new(runtime: &Arc<Inner>, core: Box<Core>) -> Self {
        let since = Moment::now();
        core.poll_interval.resume(since);
        Self { worker: Some(Worker::new(Arc::clone(runtime), core)), since }
    }

    fn worker(&self) -> &Worker {
        self.worker.as_ref().expect("taken only by drop")
    }

    /// Until the future is done, or the runtime closes (`Pending`).
    fn run<T>(&self, main: &MainWaker, poll: &mut impl FnMut() -> Poll<T>) -> Poll<T> {
        let worker = self.worker();
        work_as(AnyWorker::Current(worker), || worker.work(self.since, |worker| worker.run_until_ready(main, poll)))
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        let (runtime, core) = self.worker.take().expect("dropped once").into_parts();
        Current::shared(&runtime).leave(&runtime, core);
    }
}

/// The thread that has the core. Reached through the thread's context while user code runs inside its calls, so that
/// every field is a cell, and none is borrowed across such a call.
pub(crate) struct Worker {
    runtime: Arc<Inner>,
    local_arena: LocalArena,
    pub(super) core: Box<Core>,
    pub(super) line: Line,
}

impl Worker {
    pub(super) fn new(runtime: Arc<Inner>, core: Box<Core>) -> Self {
        let arena = NonNull::from(&Current::shared(&runtime).arena);
        // SAFETY: the thread that has the core owns the arena, which lies in the runtime. A worker does not change
        // threads.
        let local_arena = unsafe { LocalArena::new(arena) };
        let line = Line::in_round(core.round);
        Self { runtime, local_arena, core, line }
    }

    pub(super) fn into_parts(mut self) -> (Arc<Inner>, Box<Core>) {
        self.local_arena.flush();
        self.core.round = self.line.polls();
        (self.runtime, self.core)
    }

    /// Works with the core in hand, which it has had since a moment ago: counts the time.
    fn work<R>(&self, since: Moment, work: impl FnOnce(&Self) -> R) -> R {
        self.turn_to(Some(WorkerState::Busy), since);
        self.measure().begin_polls_with_tick(since);
        self.record_passing();
        if self.counters().polls.get() == 0 {
            self.queue_injected();
        }
        let result = work(self);
        let now = Moment::now();
        self.measure().end_polls(now);
        self.turn_to(None, now);
        current::keep_no_time_here();
        result
    }

    /// One turn of the loop, for `block_on` and for single steps: polls a task, if one is queued. Returns whether one
    /// was.
    pub(super) fn turn(&self) -> bool {
        if self.core.poll_interval.tick() {
            self.end_part();
        }
        if self.line.is_round_over() {
            self.begin_round();
        }
        match self.next_task() {
            Some(task) => {
                self.line.note_poll();
                self.execute(task);
                true
            }
            None => false,
        }
    }

    /// Before the thread sleeps: should all tasks have ended, tells those in `Runtime::run`. True if there are any.
    pub(super) fn tell_end(&self) -> bool {
        self.shared().ended.publish(self.counters());
        // Pairs with the one in `Ends::poll`.
        fence(SeqCst);
        self.runtime.ends.is_awaited() && self.runtime.tell_end()
    }

    pub(super) fn is_closing(&self) -> bool {
        self.shared().is_closing()
    }

    pub(super) fn runtime(&self) -> &Arc<Inner> {
        &self.runtime
    }

    pub(super) fn shared(&self) -> &Shared {
        Current::shared(&self.runtime)
    }

    #[inline]
    pub(crate) fn is_of(&self, runtime: &Inner) -> bool {
        std::ptr::eq(&*self.runtime, runtime)
    }

    pub(crate) fn counters(&self) -> &WorkerCounters {
        &self.shared().counters
    }

    pub(crate) fn local_arena(&self) -> &LocalArena {
        &self.local_arena
    }

    pub(crate) fn user_random(&self) -> &Stream {
        &self.core.user_random
    }

    /// Spawns a task. With a future that is `!Send` the runtime must be bound to this thread.
    pub(crate) fn spawn<F>(&self, future: F, info: SpawnInfo) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let (task, handle) = self.make(future, info);
        self.runtime.events.emit(|| LANE, task.task(), TaskEventKind::Spawned);
        self.push(task);
        handle
    }

    /// The first step of [`spawn`](Self::spawn): no code of a user's runs.
    pub(super) fn make<F>(&self, future: F, mut info: SpawnInfo) -> (Notified, JoinHandle<F::Output>)
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        info.id = spans::id_or(info.id, || self.core.ids.next(&self.runtime));
        let made = self.local_arena.guard().new_task::<F, Current>(future, info);
        self.counters().spawns.add(1);
        made
    }

    pub(super) fn push(&self, task: Notified) {
        self.line.note_new();
        self.queue_counted(task, Queue::push);
    }

    /// Counts a task, and puts it into the queue.
    fn queue_counted(&self, task: Notified, push: impl FnOnce(&mut Queue, Notified)) {
        if self.core.follower.wants(self.counters().local_schedules.increment()) {
            self.follow(&task);
        }
        let mut queue = self.core.queue.borrow_mut();
        push(&mut queue, task);
        self.shared().depth.store(queue.len(), Relaxed);
    }

    fn pop(&self) -> Option<Notified> {
        let mut queue = self.core.queue.borrow_mut();
        let task = queue.pop();
        self.shared().depth.store(queue.len(), Relaxed);
        task
    }

    fn next_task(&self) -> Option<Notified> {
        if self.core.injector_turns.tick()
            && let Some(task) = self.take_injected()
        {
            return Some(task);
        }
        self.pop().or_else(|| self.take_injected()).or_else(|| {
            self.begin_round();
            self.pop()
        })
    }

    /// The round is over (`line.rs`): those that have given way in it may go on.
    pub(super) fn begin_round(&self) {
        self.line.begin_round();
        self.core.queue.borrow_mut().begin_round();
    }

    /// Before any task is polled: queues what was spawned from outside, so that it goes before what the main future is
    /// about to spawn. (Later on this would have tasks from outside wait for all that are queued: they have their turns
    /// instead.)
    fn queue_injected(&self) {
        let injector = &self.shared().injector;
        let mut queue = self.core.queue.borrow_mut();
        // No more than there are now: other threads may go on spawning.
        queue.extend(iter::from_fn(|| take_one(injector)).take(injector.len()));
        self.shared().depth.store(queue.len(), Relaxed);
    }

    /// Takes the oldest tasks from the injector, and returns the first of them. The others go before what is in the
    /// queue: what comes from outside keeps its order, and does not wait for a whole round.
    fn take_injected(&self) -> Option<Notified> {
        let (injector, turns) = (&self.shared().injector, &self.core.injector_turns);
        let task = take_one(injector)?;
        self.record_passing();
        let mut queue = self.core.queue.borrow_mut();
        let others = match queue.left() {
            Left::Nothing => Others::Nobody,
            Left::GivenWay => Others::GaveWay { ticks: queue.len() },
            Left::Ready => Others::Waiting,
        };
        let more = queue.extend_front(iter::from_fn(|| take_one(injector)).take(turns.share(others) - 1));
        // They go before what is queued, and do not take its places.
        (0..=more).for_each(|_| self.line.note_new());
        turns.have_taken(1 + more, others);
        self.shared().depth.store(queue.len(), Relaxed);
        Some(task)
    }

    fn execute(&self, task: Notified) {
        if task.header().place().load(Relaxed) != 0 {
            self.arrive(&task);
        }
        if self.core.poll_times.is_interrupted() {
            self.measure().begin_polls(Moment::now());
        }
        let counters = self.counters();
        counters.polls.add(1);
        let runner = Runner {
            events: Some(&self.runtime.events),
            lane: LANE,
            completions: Some(&counters.completions),
            local_arena: Some(&self.local_arena),
            clock: Some(PollClock { counters, times: self.shared().times(), poll_times: &self.core.poll_times }),
        };
        match task.run_current(&runner, self.runtime.budget) {
            Again::No => {}
            Again::GaveWay(task) => {
                self.core.poll_interval.note_gave_way();
                self.line.note_self_wake();
                self.queue_counted(task, Queue::push_given_way);
            }
            Again::WokeItself(task) => {
                self.line.note_self_wake();
                self.push(task);
            }
            Again::Woken(task) => self.push(task),
        }
    }

    pub(super) fn maintain(&self, now: Moment) {
        self.exchange_frees();
        self.look_whom_to_follow(now);
        let is_drivers_turn = self.core.poll_interval.end_interval(now, || 0);
        self.measure().limit_part();
        self.core.injector_turns.adapt(&self.core.poll_interval);
        if let Some(events) = self.runtime.events.heard() {
            events.record_depths(LANE, self.core.queue.borrow().len(), self.shared().injector_depth());
        }
        if is_drivers_turn {
            self.poll_drivers_between_polls();
        }
        // A main future that is never done may keep the thread from sleeping when all tasks have ended.
        if self.runtime.ends.is_awaited() {
            self.tell_end();
        }
    }

    /// Queues what sockets and timers have woken by now, in the middle of the loop: it is no part of any poll.
    pub(super) fn poll_drivers_between_polls(&self) {
        self.interrupt_polls();
        self.poll_drivers();
        self.record_passing();
    }

    fn poll_drivers(&self) {
        if let Some(has_left) = self.shared().driver.poll(&mut Woken(self)) {
            self.counters().driver_polls.add(1);
            self.core.poll_interval.note_turn(has_left);
        }
    }

    /// Returns dead tasks of others, and frees its own.
    pub(super) fn exchange_frees(&self) {
        self.local_arena.flush_and_drain();
    }

    /// The next poll does not begin when the last one ended.
    #[inline]
    pub(super) fn record_passing(&self) {
        if let Some(events) = self.runtime.events.heard() {
            events.record_passing(LANE);
        }
    }

    #[inline]
    fn record_sleep(&self, is_asleep: bool) {
        if let Some(events) = self.runtime.events.heard() {
            events.record_sleep(LANE, is_asleep);
        }
    }

    pub(super) fn park(&self) {
        self.exchange_frees();
        let hooks = &self.runtime.hooks;
        let now = Moment::now();
        self.measure().end_polls(now);
        hooks.on_park();
        let mut slept = Slept::NotAtAll;
        let mut woke_at = None;
        // The hook may have spawned or woken something.
        if self.core.queue.borrow().is_empty() {
            self.counters().parks.add(1);
            self.turn_to(Some(WorkerState::Parked), if hooks.has_park() { Moment::now() } else { now });
            // It will be old.
            current::forget_time_here();
            self.record_sleep(true);
            slept = self.shared().wakeup.park(&self.core.parker, &self.shared().driver, &mut Woken(self));
            self.record_sleep(false);
            let now = Moment::now();
            self.turn_to(Some(WorkerState::Busy), now);
            self.counters().unparks.add(1);
            woke_at = Some(now);
        }
        if let Slept::InDriver { has_left } = slept {
            self.core.poll_interval.note_turn(has_left);
            self.counters().driver_polls.add(1);
            self.counters().driver_waits.add(1);
        }
        self.line.let_main_first();
        hooks.on_unpark();
        // User code was no poll.
        self.record_passing();
        let now = woke_at.filter(|_| !hooks.has_unpark()).unwrap_or_else(Moment::now);
        if slept == Slept::NotAtAll {
            self.measure().begin_polls_with_tick(now);
        } else {
            self.core.poll_interval.restart(now);
            self.restart_polls(now);
        }
    }
}

/// What the drivers wake, to the thread that has them: whether an event or a timer has woken it, a task goes to the
/// end of the queue.
///
/// Other wakers are called at once, and listeners are told at once, though the thread still has the drivers: nobody
/// else could look after these meanwhile.
struct Woken<'a>(&'a Worker);

impl WakeSink for Woken<'_> {
    fn event(&mut self, waker: Waker) {
        let Self(worker) = *self;
        match task::wake_own(waker, |task| is_task_of(task, &worker.runtime), task::hear_wake) {
            Ok(Some(task)) => {
                worker.runtime.events.emit(|| LANE, task.task(), TaskEventKind::Woken);
                worker.push(task);
            }
            Ok(None) => {}
            Err(waker) => contain(|| waker.wake()),
        }
    }

    fn timer(&mut self, waker: Waker) {
        self.event(waker);
    }
}
