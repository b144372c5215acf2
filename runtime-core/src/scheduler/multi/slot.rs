//! The public side of a worker: what other threads steal from, wake, read, and return tasks to.
//!
//! Also what the monitor sees of it. All of that is written by the worker with plain stores, some of it at every poll,
//! and costs no more than that.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
use std::time::Duration;

use super::run_queue::RunQueueStealer;
use crate::blocked::ThreadId;
use crate::clock::Moment;
use crate::metrics::{WorkerCounters, WorkerTimes};
use crate::runtime::{Inner, PolledTask, WorkerActivity};
use crate::scheduler::ends::EndedTasks;
use crate::scheduler::park::Wakeup;
use crate::task::arena::{ArenaId, TaskArena};
use crate::task::{Header, Id, Site, TaskRef};
use crate::wake_latency::WakeLatency;

/// What other threads see of a worker.
pub(super) struct Slot {
    pub(super) run_queue: RunQueueStealer,
    pub(super) wakeup: Wakeup,
    pub(super) wake_latency: WakeLatency,
    pub(super) counters: WorkerCounters,
    pub(super) times: WorkerTimes,
    /// When the worker was last at its maintenance, or woke up: a moment. At first, when the slot was made.
    pub(super) last_maintenance: AtomicU64,
    /// How many polls it had counted when it last woke up.
    pub(super) polls_at_unpark: AtomicU64,
    pub(super) ended: EndedTasks,
    pub(super) activity: Activity,
    pub(super) arena: TaskArena,
}

impl Slot {
    pub(super) fn new(index: usize, run_queue: RunQueueStealer, wakeup: Wakeup) -> Self {
        Self {
            run_queue,
            wakeup,
            wake_latency: WakeLatency::default(),
            counters: WorkerCounters::default(),
            times: WorkerTimes::default(),
            last_maintenance: AtomicU64::new(Moment::now().word()),
            polls_at_unpark: AtomicU64::new(0),
            ended: EndedTasks::new(),
            activity: Activity::default(),
            arena: TaskArena::new::<Inner>(ArenaId::Slot(index)),
        }
    }

    /// Whether there is work on its queues that somebody else should come for: more than the one task that it is going
    /// to run next; any, if it is not going to run one.
    pub(super) fn has_surplus(&self) -> bool {
        let own = usize::from(!self.activity.is_blocking_in_place.load(Relaxed));
        self.may_have_work() && self.run_queue.len() > own
    }

    /// Whether there is any work on its queues, be it the one task that it is going to run next.
    pub(super) fn has_any_work(&self) -> bool {
        self.may_have_work() && self.run_queue.len() > 0
    }

    /// For how long it has not been seen.
    pub(super) fn since_maintenance(&self, now: Moment) -> Duration {
        Moment::from_word(self.last_maintenance.load(Relaxed)).map_or(Duration::ZERO, |last| now.since(last))
    }

    /// For how long it has been in the first poll since it woke up, if it is.
    pub(super) fn time_in_first_poll(&self, now: Moment) -> Option<Duration> {
        let since_maintenance = self.since_maintenance(now);
        // It is seen again after its third poll, or sooner if it is called to the drivers; then the poll seems younger.
        let is_first = self.counters.polls.get() == self.polls_at_unpark.load(Relaxed).wrapping_add(1);
        (is_first && self.activity.user_code().is_some()).then_some(since_maintenance)
    }

    /// The task in whose poll it is, and since when, or a group of short polls earlier.
    #[cfg(not(loom))]
    pub(super) fn poll_that_goes_on(&self) -> Option<(Id, Moment)> {
        match self.activity.user_code()? {
            UserCode::Poll(polled) => Some((polled.task, self.times.read_clock_at()?)),
            UserCode::External => None,
        }
    }

    /// Whether it is worth looking at its queues, which costs a fence for each.
    ///
    /// A worker that rests has nothing there. It notes that it is awake before it queues anything that the drivers have
    /// brought, even while it still has the drivers: so a thread that would see that by the fences of `idle/` sees this
    /// too.
    #[inline]
    pub(super) fn may_have_work(&self) -> bool {
        !self.activity.is_parked()
    }
}

/// What a worker is doing, for the monitor. Written by the thread that has the core.
///
/// Everything is relaxed, and single values may be of different moments. The monitor uses them only of a worker that
/// has not moved for milliseconds, and where a wrong name would do harm looks whether it still has not.
#[derive(Default)]
pub(super) struct Activity {
    /// The thread that has the core.
    thread: AtomicU32,
    /// Asleep, or without a thread: not to be watched.
    is_parked: AtomicBool,
    /// In `block_in_place`: it has told everybody itself.
    is_blocking_in_place: AtomicBool,
    /// The task of the last poll; or one of the two below.
    task: AtomicU64,
    site: AtomicPtr<()>,
    name: Name,
}

/// No task: the worker is about its own business.
const NOTHING: u64 = 0;
/// No task: it calls hooks, or wakers of other people's.
const HOOK_OR_WAKER: u64 = u64::MAX;

/// What the monitor reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum UserCode {
    Poll(Polled),
    /// A hook, or a waker that is no task's.
    External,
}

/// The task that is being polled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polled {
    pub(super) task: Id,
    pub(super) spawned_at: &'static Location<'static>,
    pub(super) name: Option<&'static str>,
}

impl Activity {
    /// A poll of this task begins.
    #[inline]
    pub(super) fn polls(&self, task: &TaskRef) {
        let header: &Header = task.header();
        self.task.store(header.id().0, Relaxed);
        // That of a name was made at run time: the thread that reads it has to see it whole.
        self.site.store(header.site().as_ptr(), Release);
        if header.site().is_named() {
            self.name.store(task.name());
        }
    }

    /// The worker polls nothing.
    pub(super) fn polls_nothing(&self) {
        self.task.store(NOTHING, Relaxed);
    }

    /// It calls hooks, or wakers of other people's.
    pub(super) fn calls_user_code(&self) {
        self.task.store(HOOK_OR_WAKER, Relaxed);
    }

    /// Whether it polls a task, for the worker itself.
    pub(super) fn is_polling(&self) -> bool {
        !matches!(self.task.load(Relaxed), NOTHING | HOOK_OR_WAKER)
    }

    pub(super) fn set_parked(&self, is_parked: bool) {
        self.is_parked.store(is_parked, Relaxed);
    }

    pub(super) fn is_parked(&self) -> bool {
        self.is_parked.load(Relaxed)
    }

    pub(super) fn set_blocking_in_place(&self, is_blocking_in_place: bool) {
        self.is_blocking_in_place.store(is_blocking_in_place, Relaxed);
    }

    pub(super) fn is_blocking_in_place(&self) -> bool {
        self.is_blocking_in_place.load(Relaxed)
    }

    pub(super) fn set_thread(&self, thread: Option<ThreadId>) {
        self.thread.store(thread.map_or(0, ThreadId::get), Relaxed);
    }

    pub(super) fn thread(&self) -> Option<ThreadId> {
        ThreadId::new(self.thread.load(Relaxed))
    }

    /// What the worker does, for those who look on.
    pub(super) fn describe(&self) -> WorkerActivity {
        if self.is_parked() {
            return WorkerActivity::Asleep;
        }
        match self.user_code() {
            Some(UserCode::Poll(polled)) => {
                let task = PolledTask::new(polled.task, polled.name, polled.spawned_at);
                if self.is_blocking_in_place() {
                    WorkerActivity::BlockingInPlace(task)
                } else {
                    WorkerActivity::Polling(task)
                }
            }
            Some(UserCode::External) => WorkerActivity::OutsideTasks,
            None => WorkerActivity::Searching,
        }
    }

    /// What of the user's the worker does, if anything.
    pub(super) fn user_code(&self) -> Option<UserCode> {
        let task = match self.task.load(Relaxed) {
            NOTHING => return None,
            HOOK_OR_WAKER => return Some(UserCode::External),
            task => Id(task),
        };
        // SAFETY: nothing else is ever stored there.
        let site = unsafe { Site::from_ptr(self.site.load(Acquire)) }?;
        let name = if site.is_named() { self.name.load() } else { None };
        Some(UserCode::Poll(Polled { task, spawned_at: site.location(), name }))
    }
}

/// A name, which is two words. A reader that meets a writer gets none (a sequence lock; see Boehm, "Can seqlocks get
/// along with programming language memory models?", 2012).
#[derive(Default)]
struct Name {
    /// Odd while the name is being written.
    version: AtomicU32,
    start: AtomicPtr<u8>,
    len: AtomicUsize,
}

impl Name {
    /// For one thread.
    fn store(&self, name: Option<&'static str>) {
        let name = name.unwrap_or_default();
        if ptr::eq(self.start.load(Relaxed), name.as_ptr()) && self.len.load(Relaxed) == name.len() {
            return;
        }
        let version = self.version.load(Relaxed).wrapping_add(1);
        self.version.store(version, Relaxed);
        // A thread that reads one of the two below also reads the odd version, or a later one.
        fence(Release);
        self.start.store(name.as_ptr().cast_mut(), Relaxed);
        self.len.store(name.len(), Relaxed);
        self.version.store(version.wrapping_add(1), Release);
    }

    fn load(&self) -> Option<&'static str> {
        let version = self.version.load(Acquire);
        let (start, len) = (self.start.load(Relaxed), self.len.load(Relaxed));
        // Pairs with the fence in `store`.
        fence(Acquire);
        if version == 0 || !version.is_multiple_of(2) || self.version.load(Relaxed) != version {
            return None;
        }
        // SAFETY: the version was even and the same before and after, so both words are of one `store`: they are a
        // string that lives for ever.
        Some(unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(start, len)) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_whole_or_not_at_all() {
        const NAMES: [&str; 3] = ["a", "somewhat longer", "the longest of the three names"];
        let name = Name::default();
        assert_eq!(name.load(), None);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..30_000).for_each(|at| name.store(Some(NAMES[at % 3]))));
            while !writer.is_finished() {
                if let Some(name) = name.load() {
                    assert!(NAMES.contains(&name), "{name}");
                }
            }
        });
        assert_eq!(name.load(), Some(NAMES[29_999 % 3]));
    }
}
