//! Tasks: a future, its state, its output, and everything that refers to it.
//!
//! A task is one cell of memory (`cell.rs`), steered by one atomic word (`state.rs`: read its table first), in an arena
//! where its runtime finds it (`arena/mod.rs`). A queue entry (`Notified`), wakers (`waker.rs`), a [`JoinHandle`] and
//! [`AbortHandle`]s (`join.rs`) refer to it; all of them are the same pointer with a count.
//!
//! # Who may touch what
//!
//! | part                | when                          | who                                         |
//! |---------------------|-------------------------------|---------------------------------------------|
//! | state word          | always                        | anybody, through the functions of `State`   |
//! | vtable, id, arena   | always                        | anybody, to read                            |
//! | spawn site          | until the last reference went | anybody, to read                            |
//! | the same word, as a link | after that               | the thread that dropped it, then the owner  |
//! | state word, to read | after the task was freed, until its memory is used again | shutdown's walk  |
//! | stage, and what it holds | under RUNNING            | the thread that set it                      |
//! | the same            | after COMPLETE                | the join handle                             |
//! | what inspection reads | always, as `published.rs` says | any thread, without a reference            |
//! | offset in the block | before there is a task and after | the arena's blocks; tasks leave it alone |
//! | join waker          | before COMPLETE, JOIN_WAKER clear | the join handle                         |
//! | join waker          | after COMPLETE, JOIN_WAKER set    | the thread that completed the task      |
//!
//! # What happens to whom
//!
//! The order is always: decide on the state word, then touch a queue. A wake that changes idle to SCHEDULED puts the
//! task into a queue, and no other does, so it is in one queue at most. Only the thread that took it out polls it.
//!
//! A task whose handles and wakers are all gone can never be polled again, but it stays as it is until the runtime
//! shuts down: a future that guards something while `pending()` keeps its promise. (The arena's reference does that.)
//!
//! Schedulers are behind `Schedule`; nothing here knows which one a task is on.

mod abort_on_drop;
pub(crate) mod arena;
mod cell;
pub(crate) mod current;
mod error;
pub(crate) mod frame;
mod harness;
#[doc(hidden)]
pub mod holders;
pub(crate) mod host;
mod id;
mod info;
mod join;
mod named_site;
mod observed;
pub(crate) mod outstanding;
mod poll_clock;
mod published;
mod queue;
mod raw;
mod record;
mod runner;
#[cfg(not(loom))]
mod snapshot;
mod spawn_site;
pub(crate) mod state;
pub mod waits;
mod waker;
pub(crate) mod waker_events;
mod yield_now;

#[cfg(all(test, loom))]
mod loom_tests;

use std::alloc::Layout;
use std::any::Any;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;

pub(crate) use self::cell::Header;
use self::frame::Frame;
pub(crate) use self::poll_clock::PollClock;
pub(crate) use self::queue::{Left, Queue};
pub(crate) use self::raw::{Again, Notified, SpawnInfo, TaskRef, free};
pub(crate) use self::runner::Runner;
#[cfg(not(loom))]
pub(crate) use self::snapshot::Snapshot;
pub(crate) use self::spawn_site::Site;
#[cfg(not(loom))]
pub(crate) use self::state::Activity as TaskActivity;
#[cfg(not(loom))]
pub(crate) use self::state::Grip;
pub(crate) use self::waker::{clone_if_plain, hear_wake, is_waker_of_task, wake_own};

pub use self::abort_on_drop::AbortOnDropHandle;
pub use self::error::JoinError;
pub use self::id::Id;
pub use self::info::{TaskInfo, TaskState};
pub use self::join::{AbortHandle, JoinHandle};
pub use self::waits::{ChannelKind, LockKind, SocketKind, WaitsFor};
pub use self::yield_now::yield_now;

/// How tasks get back into a queue, and their memory into its arena: what a scheduler is to its tasks.
pub(crate) trait Schedule: 'static {
    /// Whether its tasks lie in arenas, where inspection finds them. Else nobody would read their records.
    const IN_ARENAS: bool = true;

    /// Queues a task that was woken while it waited. Called on any thread, inside or outside of the runtime.
    fn schedule(task: Notified);

    /// Frees a task, through its arena. Called on any thread.
    ///
    /// # Safety
    ///
    /// The last reference to the task is gone.
    unsafe fn release(task: NonNull<Header>);

    /// A poll of the task has panicked, and is not over yet, or the drop of the future after its last poll. Called on
    /// the thread that polls it.
    fn note_panic(_task: &TaskRef) {}
}

/// Makes a task. The first entry of the pair goes to a queue.
pub(crate) fn new_task<F, S>(future: F, info: SpawnInfo) -> (Notified, JoinHandle<F::Output>)
where
    F: Future + 'static,
    S: Schedule,
{
    new_task_in::<F, S>(future, info, arena::allocate)
}

/// As [`new_task`], in memory of that layout which the closure supplies.
#[inline]
pub(crate) fn new_task_in<F, S>(
    future: F,
    info: SpawnInfo,
    allocate: impl FnOnce(Layout) -> NonNull<u8>,
) -> (Notified, JoinHandle<F::Output>)
where
    F: Future + 'static,
    S: Schedule,
{
    let task = raw::new::<F, S>(future, info, allocate);
    // SAFETY: the task is born SCHEDULED, with a reference for the queue, one for the handle, whose type is right, and
    // one for the arena.
    unsafe { (Notified::from_raw(task), JoinHandle::new(TaskRef::from_raw(task))) }
}

/// Completes a new task without an arena as cancelled.
pub(crate) fn refuse(task: Notified) {
    request_cancel(&task);
    let again = task.run(&Runner::NOBODY);
    debug_assert!(again.is_none(), "a cancelled task completes");
}

/// Has a task that was taken from a queue complete as cancelled when it is run.
pub(crate) fn request_cancel(task: &Notified) {
    task.task().abort();
}

/// Runs user code that must not take the caller down, nor leave it in another runtime: in a frame of its own
/// (`context/frame.rs`). The payload of a panic is returned, for the join error or nobody.
#[inline]
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    let _frame = Frame::begin();
    catch(f)
}

/// The same in the middle of other code of the user's, such as the poll of a join handle, whose frame it shares.
#[inline]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// The number of nested payloads that are dropped. The next one is leaked, because there must be an end to it
/// somewhere.
const MAX_NESTED_PAYLOADS: u32 = 8;

/// Drops the payload of a panic, if there was one. See [`discard_payload`].
#[inline]
pub(crate) fn discard(contained: Result<(), Box<dyn Any + Send>>) {
    if let Err(payload) = contained {
        discard_payload(payload);
    }
}

/// Drops the payload of a panic that nobody wants. Its drop is user code as well, and may panic in turn, with another
/// payload.
#[cold]
pub fn discard_payload(payload: Box<dyn Any + Send>) {
    let mut contained = Err(payload);
    for _ in 0..MAX_NESTED_PAYLOADS {
        match contained {
            Ok(()) => return,
            Err(payload) => contained = contain(|| drop(payload)),
        }
    }
    std::mem::forget(contained);
}

/// The identifier of the running task.
///
/// # Panics
///
/// Outside of a task: also in the future of a `block_on`. [`try_id`] does not.
#[track_caller]
pub fn id() -> Id {
    try_id().expect("`task::id` was called outside of a task")
}

/// The identifier of the running task, if one is running.
pub fn try_id() -> Option<Id> {
    current::task_id()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::panic::resume_unwind;

    use super::*;

    thread_local! {
        static DROPS: Cell<u32> = const { Cell::new(0) };
    }

    /// Panics when it is dropped, with one that does so once less.
    struct Nested(u32);

    impl Drop for Nested {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
            if self.0 > 0 {
                resume_unwind(Box::new(Nested(self.0 - 1)));
            }
        }
    }

    #[test]
    fn payloads_of_payloads_are_dropped_up_to_a_bound() {
        discard(Err(Box::new(Nested(3))));
        assert_eq!(DROPS.replace(0), 4);
        discard(Err(Box::new(Nested(MAX_NESTED_PAYLOADS - 1))));
        assert_eq!(DROPS.replace(0), MAX_NESTED_PAYLOADS);
    }

    #[test]
    fn payloads_without_end_have_one() {
        struct Endless;
        impl Drop for Endless {
            fn drop(&mut self) {
                DROPS.set(DROPS.get() + 1);
                // Without a size: nothing is leaked with it.
                resume_unwind(Box::new(Self));
            }
        }
        discard(Err(Box::new(Endless)));
        assert_eq!(DROPS.replace(0), MAX_NESTED_PAYLOADS);
    }
}
