//! The memory of a task: one cell for header, stage and trailer.
//!
//! - [`Header`]: the same for every task, within one cache line: what spawning, waking and queueing touch.
//! - the stage: the future, later its output. Touched only under `RUNNING`, and by the join handle after `COMPLETE`.
//! - [`Trailer`]: the join waker and what is only for people to read.
//!
//! A [`NonNull<Header>`] stands for a task of any type; the vtable in the header knows the type.

use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use super::birthplace::{Birthplace, Site};
use super::error::JoinError;
use super::owner::Owner;
use super::raw::{Birth, Vtable};
use super::state::State;
use super::{Id, contain};
use crate::primitive::UnsafeCell;

/// See the module. `repr(C)`, and first in [`TaskCell`], so that a pointer to the one is a pointer to the other.
#[repr(C)]
pub(crate) struct Header {
    /// First, because it is read in dead cells too ([`Owner::cancel_all`]).
    pub(crate) state: State,
    pub(crate) vtable: &'static Vtable,
    /// The list that the task is on, which also knows the runtime. Set before the task is shared and never changed.
    /// `None` for tasks without a list (the blocking pool's).
    pub(crate) owner: Option<NonNull<Owner>>,
    pub(crate) id: Id,
    birthplace: Birthplace,
}

impl Header {
    #[inline]
    pub(crate) fn new(birth: Birth, vtable: &'static Vtable) -> Self {
        Self {
            state: State::new(),
            vtable,
            owner: birth.owner,
            id: birth.id,
            birthplace: Birthplace::new(birth.location, birth.name.is_some()),
        }
    }

    /// Where the task was spawned.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.site().location()
    }

    /// The same, and whether the task has a name.
    #[inline]
    pub(crate) fn site(&self) -> Site {
        self.birthplace.site()
    }

    /// The word that links dead tasks.
    pub(super) fn birthplace(&self) -> &Birthplace {
        &self.birthplace
    }
}

/// What most operations never touch.
///
/// In this order, because a line of the cache that only a birth writes has often gone elsewhere meanwhile: whoever takes the
/// output looks for a waker, and so has the last line at hand. (A name at the end cost two fifths of a spawn from a foreign thread,
/// if the cell lay so that it had that line for itself.)
#[repr(C)]
pub(crate) struct Trailer {
    /// What the user called the task.
    pub(crate) name: Option<&'static str>,
    /// Whose it is, `JOIN_WAKER` in the state word says. Empty by the time the task is freed, because dropping a waker
    /// runs other people's code.
    pub(crate) join_waker: UnsafeCell<Option<Waker>>,
}

/// The future, or what came of it.
pub(crate) enum Stage<F: Future> {
    Future(F),
    Output(Result<F::Output, JoinError>),
    /// Dropped, or taken by the join handle.
    Gone,
}

/// One task. See the module.
#[repr(C)]
pub(crate) struct TaskCell<F: Future> {
    pub(crate) header: Header,
    stage: UnsafeCell<Stage<F>>,
    pub(crate) trailer: Trailer,
}

impl<F: Future> TaskCell<F> {
    /// Where the trailer lies, for code that does not know `F`.
    pub(crate) const TRAILER_OFFSET: usize = mem::offset_of!(Self, trailer);

    #[inline]
    pub(crate) fn new(header: Header, future: F, name: Option<&'static str>) -> Self {
        Self {
            header,
            stage: UnsafeCell::new(Stage::Future(future)),
            trailer: Trailer { name, join_waker: UnsafeCell::new(None) },
        }
    }

    /// Tells a model that the task is freed here: all that others did to it must have happened before. Nothing else.
    #[inline(always)]
    pub(crate) fn assert_unshared(&self) {
        self.stage.with_mut(|_| ());
        self.trailer.join_waker.with_mut(|_| ());
    }

    /// Polls the future.
    ///
    /// # Safety
    ///
    /// The caller set `RUNNING` and has not cleared it, and the stage holds the future.
    #[inline]
    pub(crate) unsafe fn poll(&self, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.stage.with_mut(|stage| {
            // SAFETY: RUNNING gives this thread the stage.
            match unsafe { &mut *stage } {
                // SAFETY: the future lies in an allocation that does not move, and leaves the stage only by being
                // dropped in place (`set_stage`).
                Stage::Future(future) => unsafe { Pin::new_unchecked(future) }.poll(cx),
                _ => unreachable!("a task is polled only while it has its future"),
            }
        })
    }

    /// Replaces what the stage holds; the old content is dropped in place, and a panic of its drop is returned.
    ///
    /// # Safety
    ///
    /// The stage is the caller's: under `RUNNING`, or as the join handle after `COMPLETE`.
    pub(crate) unsafe fn set_stage(&self, next: Stage<F>) -> Result<(), Box<dyn std::any::Any + Send>> {
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's, and holds a live value.
            let dropped = contain(|| unsafe { std::ptr::drop_in_place(stage) });
            // SAFETY: whether the drop returned or unwound, what it dropped is dead, and is not looked at.
            unsafe { stage.write(next) };
            dropped
        })
    }

    /// Moves the output out, if it is there.
    ///
    /// # Safety
    ///
    /// The stage is the caller's, as in [`set_stage`](Self::set_stage), and it does not hold the future.
    pub(crate) unsafe fn take_output(&self) -> Option<Result<F::Output, JoinError>> {
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's.
            match mem::replace(unsafe { &mut *stage }, Stage::Gone) {
                Stage::Output(output) => Some(output),
                Stage::Gone => None,
                Stage::Future(_) => unreachable!("the output is taken only from a complete task"),
            }
        })
    }
}

#[cfg(all(test, target_pointer_width = "64", not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_header_fits_a_cache_line() {
        assert_eq!(mem::size_of::<Header>(), 40);
    }

    #[test]
    fn a_small_task_takes_two_cache_lines() {
        // A word is the block's that the cell is cut from (`cells/`).
        assert!(mem::size_of::<TaskCell<std::future::Ready<()>>>() <= 128 - 8);
    }
}
