//! What the current thread polls: the task, and the budget of the poll.
//!
//! One small structure of plain cells, so that reading it is one access to thread-local storage with no check for
//! initialisation or destruction. It is the lower half of what the runtime knows of a thread: which runtime that works
//! for, and as what, is in `context/`, a layer above. What is asked of that layer goes through [`Above`].

use std::cell::Cell;
use std::ptr;
use std::task::Waker;

use super::waits::Note;
use super::{Id, is_waker_of_task, waker};
use crate::clock::Moment;
use crate::coop::Budget;
use crate::inspect;
use crate::primitive::thread_local;

pub(super) struct Current {
    /// The task that is being polled; null for none. Stands there only while [`in_task`] borrows it.
    task: Cell<*const CurrentTask>,
    budget: Cell<Budget>,
    /// The data of the waker of the main future that is being polled.
    main_waker: Cell<*const ()>,
    /// Whether something other than a task has given way to others in this poll: see [`has_given_way`].
    has_given_way: Cell<bool>,
    /// See [`frame`](super::frame).
    pub(super) next_ticket: Cell<u64>,
    /// `None` until the thread enters a runtime: nothing is asked before.
    pub(super) above: Cell<Option<&'static Above>>,
    /// The time that a worker's thread knows last. `None`: it is to be read.
    now: Cell<Option<Moment>>,
    /// Whether the thread is a worker's, which keeps `now` from being old.
    keeps_time: Cell<bool>,
}

thread_local! {
    pub(super) static CURRENT: Current = Current {
        task: Cell::new(ptr::null()),
        budget: Cell::new(Budget::UNCONSTRAINED),
        main_waker: Cell::new(ptr::null()),
        has_given_way: Cell::new(false),
        next_ticket: Cell::new(0),
        above: Cell::new(None),
        now: Cell::new(None),
        keeps_time: Cell::new(false),
    };
}

/// What the layer above does for the current thread when the layer below asks it to.
#[derive(Debug)]
pub(crate) struct Above {
    /// Removes what was entered since that ticket was the next one, at the end of a [`Frame`](super::frame::Frame).
    pub(crate) end_frame: fn(since: u64),
    /// Counts that a leaf is refused for want of budget, the first one of a poll.
    pub(crate) count_budget_yield: fn(),
}

/// Whether a task has woken itself in its poll, on the thread that polls it. What comes later outweighs what is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SelfWake {
    No,
    /// By `yield_now` or a leaf that found no budget, and in no other way: so that others go first.
    GivesWay,
    /// By its waker: a part of it has something to do for another.
    Wakes,
}

/// A task that is being polled.
#[derive(Debug)]
pub(crate) struct CurrentTask {
    id: Id,
    /// The data of its waker; null if it has none of ours, or if a wake of it is not to be taken for one in its poll.
    waker: Cell<*const ()>,
    self_wake: Cell<SelfWake>,
    /// The budget does not tell whether an operation has succeeded: some of them have none to spend.
    progress_is_unknown: Cell<bool>,
    waits_for: Cell<Note>,
}

impl CurrentTask {
    #[inline]
    pub(crate) fn new(id: Id, waker: *const ()) -> Self {
        let (self_wake, waits_for) = (Cell::new(SelfWake::No), Cell::new(Note::NOTHING));
        Self { id, waker: Cell::new(waker), self_wake, progress_is_unknown: Cell::new(false), waits_for }
    }

    /// What the leaves that returned `Pending` in this poll have said of what they wait for.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    #[inline]
    pub(super) fn waits_for(&self) -> Note {
        self.waits_for.get()
    }

    /// Whether an operation has succeeded in this poll, for all that is known.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    #[inline]
    pub(super) fn may_have_made_progress(&self) -> bool {
        self.progress_is_unknown.get() || !budget().is_untouched()
    }

    /// Whether it has woken itself, on the thread that polls it.
    #[inline]
    pub(crate) fn self_wake(&self) -> SelfWake {
        self.self_wake.get()
    }

    /// Its last poll is over: what runs of it afterwards is outside of its polls.
    #[inline]
    pub(crate) fn end_last_poll(&self) {
        self.waker.set(ptr::null());
    }
}

/// Runs a task's poll, or the drop of its future by a worker: with a budget, and known as the current task. A caller
/// that has a `CurrentTask` with a waker also asks it afterwards whether it has woken itself: see
/// [`Notified::run_current`](crate::task::Notified).
#[inline]
pub(crate) fn in_task<R>(task: &CurrentTask, budget: Budget, f: impl FnOnce() -> R) -> R {
    struct Restore(*const CurrentTask, Budget);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.with(|current| {
                current.task.set(self.0);
                current.budget.set(self.1);
            });
        }
    }
    let _restore = CURRENT.with(|current| Restore(current.task.replace(task), current.budget.replace(budget)));
    f()
}

/// The identifier of the task that is being polled, if any.
pub(crate) fn task_id() -> Option<Id> {
    with_task(|task| task.id)
}

#[inline]
fn with_task<R>(f: impl FnOnce(&CurrentTask) -> R) -> Option<R> {
    // SAFETY: what stands there is borrowed by an `in_task` that goes on, on this thread.
    CURRENT.with(|current| unsafe { current.task.get().as_ref() }.map(f))
}

/// Wakes the task that is being polled, so that others go first. If the waker is that of the very task which this
/// thread polls, it is told so without an atomic operation: nobody else looks before the poll returns.
#[inline]
pub(crate) fn wake_in_poll(waker: &Waker) {
    if is_waker_of_task(waker) && wakes_itself(waker.data(), SelfWake::GivesWay) {
        waker::tell_of(waker, "waker.wake_by_ref");
    } else {
        CURRENT.with(|current| current.has_given_way.set(true));
        waker.wake_by_ref();
    }
}

/// Begins a poll of a main future, with this budget. It ends when the guard is dropped.
pub(crate) fn begin_main_poll(waker: &Waker, budget: Budget) -> impl Drop + use<> {
    struct Restore(Budget, *const ());
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.with(|current| {
                current.budget.set(self.0);
                current.main_waker.set(self.1);
            });
        }
    }
    CURRENT.with(|current| {
        current.has_given_way.set(false);
        Restore(current.budget.replace(budget), current.main_waker.replace(waker.data()))
    })
}

/// Whether the main future has given way in its last poll: by `yield_now`, or a leaf that found no budget. A future
/// that just calls its own waker does not.
pub(crate) fn has_given_way() -> bool {
    CURRENT.with(|current| current.has_given_way.get())
}

/// Whether a poll with this waker returns to the scheduler when it returns: the waker is that of a task, or of the main
/// future. Combinators, and harnesses of tests, poll with wakers of their own.
pub(crate) fn is_own_waker(waker: &Waker) -> bool {
    let main = CURRENT.with(|current| current.main_waker.get());
    is_waker_of_task(waker) || (!main.is_null() && ptr::eq(main, waker.data()))
}

/// Whether it is the waker of the task that this thread polls.
#[inline]
pub(super) fn is_waker_of_current_task(waker: &Waker) -> bool {
    is_waker_of_task(waker) && with_task(|task| ptr::eq(task.waker.get(), waker.data())) == Some(true)
}

/// After a wake that found its task queued or running. A task that wakes itself in its poll has had its turn.
/// One that somebody else wakes meanwhile has not.
#[inline]
pub(crate) fn note_wake(waker: *const ()) {
    let _ = wakes_itself(waker, SelfWake::Wakes);
}

/// Notes that the task wakes itself which this thread polls, if that is the one whose waker has such data.
#[inline]
fn wakes_itself(waker: *const (), how: SelfWake) -> bool {
    with_task(|task| {
        let is_its_own = ptr::eq(task.waker.get(), waker);
        if is_its_own {
            task.self_wake.set(task.self_wake.get().max(how));
        }
        is_its_own
    }) == Some(true)
}

/// Runs the drop of a task's output or future, outside of its polls: the task is the current one, and the budget that
/// of the code that drops it.
pub(super) fn in_dead_task<R>(id: Id, f: impl FnOnce() -> R) -> R {
    in_task(&CurrentTask::new(id, ptr::null()), budget(), f)
}

/// Runs code of a task that blocks, as if outside of its poll: a wake of the task is an ordinary one, and there is no
/// budget.
pub(crate) fn outside_of_poll<R>(f: impl FnOnce() -> R) -> R {
    let Some(id) = task_id() else { return f() };
    in_task(&CurrentTask::new(id, ptr::null()), Budget::UNCONSTRAINED, f)
}

/// A leaf that is about to return `Pending` says what it waits for.
#[inline]
pub(super) fn note_wait(note: Note) {
    with_task(|task| task.waits_for.set(task.waits_for.get().and(note)));
}

/// A leaf that has said what it waits for does not wait any more.
#[inline]
pub(super) fn withdraw_wait(note: Note) {
    with_task(|task| task.waits_for.set(task.waits_for.get().without(note)));
}

/// What was said up to now in the poll at hand, if there is one.
pub(super) fn wait() -> Option<Note> {
    with_task(|task| task.waits_for.get())
}

/// What leaves have said since this was said is over.
pub(super) fn restore_wait(before: Note) {
    with_task(|task| {
        // If more was said, the leaf of before may have been withdrawn among that: it does not count for certain.
        if task.waits_for.get() != before {
            task.waits_for.set(before.without_waker());
        }
    });
}

/// From here on operations of this poll may spend another budget, or none.
fn note_unconstrained() {
    with_task(|task| task.progress_is_unknown.set(true));
}

/// What this thread knows of the time: on a worker's thread mostly the time before the poll at hand, or before some
/// short ones. On others the present.
#[cfg_attr(loom, allow(dead_code))] // models do not inspect
#[inline]
pub(super) fn time_here() -> Moment {
    CURRENT.with(|current| current.now.get()).unwrap_or_else(read_time)
}

/// The same, if it costs nothing, or somebody looks.
#[cfg_attr(loom, allow(dead_code))] // models do not inspect
#[inline]
pub(super) fn time_to_note() -> Option<Moment> {
    let now = CURRENT.with(|current| current.now.get());
    now.or_else(|| inspect::is_watched().then(read_time))
}

#[cfg_attr(loom, allow(dead_code))] // models do not inspect
#[cold]
fn read_time() -> Moment {
    let now = Moment::now();
    CURRENT.with(|current| {
        if current.keeps_time.get() {
            current.now.set(Some(now));
        }
    });
    now
}

/// The thread, a worker's, knows the time.
#[inline]
pub(crate) fn set_time_here(now: Moment) {
    CURRENT.with(|current| {
        current.keeps_time.set(true);
        current.now.set(Some(now));
    });
}

/// The worker is about to sleep: what it knows of the time will be old.
pub(crate) fn forget_time_here() {
    CURRENT.with(|current| current.now.set(None));
}

/// The thread is a worker's no longer.
pub(crate) fn keep_no_time_here() {
    CURRENT.with(|current| {
        current.keeps_time.set(false);
        current.now.set(None);
    });
}

#[inline]
pub(crate) fn budget() -> Budget {
    CURRENT.with(|current| current.budget.get())
}

#[inline]
pub(crate) fn set_budget(budget: Budget) {
    CURRENT.with(|current| current.budget.set(budget));
}

/// Sets the budget until the guard is dropped.
pub(crate) fn replace_budget(budget: Budget) -> impl Drop {
    struct Restore(Budget);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_budget(self.0);
        }
    }
    note_unconstrained();
    let before = self::budget();
    set_budget(budget);
    Restore(before)
}

#[cold]
pub(crate) fn count_budget_yield() {
    if let Some(above) = CURRENT.with(|current| current.above.get()) {
        (above.count_budget_yield)();
    }
}
