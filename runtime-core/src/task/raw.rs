//! A task of unknown type: a pointer and a vtable.

use std::alloc::Layout;
use std::future::Future;
use std::ptr::NonNull;
use std::task::Waker;

use super::arena::{self, RecordPlace, TaskArena};
use super::cell::{Header, TaskCell};
use super::current::{self, CurrentTask, SelfWake};
use super::harness;
#[cfg(not(loom))]
use super::published;
use super::runner::Runner;
use super::spawn_site::Site;
use super::state::Wake;
use super::{Id, Schedule, catch, discard, waker};
use crate::coop::Budget;

/// What can be done to a task only by code that knows its type. Every function takes a pointer that is valid for the
/// call.
pub(crate) struct Vtable {
    /// Polls or cancels the task; takes the queue's reference. Gives it back if the task is to be queued again.
    pub(crate) poll: unsafe fn(NonNull<Header>, &Runner<'_>, Option<&CurrentTask>) -> Option<Notified>,
    /// Puts the task into a queue of its scheduler; hands one reference over.
    pub(crate) schedule: unsafe fn(NonNull<Header>),
    /// Drops the future of a task that `claim_for_shutdown` gave to the caller, and completes it.
    pub(crate) cancel_claimed: unsafe fn(NonNull<Header>, &Runner<'_>),
    /// Moves the output of a complete task into the `Poll<Result<T, JoinError>>` behind the pointer. Leaves that as it
    /// is if the output was taken before.
    pub(crate) take_output: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops the output of a complete task, if it is still there.
    pub(crate) drop_output: unsafe fn(NonNull<Header>),
    /// The last reference is gone: tells the scheduler, which frees the memory.
    pub(crate) release: unsafe fn(NonNull<Header>),
    /// The future has panicked: tells the scheduler.
    pub(crate) note_panic: fn(&TaskRef),
    /// Drops what the cell holds. Its memory is the caller's from then on.
    drop_cell: unsafe fn(NonNull<Header>),
    /// What the memory is asked for as.
    layout: Layout,
    /// Where what inspection tells of the task is.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    pub(super) record: RecordPlace,
}

/// The vtable of one type of task: a future, on a scheduler.
pub(crate) struct VtableOf<F, S>(std::marker::PhantomData<(F, S)>);

impl<F: Future + 'static, S: Schedule> VtableOf<F, S> {
    pub(crate) const VTABLE: &'static Vtable = &Vtable {
        poll: harness::poll::<F>,
        schedule: schedule::<S>,
        cancel_claimed: harness::cancel_claimed::<F>,
        take_output: harness::take_output::<F>,
        drop_output: harness::drop_output::<F>,
        release: release::<S>,
        note_panic: S::note_panic,
        drop_cell: drop_cell::<F>,
        layout: Self::CELL.0,
        record: Self::CELL.1,
    };
    const CELL: (Layout, RecordPlace) = {
        let task = Layout::new::<TaskCell<F>>();
        if S::IN_ARENAS { arena::with_record(task) } else { (task, RecordPlace::Nowhere) }
    };
}

unsafe fn schedule<S: Schedule>(header: NonNull<Header>) {
    // SAFETY: the caller hands a reference over, and set SCHEDULED.
    S::schedule(unsafe { Notified::from_raw(header) });
}

unsafe fn release<S: Schedule>(header: NonNull<Header>) {
    // SAFETY: passed on.
    unsafe { S::release(header) };
}

unsafe fn drop_cell<F: Future>(header: NonNull<Header>) {
    // SAFETY: nobody has a reference any more; `new` wrote it as this type.
    unsafe { TaskCell::drop_in_place(header.cast::<TaskCell<F>>()) };
}

/// Drops a task that nobody has a reference to; its memory, asked for as this layout, is the caller's.
///
/// # Safety
///
/// There is no reference to the task.
#[inline]
pub(super) unsafe fn destroy(task: NonNull<Header>) -> (NonNull<u8>, Layout) {
    // SAFETY: the caller's promise. The vtable outlives the task.
    unsafe {
        let vtable = task.as_ref().vtable;
        #[cfg(not(loom))]
        published::retract(&task.as_ref().identity);
        (vtable.drop_cell)(task);
        (task.cast(), vtable.layout)
    }
}

/// Frees a task that is in no arena.
///
/// # Safety
///
/// There is no reference to the task.
pub(crate) unsafe fn free(task: NonNull<Header>) {
    // SAFETY: the caller's promise.
    unsafe {
        let (memory, layout) = destroy(task);
        arena::free(memory, layout);
    }
}

/// Frees a task whose arena was closed.
///
/// # Safety
///
/// There is no reference to the task, and the caller has found its arena closed.
pub(super) unsafe fn free_outstanding(task: NonNull<Header>) {
    // SAFETY: the caller's promise.
    unsafe {
        let (memory, layout) = destroy(task);
        arena::free_outstanding_cell(memory, layout);
    }
}

/// What a new task is told about itself.
#[derive(Clone, Copy)]
pub(crate) struct SpawnInfo {
    pub(crate) id: Id,
    pub(crate) site: Site,
    pub(crate) arena: Option<NonNull<TaskArena>>,
    /// How large its future was, which may be in a box by now. For its span.
    #[cfg_attr(not(feature = "tracing"), allow(dead_code))]
    pub(crate) original_size: usize,
}

/// Makes a task. It has three references: the arena's, the queue's and the join handle's.
#[inline]
pub(super) fn new<F: Future + 'static, S: Schedule>(
    future: F,
    info: SpawnInfo,
    allocate: impl FnOnce(Layout) -> NonNull<u8>,
) -> NonNull<Header> {
    let vtable = VtableOf::<F, S>::VTABLE;
    let cell = allocate(vtable.layout).cast::<TaskCell<F>>();
    // SAFETY: the memory is as large and as aligned as the cell's type asks, and nobody else's.
    unsafe { TaskCell::write(cell, future, &info, vtable) };
    cell.cast()
}

/// A reference to a task, of whatever kind: a waker's, a handle's. Counted.
#[derive(Debug)]
pub(crate) struct TaskRef(NonNull<Header>);

// SAFETY: what a reference can reach from another thread is the state word, the constant parts of the header, and the
// operations of the vtable, which keep the rules of the state word. Local tasks are no exception: their futures are
// polled and dropped by their own thread alone, which their scheduler sees to.
unsafe impl Send for TaskRef {}
// SAFETY: as above.
unsafe impl Sync for TaskRef {}

impl TaskRef {
    /// # Safety
    ///
    /// The caller has a reference and gives it away.
    pub(crate) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self(header)
    }

    pub(crate) fn as_raw(&self) -> NonNull<Header> {
        self.0
    }

    #[inline]
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the reference keeps the task.
        let header = unsafe { self.0.as_ref() };
        header.assert_alive();
        header
    }

    /// Whether a poll has returned `Pending`.
    #[inline]
    pub(crate) fn has_been_polled(&self) -> bool {
        self.header().state.has_been_polled()
    }

    /// What the user called the task.
    #[inline]
    pub(crate) fn name(&self) -> Option<&'static str> {
        self.header().site().name()
    }

    /// Asks for cancellation.
    pub(crate) fn abort(&self) {
        match self.header().state.abort() {
            // SAFETY: SCHEDULED was set here, and `Submit` comes with a reference for the queue.
            Wake::Submit => waker::schedule(unsafe { waker::submit(self.0) }),
            Wake::Nothing | Wake::Dealloc => {}
        }
    }

    /// Takes the join waker out of its slot.
    ///
    /// # Safety
    ///
    /// The slot is the caller's by the rules of `JOIN_WAKER`.
    #[inline]
    pub(crate) unsafe fn take_join_waker(&self) -> Option<Waker> {
        // SAFETY: the caller's promise.
        self.header().join_waker.with_mut(|slot| unsafe { (*slot).take() })
    }

    /// Whether the slot holds a waker that wakes the same task as this one.
    ///
    /// # Safety
    ///
    /// The slot is the caller's by the rules of `JOIN_WAKER`.
    pub(crate) unsafe fn join_waker_will_wake(&self, waker: &Waker) -> bool {
        // SAFETY: the caller's promise.
        self.header().join_waker.with(|slot| unsafe { &*slot }.as_ref().is_some_and(|old| old.will_wake(waker)))
    }

    /// Fills the join waker's slot; the old content is dropped. That is another poller's waker, so this one does not
    /// hear of it if it panics.
    ///
    /// # Safety
    ///
    /// The slot is the caller's by the rules of `JOIN_WAKER`.
    pub(crate) unsafe fn put_join_waker(&self, waker: Waker) {
        // SAFETY: the caller's promise.
        let old = self.header().join_waker.with_mut(|slot| unsafe { (*slot).replace(waker) });
        discard(catch(|| drop(old)));
    }
}

impl Clone for TaskRef {
    #[inline]
    fn clone(&self) -> Self {
        self.header().state.ref_inc();
        Self(self.0)
    }
}

impl Drop for TaskRef {
    #[inline]
    fn drop(&mut self) {
        if self.header().state.ref_dec(1) {
            // SAFETY: that was the last reference.
            unsafe { (self.header().vtable.release)(self.0) };
        }
    }
}

/// Whether a task goes to a queue again after a poll.
#[must_use]
#[derive(Debug)]
pub(crate) enum Again {
    No,
    /// It has given way to the others.
    GaveWay(Notified),
    /// It has woken itself: it must not run again before those that are queued have had a turn.
    WokeItself(Notified),
    /// Somebody else has woken it meanwhile.
    Woken(Notified),
}

/// A task that stands in a queue, with the queue's reference. The thread that takes it out polls it.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Notified(TaskRef);

impl Notified {
    /// # Safety
    ///
    /// The caller set `SCHEDULED` (or keeps it set), and gives one reference away.
    #[inline]
    pub(crate) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self(TaskRef(header))
    }

    #[inline]
    pub(crate) fn header(&self) -> &Header {
        self.0.header()
    }

    pub(crate) fn task(&self) -> &TaskRef {
        &self.0
    }

    /// The task as it is kept in a queue that deals in pointers. [`from_raw`](Self::from_raw) takes it back.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<Header> {
        std::mem::ManuallyDrop::new(self.0).as_raw()
    }

    /// Polls the task, or drops its future if it was cancelled. Gives it back if it was woken during the poll: then it
    /// goes to a queue again. It is the thread's current task meanwhile, and may yield by a word to this thread.
    #[inline]
    pub(crate) fn run_current(self, runner: &Runner<'_>, budget: Budget) -> Again {
        let current = CurrentTask::new(self.header().id(), self.task().as_raw().as_ptr().cast_const().cast());
        let Some(task) = current::in_task(&current, budget, || self.run_as(runner, Some(&current))) else {
            return Again::No;
        };
        match current.self_wake() {
            SelfWake::No => Again::Woken(task),
            SelfWake::GivesWay => Again::GaveWay(task),
            SelfWake::Wakes => Again::WokeItself(task),
        }
    }

    /// The same, for threads that have no current task: shutdown, and the blocking pool.
    #[inline]
    #[must_use]
    pub(crate) fn run(self, runner: &Runner<'_>) -> Option<Notified> {
        self.run_as(runner, None)
    }

    #[inline]
    fn run_as(self, runner: &Runner<'_>, current: Option<&CurrentTask>) -> Option<Notified> {
        let task = self.into_raw();
        // SAFETY: the task came from a queue with the queue's reference, which `poll` takes.
        unsafe { (task.as_ref().vtable.poll)(task, runner, current) }
    }
}

#[cfg(all(test, target_pointer_width = "64", not(loom)))]
mod tests {
    use std::future::{Pending, Ready};

    use super::*;

    struct Walked;
    struct Unseen;

    impl Schedule for Walked {
        fn schedule(_: Notified) {}
        unsafe fn release(_: NonNull<Header>) {}
    }

    impl Schedule for Unseen {
        const IN_ARENAS: bool = false;
        fn schedule(_: Notified) {}
        unsafe fn release(_: NonNull<Header>) {}
    }

    #[test]
    fn records_cost_neither_tasks_nor_jobs_anything() {
        let job = VtableOf::<Ready<()>, Unseen>::VTABLE;
        assert_eq!((job.layout.size(), job.record), (64, RecordPlace::Nowhere));
        if cfg!(not(rt_plain_cells)) {
            let task = VtableOf::<Pending<()>, Walked>::VTABLE;
            assert_eq!((task.layout.size(), task.record), (64, RecordPlace::InBlock));
        }
    }
}
