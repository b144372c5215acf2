//! The state word of a task: one atomic that decides who may do what.
//!
//! # The bits
//!
//! - `RUNNING`: one thread polls, cancels or finishes the task. It, and nobody else, may touch the stage (the future
//!   or its output). Set when a thread takes the task from a queue, cleared in the step that parks, requeues or
//!   completes it.
//! - `SCHEDULED`: the task stands in a queue, or is about to be put there by the thread that set the bit, or (while
//!   `RUNNING`) was woken during its poll and will be queued again by the polling thread. Set by wakes, so that a task
//!   is in at most one queue; cleared when a thread begins to poll it, so that any later wake leads to another poll.
//! - `COMPLETE`: the future is gone, and the output (if anybody wants it) is in the stage. Never cleared. From here on
//!   the join handle alone may touch the stage.
//! - `CANCELLED`: the thread that has or gets the task shall drop the future instead of polling it. Never cleared.
//! - `JOIN_INTEREST`: a `JoinHandle` exists. Set at birth, cleared only by the handle's drop, and only before
//!   `COMPLETE`; afterwards it means nothing.
//! - `JOIN_WAKER`: the join waker in the header is the runtime's: it is set, stays as it is, and the thread that
//!   completes the task takes it and wakes it. While the bit is clear (and before `COMPLETE`) the waker belongs to the
//!   join handle. Set and cleared only by the join handle, and only before `COMPLETE`.
//! - `RECORDED`: a poll has ended after which the task went on, so that there is a record of it (`record.rs`). Set by
//!   the step that ends that poll, and never cleared. Means nothing to the task.
//! - `POLLED`: a poll has ended after which the task went on, in a record or not. Set by the step that ends that poll,
//!   and never cleared. Workers tell by it what was spawned and has not begun (`run_queue.rs`).
//!
//! Above them, the count of references, of which there may be 15 million: the word has 32 bits on every machine, so
//! that a small task fits a line of the cache (`cell.rs`). One each for the arena (until completion), the queue entry,
//! the join handle, every `AbortHandle` and every waker. The memory goes when the count reaches zero; since the arena
//! holds on until completion, a future never meets that moment.
//!
//! # The transitions
//!
//! | from                     | to                        | who                          | function              |
//! |--------------------------|---------------------------|------------------------------|-----------------------|
//! | (new)                    | SCHEDULED, 3 refs         | spawn                        | `write_new`           |
//! | SCHEDULED                | RUNNING                   | worker; has the queue's ref  | `start_poll`          |
//! | RUNNING                  | idle, -1 ref              | worker, poll was Pending     | `finish_poll`: Idle   |
//! | RUNNING+SCHEDULED        | SCHEDULED                 | worker, woken meanwhile      | `finish_poll`: Requeue|
//! | RUNNING                  | SCHEDULED                 | worker, the poll yielded     | `finish_poll`: Requeue|
//! | RUNNING+CANCELLED        | (same)                    | worker, aborted meanwhile    | `finish_poll`: Cancel |
//! | RUNNING                  | COMPLETE, -refs           | worker, output stored        | `complete`            |
//! | RUNNING+JOIN_WAKER       | COMPLETE+JOIN_WAKER       | worker, output stored        | `complete`            |
//! | COMPLETE+JOIN_WAKER      | the same, -refs           | worker, has woken the joiner | `ref_dec`             |
//! | idle                     | SCHEDULED, +1 ref (or the waker's own) | any thread      | `wake_by_ref`, `wake` |
//! | RUNNING                  | RUNNING+SCHEDULED         | any thread                   | `wake_by_ref`, `wake` |
//! | idle                     | SCHEDULED+CANCELLED, +1 ref | any thread                 | `abort`               |
//! | SCHEDULED or RUNNING     | + CANCELLED               | any thread                   | `abort`               |
//! | idle or SCHEDULED        | + RUNNING+CANCELLED       | shutdown, workers gone       | `claim_for_shutdown`  |
//! | RUNNING                  | + CANCELLED               | shutdown, blocks in place    | `claim_for_shutdown`  |
//!
//! # Orderings
//!
//! A thread that wakes publishes what it wrote before the wake: every wake is a read-modify-write with release, also
//! the one that finds the task scheduled already and changes nothing, because the poll that follows must see those
//! writes; `start_poll` and `finish_poll` acquire. The stage passes from thread to thread through the same word:
//! `finish_poll` releases, `start_poll` acquires; `complete` releases, and the join handle acquires when it reads
//! `COMPLETE`. The last reference acquires what all others released, as in any reference count.

#[cfg(all(any(test, fuzzing), not(loom)))]
pub(crate) mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::fatal;
use crate::primitive::atomic::AtomicU32;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// One thread polls, cancels or finishes the task.
const RUNNING: u32 = 1;
/// The task is in a queue, or goes to one after its poll.
const SCHEDULED: u32 = 1 << 1;
/// The task is over.
const COMPLETE: u32 = 1 << 2;
/// The future is to be dropped instead of polled.
const CANCELLED: u32 = 1 << 3;
/// There is a join handle.
const JOIN_INTEREST: u32 = 1 << 4;
/// The join waker belongs to the runtime.
const JOIN_WAKER: u32 = 1 << 5;
/// There is a record of the task.
const RECORDED: u32 = 1 << 6;
/// A poll has returned `Pending`.
const POLLED: u32 = 1 << 7;
/// The bits above these flags count the references.
const REF_SHIFT: u32 = 8;
/// One reference.
const REF: u32 = 1 << REF_SHIFT;

/// A clone that finds a larger word than this ends the process. The rest of the count's range is for other threads that
/// clone at the same moment, and for the queue's reference, which a wake adds without a look at the count.
const MAX_REFS: u32 = u32::MAX - (REF << 20);

/// A new task stands in a queue; the arena, the queue and the join handle hold it.
const INITIAL: u32 = SCHEDULED | JOIN_INTEREST | (3 * REF);

/// The state word of one task. The module lists its bits and transitions.
#[derive(Debug)]
pub(crate) struct State(AtomicU32);

/// What the thread that took a task from a queue has to do.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartPoll {
    Poll,
    /// Drop the future and complete the task as cancelled.
    Cancel,
}

/// What became of a task whose poll returned `Pending`.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FinishPoll {
    /// It waits; the queue's reference is given back.
    Idle,
    /// It was woken during the poll: queue it again, with the reference it came with.
    Requeue,
    /// It was aborted during the poll and is still RUNNING: drop the future and complete it.
    Cancel,
}

/// What became of a task whose output is stored.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Complete {
    /// Done, and the references were given back. `last`: nobody else holds the task; its memory can go.
    Released { last: bool },
    /// Done, and the join waker is the caller's: take it, wake it, and then give the references back.
    WakeJoin,
    /// Not done: the join handle is gone. Drop the stored output first, then try again.
    DropOutput,
}

/// What a wake has to do after its change of state.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Put the task into a queue, with one reference.
    Submit,
    /// Nothing: it is queued already, will be, or is complete.
    Nothing,
    /// Nothing, and the reference that was given up was the last.
    Dealloc,
}

/// What the drop of a join handle found.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DropJoin {
    /// The output, if still there, is the handle's to drop.
    Complete,
    /// The task goes on detached; the waker slot is the handle's to clear.
    Detached,
}

/// What a task that is not over is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Running,
    Queued,
    Waiting,
}

/// What could have a task that waits polled again, before the runtime ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(loom, allow(dead_code))] // models do not inspect
pub(crate) enum Grip {
    /// Nothing: the arena's reference is the only one.
    Nobody,
    /// Besides the arena and the join handle, if there is one, somebody has one reference.
    OneWaker,
    /// More, or the task does not wait.
    Others,
}

/// The task was complete already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AlreadyComplete;

impl State {
    #[cfg(all(any(test, fuzzing), not(loom)))]
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(INITIAL))
    }

    /// That of memory which no task has lain in yet: as of one that is over.
    #[cfg_attr(loom, allow(dead_code))]
    pub(super) fn new_dead() -> Self {
        Self(AtomicU32::new(COMPLETE))
    }

    /// What [`write_new`](Self::write_new) does where models do inspect.
    #[cfg(all(test, loom))]
    pub(super) fn store_new(&self) {
        self.0.store(INITIAL, Relaxed);
    }

    /// Writes that of a new task.
    ///
    /// # Safety
    ///
    /// The memory is the caller's. (Inspection may be reading it all the same.)
    #[inline]
    pub(super) unsafe fn write_new(this: *mut Self) {
        // SAFETY: the caller's promise; in the memory of an arena there is a state already, and elsewhere nobody looks.
        #[cfg(not(loom))]
        unsafe {
            (*this).0.store(INITIAL, Relaxed);
        }
        // SAFETY: as above.
        #[cfg(loom)]
        unsafe {
            this.write(Self(AtomicU32::new(INITIAL)));
        }
    }

    /// What the task is doing, and whether there is a record of it, for inspection. `None` if it is over.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect, but for some
    #[inline]
    pub(super) fn activity(&self) -> Option<(Activity, bool)> {
        let current = self.0.load(Acquire);
        let activity = if current & COMPLETE != 0 {
            return None;
        } else if current & RUNNING != 0 {
            Activity::Running
        } else if current & SCHEDULED != 0 {
            Activity::Queued
        } else {
            Activity::Waiting
        };
        Some((activity, current & RECORDED != 0))
    }

    /// Whether there is a record of the task. For the thread that polls it.
    #[cfg_attr(loom, allow(dead_code))]
    #[inline]
    pub(super) fn is_recorded(&self) -> bool {
        self.0.load(Relaxed) & RECORDED != 0
    }

    /// What could have it polled again, for those who look for tasks that cannot go on (`stall/look.rs`).
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    pub(super) fn grip(&self) -> Grip {
        let current = self.0.load(Acquire);
        if current & (RUNNING | SCHEDULED | COMPLETE) != 0 {
            return Grip::Others;
        }
        let handles = u32::from(current & JOIN_INTEREST != 0);
        match (current >> REF_SHIFT) - handles {
            1 if handles == 0 => Grip::Nobody,
            2 => Grip::OneWaker,
            _ => Grip::Others,
        }
    }

    /// Applies `f` until it sticks. `None` leaves the word alone.
    #[inline]
    fn update<R>(&self, mut f: impl FnMut(u32) -> (R, Option<u32>)) -> R {
        let mut current = self.0.load(Acquire);
        loop {
            let (result, next) = f(current);
            let Some(next) = next else { return result };
            match self.0.compare_exchange_weak(current, next, AcqRel, Acquire) {
                Ok(_) => return result,
                Err(actual) => current = actual,
            }
        }
    }

    /// Whether a poll has returned `Pending`. Exact for who holds the queue entry: that was made after the last poll.
    #[inline]
    pub(super) fn has_been_polled(&self) -> bool {
        self.0.load(Relaxed) & POLLED != 0
    }

    /// SCHEDULED to RUNNING. The caller took the task from a queue, so nobody else can: one exchange does it.
    #[inline]
    pub(crate) fn start_poll(&self) -> StartPoll {
        let before = self.0.fetch_xor(SCHEDULED | RUNNING, AcqRel);
        debug_assert_eq!(before & (SCHEDULED | RUNNING | COMPLETE), SCHEDULED, "polled a task that was not queued");
        if before & CANCELLED == 0 { StartPoll::Poll } else { StartPoll::Cancel }
    }

    /// After a poll that returned `Pending`; `yields` if the task asked for another poll on its own thread, and
    /// `is_recorded` if the poll is in the task's record.
    #[inline]
    pub(crate) fn finish_poll(&self, yields: bool, is_recorded: bool) -> FinishPoll {
        let polled = POLLED | if is_recorded { RECORDED } else { 0 };
        self.update(|current| {
            debug_assert_eq!(current & (RUNNING | COMPLETE), RUNNING);
            if current & CANCELLED != 0 {
                (FinishPoll::Cancel, None)
            } else if yields || current & SCHEDULED != 0 {
                (FinishPoll::Requeue, Some((current & !RUNNING) | SCHEDULED | polled))
            } else {
                debug_assert!(current >> REF_SHIFT >= 2, "the arena holds on until completion");
                (FinishPoll::Idle, Some(((current & !RUNNING) | polled) - REF))
            }
        })
    }

    /// Whether anybody wants the output. Once false, always false.
    #[inline]
    pub(crate) fn has_join_interest(&self) -> bool {
        self.0.load(Acquire) & JOIN_INTEREST != 0
    }

    /// RUNNING to COMPLETE. Gives back `refs` references in the same step, unless there is a joiner to wake first.
    #[inline]
    pub(crate) fn complete(&self, refs: u32, output_stored: bool) -> Complete {
        self.update(|current| {
            debug_assert_eq!(current & (RUNNING | COMPLETE), RUNNING);
            let done = current ^ (RUNNING | COMPLETE);
            if current & JOIN_WAKER != 0 {
                (Complete::WakeJoin, Some(done))
            } else if current & JOIN_INTEREST == 0 && output_stored {
                (Complete::DropOutput, None)
            } else {
                debug_assert!(current >> REF_SHIFT >= refs);
                let done = done - refs * REF;
                (Complete::Released { last: done >> REF_SHIFT == 0 }, Some(done))
            }
        })
    }

    /// A wake that keeps its reference. On `Submit` a reference for the queue was added.
    #[inline]
    pub(crate) fn wake_by_ref(&self) -> Wake {
        self.update(|current| {
            if current & COMPLETE != 0 {
                (Wake::Nothing, None)
            } else if current & (RUNNING | SCHEDULED) != 0 {
                // Also when SCHEDULED is set already: the exchange publishes this thread's writes to the coming poll.
                (Wake::Nothing, Some(current | SCHEDULED))
            } else {
                (Wake::Submit, Some((current | SCHEDULED) + REF))
            }
        })
    }

    /// A wake that gives its reference up: to the queue on `Submit`, else away.
    #[inline]
    pub(crate) fn wake(&self) -> Wake {
        self.update(|current| {
            if current & COMPLETE != 0 {
                let next = current - REF;
                (if next >> REF_SHIFT == 0 { Wake::Dealloc } else { Wake::Nothing }, Some(next))
            } else if current & (RUNNING | SCHEDULED) != 0 {
                debug_assert!(current >> REF_SHIFT >= 2);
                (Wake::Nothing, Some((current | SCHEDULED) - REF))
            } else {
                (Wake::Submit, Some(current | SCHEDULED))
            }
        })
    }

    /// Asks for cancellation. On `Submit` a reference for the queue was added.
    pub(crate) fn abort(&self) -> Wake {
        self.update(|current| {
            if current & (COMPLETE | CANCELLED) != 0 {
                (Wake::Nothing, None)
            } else if current & (RUNNING | SCHEDULED) != 0 {
                (Wake::Nothing, Some(current | CANCELLED))
            } else {
                (Wake::Submit, Some((current | CANCELLED | SCHEDULED) + REF))
            }
        })
    }

    /// Takes a task that is not complete for cancellation at shutdown, whatever queue it may stand in. Only for a
    /// thread that knows that nobody begins to poll tasks of this runtime any more. False if the task is complete, or
    /// is in a poll that has yet to end: then it is marked, and the thread that polls it cancels it.
    pub(crate) fn claim_for_shutdown(&self) -> bool {
        self.update(|current| {
            if current & COMPLETE != 0 {
                (false, None)
            } else if current & RUNNING != 0 {
                (false, Some(current | CANCELLED))
            } else {
                (true, Some(current | RUNNING | CANCELLED))
            }
        })
    }

    /// Whether it was aborted.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed) & CANCELLED != 0
    }

    /// Whether the task is complete. If so, what the completing thread wrote is visible.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        self.0.load(Acquire) & COMPLETE != 0
    }

    /// Whether the runtime has the join waker.
    #[inline]
    pub(crate) fn has_join_waker(&self) -> bool {
        self.0.load(Acquire) & JOIN_WAKER != 0
    }

    /// Hands the join waker, which is in its slot, to the runtime.
    pub(crate) fn set_join_waker(&self) -> Result<(), AlreadyComplete> {
        self.update(|current| {
            debug_assert_eq!(current & (JOIN_INTEREST | JOIN_WAKER), JOIN_INTEREST);
            if current & COMPLETE != 0 { (Err(AlreadyComplete), None) } else { (Ok(()), Some(current | JOIN_WAKER)) }
        })
    }

    /// Takes the join waker back from the runtime.
    pub(crate) fn unset_join_waker(&self) -> Result<(), AlreadyComplete> {
        self.update(|current| {
            debug_assert_ne!(current & JOIN_WAKER, 0);
            if current & COMPLETE != 0 { (Err(AlreadyComplete), None) } else { (Ok(()), Some(current & !JOIN_WAKER)) }
        })
    }

    /// Drops the join handle of a task that nothing has happened to since its birth, reference included. By far the
    /// commonest way to detach.
    #[inline]
    pub(crate) fn drop_join_at_birth(&self) -> bool {
        // The look in front is cheaper than an exchange that fails. Release, as whenever a reference is given back:
        // what this thread has read of the task comes before its end. There is nothing to acquire, because the handle
        // does not touch the task any more.
        self.0.load(Relaxed) == INITIAL
            && self.0.compare_exchange(INITIAL, (INITIAL - REF) & !JOIN_INTEREST, Release, Relaxed).is_ok()
    }

    /// Gives up the join handle's interest. The handle's reference is not given back yet.
    pub(crate) fn drop_join(&self) -> DropJoin {
        self.update(|current| {
            if current & COMPLETE != 0 {
                (DropJoin::Complete, None)
            } else {
                (DropJoin::Detached, Some(current & !(JOIN_INTEREST | JOIN_WAKER)))
            }
        })
    }

    /// One more reference. The caller has one, so nothing needs ordering.
    #[inline]
    pub(crate) fn ref_inc(&self) {
        let before = self.0.fetch_add(REF, Relaxed);
        if before > MAX_REFS {
            too_many_references();
        }
    }

    /// References fewer. True if these were the last.
    #[inline]
    #[must_use]
    pub(crate) fn ref_dec(&self, by: u32) -> bool {
        // A thread that has all references there are is alone with the task: nobody can make another, and the count
        // need not be written any more.
        if self.0.load(Acquire) >> REF_SHIFT == by {
            return true;
        }
        let before = self.0.fetch_sub(by * REF, AcqRel);
        debug_assert!(before >> REF_SHIFT >= by);
        before >> REF_SHIFT == by
    }
}

/// There is no other way out: wrapping round would free a living task, and a thread that clones a waker expects no
/// error.
#[cold]
fn too_many_references() -> ! {
    fatal::abort("a task has 15 million wakers and handles, and cannot count more");
}
