//! Polling, cancelling and completing a task: the functions behind its vtable that know the future's type.
//!
//! Called by the schedulers (through [`Notified::run`](super::Notified::run)), by shutdown, and by the join handle.
//! User code runs here: every call of it, but for the waker of a task, is fenced by [`contain`], so that a panic ends
//! up in the `JoinError` and nowhere else.

use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use super::arena::TaskArena;
use super::cell::{Header, TaskCell};
use super::current::{self, CurrentTask};
use super::error::{Cause, JoinError};
use super::raw::{Notified, TaskRef};
#[cfg(not(loom))]
use super::record;
use super::runner::{Run, Runner};
use super::state::{Complete, FinishPoll, StartPoll};
use super::{contain, discard, waker};
use crate::events::TaskEventKind;
use crate::inspect;

/// References that a task gives back when it completes in a worker's hands: the queue's and the arena's.
const QUEUE_AND_ARENA: u32 = 2;
/// And when it completes in the hands of shutdown, which came through the arena.
const ARENA: u32 = 1;

/// Polls or cancels a task taken from a queue. `current` is what the thread knows of it, if it is the current task.
///
/// # Safety
///
/// The task is of this type and came from a queue, whose reference the call takes.
pub(super) unsafe fn poll<F: Future + 'static>(
    header: NonNull<Header>,
    runner: &Runner<'_>,
    current: Option<&CurrentTask>,
) -> Option<Notified> {
    let run = Run::begin(runner, current);
    // SAFETY: the task is of this type, and the queue's reference keeps it until it is given back below.
    let cell = unsafe { header.cast::<TaskCell<F>>().as_ref() };
    match cell.header.state.start_poll() {
        StartPoll::Cancel => {
            // SAFETY: `start_poll` set RUNNING.
            unsafe { cancel::<F>(header, QUEUE_AND_ARENA, &run) };
            return None;
        }
        StartPoll::Poll => {}
    }
    // SAFETY: the queue's reference, which is not given back by this one.
    let task = ManuallyDrop::new(unsafe { TaskRef::from_raw(header) });
    run.tell(&task, TaskEventKind::Polled);
    let polled = waker::with_borrowed(header, |waker| {
        let mut cx = Context::from_waker(waker);
        contain(|| {
            // SAFETY: RUNNING, for as long as the poll goes on.
            let drop_on_panic = unsafe { DropOnPanic::new(cell) };
            // SAFETY: `start_poll` set RUNNING; until now the task was never complete, so the stage holds the future.
            let polled = unsafe { cell.poll(&mut cx) };
            mem::forget(drop_on_panic);
            polled
        })
    });
    match polled {
        Ok(Poll::Pending) => {
            let is_recorded = inspect::is_watched();
            // First: it may read the clock.
            #[cfg(not(loom))]
            // SAFETY: still RUNNING.
            if is_recorded && unsafe { record::end_poll(header, &run) } {
                runner.count_spurious_poll();
            }
            run.tell(&task, TaskEventKind::Pending);
            // If it says `Idle` another thread may have the task: `cell` is not touched again.
            let yields = run.has_yielded();
            match cell.header.state.finish_poll(yields, is_recorded) {
                FinishPoll::Idle => {}
                FinishPoll::Requeue => {
                    #[cfg(not(loom))]
                    if is_recorded && !yields {
                        // SAFETY: SCHEDULED is set, and the queue's reference is still this thread's.
                        unsafe { record::note_requeued(header) };
                    }
                    // SAFETY: as above, and the reference goes back to a queue.
                    return Some(unsafe { Notified::from_raw(header) });
                }
                FinishPoll::Cancel => {
                    runner.take_back_end();
                    // SAFETY: still RUNNING.
                    unsafe { cancel::<F>(header, QUEUE_AND_ARENA, &run) };
                }
            }
        }
        // SAFETY: still RUNNING.
        Ok(Poll::Ready(output)) => unsafe {
            store_and_complete::<F>(header, Ok(output), QUEUE_AND_ARENA, &run);
        },
        Err(payload) => {
            run.tell_panic(&task);
            (cell.header.vtable.note_panic)(&task);
            // SAFETY: still RUNNING.
            unsafe {
                store_and_complete::<F>(header, Err(Cause::Panic(payload)), QUEUE_AND_ARENA, &run);
            }
        }
    }
    None
}

/// Drops the future of a poll that panics while the panic is on its way, so that its drop finds that the thread is
/// [panicking](std::thread::panicking), as it would anywhere else. What a lock poisons, and what a guard rolls back,
/// depends on that.
struct DropOnPanic<'a, F: Future>(&'a TaskCell<F>);

impl<'a, F: Future> DropOnPanic<'a, F> {
    /// # Safety
    ///
    /// Until it is dropped or forgotten, RUNNING is set, and the caller has set it.
    unsafe fn new(cell: &'a TaskCell<F>) -> Self {
        Self(cell)
    }
}

impl<F: Future> Drop for DropOnPanic<'_, F> {
    fn drop(&mut self) {
        // A panic of the drop ends here: one that left a drop in the middle of another panic would end the process.
        // SAFETY: RUNNING, as `new` was promised.
        discard(unsafe { self.0.clear() });
    }
}

/// Cancels a task that shutdown has claimed.
///
/// # Safety
///
/// The task is of this type, and `claim_for_shutdown` gave it to the caller, who holds the arena.
pub(super) unsafe fn cancel_claimed<F: Future + 'static>(header: NonNull<Header>, runner: &Runner<'_>) {
    // SAFETY: the task is of this type, and `claim_for_shutdown` set RUNNING.
    unsafe { cancel::<F>(header, ARENA, &Run::begin(runner, None)) };
}

/// Drops the future, and completes the task as cancelled, or as panicked if the drop panicked.
///
/// # Safety
///
/// The task is of this type, and the caller set RUNNING and has these references.
#[cold]
unsafe fn cancel<F: Future + 'static>(header: NonNull<Header>, refs: u32, run: &Run<'_>) {
    // SAFETY: the caller's references keep the task.
    let cell = unsafe { header.cast::<TaskCell<F>>().as_ref() };
    // SAFETY: RUNNING.
    let clear = || unsafe { cell.clear() };
    let cleared = match run.current {
        Some(_) => clear(),
        // What the drop asks for the current task is to be told this one.
        None => current::in_dead_task(cell.header.id(), clear),
    };
    let cause = match cleared {
        Ok(()) => Cause::Cancelled,
        Err(payload) => Cause::Panic(payload),
    };
    // SAFETY: RUNNING.
    unsafe { store_and_complete::<F>(header, Err(cause), refs, run) };
}

/// Drops the future, stores what came of it if anybody wants that, completes the task and gives `refs` references back.
///
/// # Safety
///
/// The task is of this type, and the caller set RUNNING and has these references.
unsafe fn store_and_complete<F: Future + 'static>(
    header: NonNull<Header>,
    mut outcome: Result<F::Output, Cause>,
    refs: u32,
    run: &Run<'_>,
) {
    // SAFETY: the caller's references keep the task.
    let cell = unsafe { header.cast::<TaskCell<F>>().as_ref() };
    // SAFETY: the same references; this one gives none of them back.
    let task = ManuallyDrop::new(unsafe { TaskRef::from_raw(header) });
    let state = &cell.header.state;
    // SAFETY: RUNNING.
    if let Err(payload) = unsafe { cell.clear() } {
        // The future was there, so the outcome is an output. Of a task that has panicked nobody gets one.
        run.tell_panic(&task);
        (cell.header.vtable.note_panic)(&task);
        let output = mem::replace(&mut outcome, Err(Cause::Panic(payload)));
        discard(contain(|| drop(output)));
    }
    run.end_last_poll();
    let mut stored = state.has_join_interest();
    if stored {
        // SAFETY: RUNNING, and just cleared.
        unsafe { cell.store(outcome) };
    } else if mem::needs_drop::<F::Output>() || outcome.is_err() {
        discard(contain(|| drop(outcome)));
    }
    run.tell(&task, TaskEventKind::Completed);
    run.runner.count_completion();
    loop {
        match state.complete(refs, stored) {
            Complete::DropOutput => {
                // SAFETY: still RUNNING, and the handle that could have taken the output is gone.
                discard(unsafe { cell.clear() });
                stored = false;
            }
            Complete::Released { last } => {
                if last {
                    // SAFETY: the last reference is gone.
                    unsafe { release(header, run.runner) };
                }
                return;
            }
            Complete::WakeJoin => {
                // SAFETY: with JOIN_WAKER set, COMPLETE hands the slot to this thread: the join handle does not touch
                // it any more.
                if let Some(waker) = unsafe { task.take_join_waker() } {
                    wake_joiner(waker);
                }
                if state.ref_dec(refs) {
                    // SAFETY: the last reference is gone.
                    unsafe { release(header, run.runner) };
                }
                return;
            }
        }
    }
}

#[inline]
fn wake_joiner(waker: Waker) {
    if waker::is_waker_of_task(&waker) {
        waker.wake();
    } else {
        // A waker that the runtime did not make may panic; that must not stop the worker.
        discard(contain(|| waker.wake()));
    }
}

/// Frees the task, at once if this thread has its arena.
///
/// # Safety
///
/// The last reference is gone.
#[inline]
unsafe fn release(header: NonNull<Header>, runner: &Runner<'_>) {
    // SAFETY: the caller's promise; an arena outlives its tasks, and a runner runs the tasks of its own runtime.
    unsafe {
        match (header.as_ref().arena, runner.local_arena) {
            (Some(arena), Some(local_arena)) => local_arena.release(arena, header),
            (Some(arena), None) => TaskArena::free_remotely_one(arena, header),
            (None, _) => (header.as_ref().vtable.release)(header),
        }
    }
}

/// Moves the output into `*into`, a `Poll<Result<F::Output, JoinError>>`, unless it was taken before.
///
/// # Safety
///
/// The task is of this type and complete, the caller is its join handle, and `into` points to such a value.
pub(super) unsafe fn take_output<F: Future + 'static>(header: NonNull<Header>, into: *mut ()) {
    // SAFETY: as the caller promises.
    let cell = unsafe { header.cast::<TaskCell<F>>().as_ref() };
    let into = into.cast::<Poll<Result<F::Output, JoinError>>>();
    // SAFETY: after COMPLETE the stage is the join handle's.
    if let Some(output) = unsafe { cell.take_output() } {
        // SAFETY: `into` is valid, by the caller's promise.
        unsafe { *into = Poll::Ready(output) };
    }
}

/// Drops the output, if it is still there.
///
/// # Safety
///
/// The task is of this type and complete, and the caller is its join handle.
pub(super) unsafe fn drop_output<F: Future + 'static>(header: NonNull<Header>) {
    // SAFETY: as the caller promises.
    let cell = unsafe { header.cast::<TaskCell<F>>().as_ref() };
    // SAFETY: after COMPLETE the stage is the join handle's.
    discard(current::in_dead_task(cell.header.id(), || unsafe { cell.clear() }));
}
