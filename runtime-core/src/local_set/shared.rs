//! [`Shared`]: the scheduler of one `LocalSet`.
//!
//! # The protocol
//!
//! A set belongs to the thread that made it. Only that thread polls its tasks, and drops their futures: `LocalSet`
//! cannot leave it, and `Shared` itself never does either.
//!
//! There are two queues. While the set *runs* on its thread, that thread pushes onto `local`, which nobody else
//! touches. Everything else (wakes from other threads, and what its own thread wakes or spawns between two runs) goes
//! into the `inbox`, under a lock, and takes from there the wakers of those that drive the set, to call them outside of
//! the lock. A run leaves its waker in the inbox before it moves the inbox over to `local`. So a task that comes after
//! the move finds the waker, and none is forgotten; and between two runs the set is woken once.
//!
//! Several tasks may drive a set, each with a `run_until` of its own, and any of them may be done with it: so the
//! wakers of all are kept, and all are called. A task of the set may drive the set in turn. Then wakers may have been
//! called in the run inside of the run; so the outer one leaves its waker once more at its end, and looks whether
//! anything has come.
//!
//! When no `run_until` is left the wakers go: a program that drives a set now and then, each time as another main
//! future, would have it call all of those. A set that is polled as a future keeps them, as nobody says when that is
//! over.
//!
//! A task of the set may also drive something else on its thread, and block in that: a runtime of its own, or another
//! set. What has been driven last may then go on for long before the set's own loop has control again. So from the end
//! of a run inside of the run on, the set does not count as running, and everything goes through the inbox, until a
//! task's poll is over and the loop goes on. Whenever the set begins to run, or goes on, it moves the inbox over first,
//! so tasks that its own thread queues keep their order.
//!
//! # The end
//!
//! The tasks lie in an arena that is a part of `Shared` (`task/arena/`), which is counted once for all of them
//! (`task/outstanding.rs`). When the set is dropped its inbox is closed: a task that is queued from then on was
//! cancelled already, and its entry is dropped. Then all tasks are cancelled, in the order in which they were spawned,
//! which drops their futures on this thread, and the arena is closed. Tasks whose handles or wakers remain keep the
//! memory of `Shared` until the last of those goes.
//!
//! A panic of a task may be the end, too ([`UnhandledPanic`]). The run that polls the task stops. The outermost one, in
//! which no task is polled any more, closes the set and panics. All others that drive it are called, and find it
//! closed.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::Future;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Waker;

use super::drivers::Drivers;
use crate::context;
use crate::coop::Budget;
use crate::metrics::Counter;
use crate::primitive::{Mutex, UnsafeCell};
use crate::runtime::{self, DEFAULT_COOP_BUDGET, DEFAULT_INTERVAL, UnhandledPanic};
use crate::spans;
#[cfg(not(loom))]
use crate::task::Snapshot;
use crate::task::arena::{ArenaId, TaskArena};
use crate::task::host::Host;
use crate::task::outstanding::Outstanding;
use crate::task::{
    Again, Header, Id, JoinHandle, Left, Notified, Queue, Runner, Schedule, SpawnInfo, TaskRef, new_task, refuse,
};

/// See the module.
pub(super) struct Shared {
    pub(super) id: runtime::Id,
    /// Of all tasks. The set's thread owns it.
    tasks: TaskArena,
    /// For the set's thread, and not borrowed while it runs code of a user's.
    local: UnsafeCell<Queue>,
    inbox: Mutex<Inbox>,
    /// Written by the set's thread.
    spawned: Counter,
    completed: Counter,
    /// Whether a task's panic is the end, and whether it has come. These and the next are for the set's thread.
    ends_by_panic: Cell<bool>,
    has_panicked: Cell<bool>,
    /// How many of its tasks are being polled, one inside of the other.
    polls: Cell<u32>,
    /// How many `run_until`s there are that have been polled; and one for the set as a future.
    drives: Cell<usize>,
    is_future: Cell<bool>,
    outstanding: Outstanding,
    /// The runtime that has driven the set last, by its number.
    driven_by: AtomicU64,
}

struct Inbox {
    tasks: VecDeque<Notified>,
    drivers: Drivers,
    closed: bool,
}

// SAFETY: what is not Sync by itself, `local` and the cells, the set's thread alone touches: in methods that ask for
// it, and which the `LocalSet` calls, or code below it on the same stack (`Running`).
unsafe impl Sync for Shared {}
// SAFETY: nothing of it depends on the thread that drops it: by then the arena is closed and the queues are empty.
unsafe impl Send for Shared {}

crate::primitive::thread_local! {
    /// The set that runs on this thread. It lives: a `Running` further out on the stack borrows it.
    static RUNNING: Cell<*const Shared> = Cell::new(ptr::null());
}

impl Shared {
    pub(super) fn new() -> Arc<Self> {
        let this = Arc::new(Self {
            id: runtime::Id::next(),
            tasks: TaskArena::new::<Self>(ArenaId::Slot(0)),
            local: UnsafeCell::new(Queue::default()),
            inbox: Mutex::new(Inbox { tasks: VecDeque::new(), drivers: Drivers::default(), closed: false }),
            spawned: Counter::default(),
            completed: Counter::default(),
            ends_by_panic: Cell::new(false),
            has_panicked: Cell::new(false),
            polls: Cell::new(0),
            drives: Cell::new(0),
            is_future: Cell::new(false),
            outstanding: Outstanding::new(),
            driven_by: AtomicU64::new(0),
        });
        #[cfg(not(loom))]
        super::all::add(&this);
        this.tasks.bind(Arc::as_ptr(&this));
        // The count that all tasks together hold.
        std::mem::forget(Arc::clone(&this));
        this
    }

    fn is_running(&self) -> bool {
        ptr::eq(RUNNING.with(Cell::get), self)
    }

    /// # Safety
    ///
    /// The calling thread is the set's.
    unsafe fn with_local<R>(&self, f: impl FnOnce(&mut Queue) -> R) -> R {
        // SAFETY: the caller's promise; and the closures, all in this file, run no code of a user's.
        self.local.with_mut(|local| f(unsafe { &mut *local }))
    }

    /// Spawns a task.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn spawn<F>(&self, future: F, mut info: SpawnInfo) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        info.id = spans::id_or(info.id, || Id(runtime::reserve_task_ids(1)));
        if self.inbox.lock().closed {
            let (task, handle) = new_task::<F, LocalTasks>(future, info);
            refuse(task);
            return handle;
        }
        // SAFETY: the arena is this thread's.
        let (task, handle) = unsafe { self.tasks.guard() }.new_task::<F, LocalTasks>(future, info);
        self.spawned.add(1);
        self.queue(task);
        handle
    }

    /// Queues a task, from any thread. It keeps this while it is incomplete: a caller that has nothing else must not
    /// touch this afterwards.
    fn queue(&self, task: Notified) {
        if self.is_running() {
            // SAFETY: the set runs on this thread, so it is its own.
            return unsafe { self.with_local(|local| local.push(task)) };
        }
        let drivers = {
            let mut inbox = self.inbox.lock();
            if inbox.closed {
                drop(inbox);
                return drop(task);
            }
            inbox.tasks.push_back(task);
            std::mem::take(&mut inbox.drivers)
        };
        drivers.call();
    }

    /// Calls those that drive the set.
    fn call_drivers(&self) {
        let drivers = std::mem::take(&mut self.inbox.lock().drivers);
        drivers.call();
    }

    /// Leaves the waker of one that drives the set. Returns whether tasks are in the inbox, for which only others may
    /// have been called.
    pub(super) fn put_waker(&self, waker: &Waker) -> bool {
        {
            let inbox = self.inbox.lock();
            if inbox.closed {
                return false;
            }
            if inbox.drivers.have(waker) {
                return !inbox.tasks.is_empty();
            }
        }
        // Cloned and dropped outside of the lock: that is code of a user's.
        let waker = waker.clone();
        let (stale, has_tasks) = {
            let mut inbox = self.inbox.lock();
            (inbox.drivers.add(waker), !inbox.tasks.is_empty())
        };
        stale.call();
        has_tasks
    }

    /// A `run_until` begins.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn begin_drive(&self) {
        self.drives.set(self.drives.get() + 1);
    }

    /// It is over: it has returned, or panicked, or was dropped on the way. Others have to poll what its last run has
    /// left in the queue. If there are no others, nobody is to be woken any more.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn end_drive(&self) {
        self.drives.set(self.drives.get() - 1);
        if self.drives.get() == 0 {
            let drivers = std::mem::take(&mut self.inbox.lock().drivers);
            return drivers.forget();
        }
        // SAFETY: the caller's promise.
        if unsafe { self.has_queued() } {
            self.call_drivers();
        }
    }

    /// The set is polled as a future, from now on.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn become_future(&self) {
        if !self.is_future.replace(true) {
            // SAFETY: the caller's promise.
            unsafe { self.begin_drive() };
        }
    }

    /// What a task's panic means to the others.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn set_unhandled_panic(&self, behavior: UnhandledPanic) {
        self.ends_by_panic.set(behavior == UnhandledPanic::ShutdownRuntime);
    }

    /// Whether a task's panic has ended the set.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn has_panicked(&self) -> bool {
        self.has_panicked.get()
    }

    /// Whether one of its tasks is being polled, further out on the thread's stack.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    pub(super) unsafe fn is_in_poll(&self) -> bool {
        self.polls.get() > 0
    }

    /// Whether all tasks have ended.
    pub(super) fn is_empty(&self) -> bool {
        self.spawned.get() == self.completed.get()
    }

    /// Polls tasks that are queued, no more often than a worker polls tasks between two looks at its drivers: then the
    /// set lets others of its thread go first. A task that gives way does so to these others, too. Returns what
    /// is left.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's, and the set runs.
    pub(super) unsafe fn run(&self) -> Left {
        debug_assert!(self.is_running());
        if self.has_panicked.get() {
            // The arena may be closed.
            return Left::Nothing;
        }
        // SAFETY: the arena is this thread's.
        unsafe { self.tasks.guard() }.drain_remote_frees();
        let driver = context::with_runtime(|runtime| (runtime.budget, runtime.id.get()));
        let (budget, runtime) = driver.unwrap_or_else(|_| (Budget::limited(DEFAULT_COOP_BUDGET), 0));
        self.driven_by.store(runtime, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { self.with_local(Queue::begin_round) };
        let runner = Runner { completions: Some(&self.completed), ..Runner::NOBODY };
        for _ in 0..DEFAULT_INTERVAL {
            if self.has_panicked.get() {
                return Left::Nothing;
            }
            // SAFETY: the caller's promise.
            let Some(task) = (unsafe { self.next_task() }) else { break };
            self.polls.set(self.polls.get() + 1);
            let again = task.run_current(&runner, budget);
            self.polls.set(self.polls.get() - 1);
            // The task may have driven something else, as the module says.
            if !self.is_running() {
                // SAFETY: the caller's promise.
                unsafe { self.begin_running() };
            }
            let (task, push): (_, fn(&mut Queue, Notified)) = match again {
                Again::No => continue,
                Again::GaveWay(task) => (task, Queue::push_given_way),
                Again::WokeItself(task) | Again::Woken(task) => (task, Queue::push),
            };
            // SAFETY: the caller's promise.
            unsafe { self.with_local(|local| push(local, task)) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.with_local(|local| local.left()) }
    }

    /// # Safety
    ///
    /// As [`run`](Self::run).
    unsafe fn next_task(&self) -> Option<Notified> {
        // SAFETY: the caller's promise.
        unsafe {
            self.with_local(Queue::pop).or_else(|| {
                self.receive();
                self.with_local(Queue::pop)
            })
        }
    }

    /// From now on this thread pushes onto `local`, behind all that is in the inbox.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's, and its code is that of a [`Running`].
    unsafe fn begin_running(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.receive() };
        RUNNING.with(|running| running.set(self));
    }

    /// Moves the inbox to the end of the queue.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    unsafe fn receive(&self) {
        let mut inbox = self.inbox.lock();
        // SAFETY: the caller's promise.
        unsafe { self.with_local(|local| local.extend(inbox.tasks.drain(..))) };
    }

    /// Whether tasks are in the queue of the set's thread, for which nobody was woken.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's.
    unsafe fn has_queued(&self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.with_local(|local| !local.is_empty()) }
    }

    /// The end. What is spawned from now on is refused. Those that drive the set are called if `calls_drivers`.
    ///
    /// # Safety
    ///
    /// The calling thread is the set's, and the set does not run.
    pub(super) unsafe fn close(this: &Arc<Self>, calls_drivers: bool) {
        let (queued, drivers) = {
            let mut inbox = this.inbox.lock();
            if std::mem::replace(&mut inbox.closed, true) {
                return;
            }
            (std::mem::take(&mut inbox.tasks), std::mem::take(&mut inbox.drivers))
        };
        // SAFETY: the arena is this thread's. Nobody polls its tasks any more, and none are added. Its runner has no
        // local arena, and this scheduler frees no task by itself: all of them are freed remotely.
        let guard = unsafe { this.tasks.guard() };
        let runner = Runner { completions: Some(&this.completed), ..Runner::NOBODY };
        // In the order of their spawns, as the identifiers are drawn one by one. SAFETY: as above.
        unsafe { guard.cancel_all_in_order(&runner) };
        // SAFETY: the caller's promise.
        let local = unsafe { this.with_local(std::mem::take) };
        drop((local, queued));
        // SAFETY: as above.
        let left = unsafe { guard.close() };
        if this.outstanding.add(left) {
            // SAFETY: the count that `new` set aside for all tasks, and there is none any more.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(this)) };
        }
        if calls_drivers {
            drivers.call();
        } else {
            drivers.forget();
        }
    }

    /// Reads every task that is not over, if that runtime has driven the set last.
    #[cfg(not(loom))]
    pub(super) fn inspect_tasks(&self, runtime: runtime::Id, into: &mut Vec<Snapshot>) {
        if self.driven_by.load(Relaxed) == runtime.get() {
            self.tasks.inspect(into);
        }
    }
}

/// The set runs on this thread while this lives, unless another ran inside of it.
pub(super) struct Running {
    _private: (),
}

impl Running {
    /// # Safety
    ///
    /// The calling thread is the set's. The set outlives this, and this is dropped on the same thread.
    pub(super) unsafe fn begin(shared: &Shared) -> Self {
        // SAFETY: the caller's promise.
        unsafe { shared.begin_running() };
        Self { _private: () }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Not the one around it, which does not have control yet.
        RUNNING.with(|running| running.set(ptr::null()));
    }
}

/// The scheduler of local sets, to their tasks.
struct LocalTasks;

impl Schedule for LocalTasks {
    fn schedule(task: Notified) {
        let arena = task.header().arena.expect("a task that was refused is complete");
        // SAFETY: the arena of such a task was made for, and lies in, a `Shared`, which lives as long as the task.
        let shared: *const Shared = unsafe { arena.as_ref().runtime::<Shared>() };
        // The entry may be run, and the set dropped, before the call returns.
        let keep = TaskRef::clone(task.task());
        // SAFETY: `keep` keeps the task.
        unsafe { &*shared }.queue(task);
        drop(keep);
    }

    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise; a task without an arena was refused.
        unsafe {
            match task.as_ref().arena {
                Some(arena) => TaskArena::free_remotely_one(arena, task),
                None => crate::task::free(task),
            }
        }
    }

    fn note_panic(task: &TaskRef) {
        if let Some(arena) = task.header().arena {
            // SAFETY: as in `schedule`. The set's thread polls the task, so the set is this thread's.
            let shared = unsafe { arena.as_ref().runtime::<Shared>() };
            shared.has_panicked.set(shared.has_panicked.get() || shared.ends_by_panic.get());
        }
    }
}

impl Host for Shared {
    fn request_drain(&self, _: ArenaId) {
        // A run frees them.
        if !self.is_running() {
            self.call_drivers();
        }
    }

    unsafe fn remove_outstanding(this: *const Self) {
        // SAFETY: the caller's promise; and `new` set aside the count that the last task gives back.
        unsafe {
            if (*this).outstanding.remove_one() {
                Arc::decrement_strong_count(this);
            }
        }
    }
}
