//! [`RemoteSpawns`]: tasks spawned from threads that are not the runtime's.
//!
//! They need an arena like any task, and a thread that owns it. Here it is the thread that holds the *spawn lock*: the
//! spawning thread, for the moment in which it makes a task; a thread that was asked to drain because many dead tasks
//! have come back; in the end, for good, the one that shuts the runtime down ([`RemoteSpawns::close_spawns`]). What all
//! do under the lock anyway, they also count and number there without further atomic operations. Several of these
//! arenas stand side by side, and a thread always takes the same one, so that threads seldom meet at a spawn lock.
//!
//! # Dead tasks
//!
//! Threads that drop the last reference to such a task push it onto the arena's return stack (`task/arena/mod.rs`). Two
//! kinds of threads free what is there, under the spawn lock:
//!
//! - each spawn, before it allocates. So a program that goes on spawning uses the same memory again;
//! - the thread whose return carries a request to drain, which about one return in 256 does. So dead tasks do not pile
//!   up when nobody spawns any more.
//!
//! A request to drain does not wait for the spawn lock: if another thread holds it, the dead tasks wait for the next
//! spawn or request. At shutdown, the thread that closed the spawn lock frees what is left.

use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::IdBlock;
use crate::context;
use crate::events::TaskEventKind;
use crate::metrics::WorkerCounters;
use crate::primitive::{Mutex, MutexGuard};
use crate::runtime::Inner;
use crate::spans;
use crate::task::arena::{ArenaGuard, ArenaId, TaskArena};
use crate::task::{self, Id, JoinHandle, Notified, Schedule, SpawnInfo};
use crate::trace::LaneId;

/// An arena for the tasks of remote threads, and the lock under which they are spawned.
pub(crate) struct RemoteSpawns {
    spawn_lock: Mutex<SpawnState>,
    arena: TaskArena,
    /// What is counted under the spawn lock.
    locked: WorkerCounters,
    /// What any thread counts at any time.
    shared: WorkerCounters,
    /// How many tasks had been queued from here when one was last followed (`followed.rs`).
    followed_at: AtomicU64,
}

struct SpawnState {
    ids: IdBlock,
    closed: bool,
}

impl RemoteSpawns {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            spawn_lock: Mutex::new(SpawnState { ids: IdBlock::default(), closed: false }),
            arena: TaskArena::new::<Inner>(ArenaId::Remote(index)),
            locked: WorkerCounters::default(),
            shared: WorkerCounters::default(),
            followed_at: AtomicU64::new(0),
        }
    }

    /// The arena. It belongs to the thread that holds the spawn lock.
    pub(crate) fn arena(&self) -> &TaskArena {
        &self.arena
    }

    /// The arena, for the thread that holds its spawn lock while that is open.
    fn arena_under<'a>(&'a self, spawn_lock: &'a MutexGuard<'_, SpawnState>) -> ArenaGuard<'a> {
        debug_assert!(!spawn_lock.closed, "it is the thread's that closed the spawn lock");
        // SAFETY: with the spawn lock in hand the arena is this thread's.
        unsafe { self.arena.guard() }
    }

    /// Makes a task, which the caller must queue. `None` if the runtime takes no new ones: then the handle says that it
    /// was cancelled.
    pub(crate) fn spawn<F, S>(
        &self,
        runtime: &Inner,
        future: F,
        mut info: SpawnInfo,
    ) -> (Option<Notified>, JoinHandle<F::Output>)
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let spawn_lock = self.spawn_lock.lock();
        if spawn_lock.closed {
            drop(spawn_lock);
            let handle = refuse::<F, S>(runtime, future, info);
            return (None, handle);
        }
        let arena = self.arena_under(&spawn_lock);
        arena.drain_remote_frees();
        info.id = spans::id_or(info.id, || spawn_lock.ids.next(runtime));
        let (task, handle) = arena.new_task::<F, S>(future, info);
        self.locked.spawns.add(1);
        self.locked.injector_schedules.add(1);
        drop(spawn_lock);
        runtime.events.emit(|| LaneId::Shared(context::thread_token()), task.task(), TaskEventKind::Spawned);
        (Some(task), handle)
    }

    /// Counts tasks that were woken from a remote thread.
    pub(crate) fn count_wakes(&self, wakes: u64) {
        self.shared.injector_schedules.add_shared(wakes);
    }

    /// How many tasks were queued from here since the last call.
    pub(crate) fn schedules_since_followed(&self) -> u64 {
        let schedules = self.counters().map(|counters| counters.injector_schedules.get()).iter().sum();
        // Two threads may come at once, with counts of different moments.
        u64::saturating_sub(schedules, self.followed_at.fetch_max(schedules, Relaxed))
    }

    /// Many dead tasks have come back: frees them, unless another thread holds the spawn lock or shutdown has closed
    /// it.
    pub(crate) fn request_drain(&self) {
        if let Some(spawn_lock) = self.spawn_lock.try_lock()
            && !spawn_lock.closed
        {
            self.arena_under(&spawn_lock).drain_remote_frees();
        }
    }

    /// From now on the arena is the caller's, and no task is added to it.
    pub(crate) fn close_spawns(&self) {
        self.spawn_lock.lock().closed = true;
    }

    /// For the thread that has closed the spawn lock.
    pub(crate) fn locked_counters(&self) -> &WorkerCounters {
        &self.locked
    }

    pub(crate) fn counters(&self) -> [&WorkerCounters; 2] {
        [&self.locked, &self.shared]
    }
}

/// A task of a runtime that takes no new ones: it is cancelled from the start.
pub(super) fn refuse<F, S>(runtime: &Inner, future: F, info: SpawnInfo) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
    S: Schedule,
{
    let id = spans::id_or(info.id, || Id(runtime.reserve_ids(1)));
    let info = SpawnInfo { id, arena: None, ..info };
    let (task, handle) = task::new_task::<F, S>(future, info);
    task::refuse(task);
    handle
}
