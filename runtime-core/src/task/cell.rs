//! The memory of a task: one cell for header and stage.
//!
//! - [`Header`]: the same for every task, and what spawning, waking, queueing and joining touch.
//! - the stage: the future, later what came of it. Touched only under `RUNNING`, and by the join handle after
//!   `COMPLETE`. What it holds is said in the header ([`StageKind`]), which is as much the stage's as the stage itself.
//!
//! How the task has fared is elsewhere: in a [`Record`](super::record::Record), if anybody looks.
//!
//! A task whose future and output are a word each at most is one line of the cache, header and all. That is why the
//! stage is a union, and why all else is as narrow as it may be: the threads that spawn a task, run it and join it
//! write to it in turn, and on several threads each line goes from processor to processor each time.
//!
//! Inspection reads cells while their tasks live and die (`published.rs`): what it reads is written by atomic stores,
//! in births and deaths too, though the memory is the writer's alone then. That is the state, the identifier and the
//! spawn site.
//!
//! A [`NonNull<Header>`] stands for a task of any type; the vtable in the header knows the type.

use std::any::Any;
use std::future::Future;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::task::{Context, Poll, Waker};

use super::arena::TaskArena;
use super::error::{Cause, JoinError};
use super::raw::{SpawnInfo, Vtable};
use super::spawn_site::{Site, SiteOrLink};
use super::state::State;
use super::{Id, contain};
use crate::primitive::{Cell, UnsafeCell};

/// What all tasks have in common, whatever their type. `repr(C)`, and first in [`TaskCell`], so that a pointer to the
/// one is a pointer to the other.
#[repr(C)]
pub(crate) struct Header {
    /// First, because it is read in dead cells too ([`ArenaGuard::cancel_all`](super::arena::ArenaGuard::cancel_all)).
    pub(crate) state: State,
    /// Where in its block the cell lies. Of the task's memory, not of the task: `arena/` writes it before there is one,
    /// and births and deaths leave it alone. (A thread that has a reference to a task may read it, for its record.)
    pub(super) block_offset: MaybeUninit<u16>,
    /// Where the time is noted at which the task was queued, if it is followed (`scheduler/followed.rs`); zero if not.
    place: AtomicU8,
    kind: Cell<StageKind>,
    pub(crate) vtable: &'static Vtable,
    /// The arena that the task is on, which also knows the runtime. Set before the task is shared and never changed.
    /// `None` for tasks without an arena (the blocking pool's).
    pub(crate) arena: Option<NonNull<TaskArena>>,
    /// The identifier while the task lives: see `published.rs`. (No atomic of a model's: models do not inspect.)
    pub(super) identity: AtomicU64,
    pub(super) site_or_link: SiteOrLink,
    /// The waker of the task that awaits the join handle. `JOIN_WAKER` in the state word says who may touch it
    /// (`state.rs`). It is `None` by the time the task is freed: dropping a waker runs other people's code.
    pub(super) join_waker: UnsafeCell<Option<Waker>>,
    /// Shows a model that the header is read here, and freed there.
    alive: UnsafeCell<()>,
}

/// What the stage holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StageKind {
    Future,
    /// The future's.
    Output,
    Error,
    /// It was dropped, or taken by the join handle.
    Nothing,
}

/// The future, or what came of it. Which of them, [`StageKind`] says.
#[repr(C)]
union Stage<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<F::Output>,
    error: ManuallyDrop<JoinError>,
}

/// The memory of one task: its header and its stage.
#[repr(C)]
pub(crate) struct TaskCell<F: Future> {
    pub(crate) header: Header,
    stage: UnsafeCell<Stage<F>>,
}

impl Header {
    /// Only while there is a reference to the task.
    #[inline]
    pub(crate) fn id(&self) -> Id {
        Id(self.identity.load(Relaxed))
    }

    /// Where the task was spawned.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.site().location()
    }

    /// The same, and whether the task has a name.
    #[inline]
    pub(crate) fn site(&self) -> Site {
        self.site_or_link.site()
    }

    /// Whether the stage is empty. Called by the thread that it belongs to.
    #[inline]
    pub(super) fn is_cleared(&self) -> bool {
        self.kind.get() == StageKind::Nothing
    }

    /// Tells a model that somebody with a reference reads the header: it must be freed after that. Nothing else.
    #[inline(always)]
    pub(super) fn assert_alive(&self) {
        self.alive.with(|_| ());
    }

    /// See the field. Written only by the thread that has the task between its being scheduled and its poll.
    #[inline]
    pub(crate) fn place(&self) -> &AtomicU8 {
        &self.place
    }

    /// Prepares memory of an arena for its first task: there is none yet.
    ///
    /// # Safety
    ///
    /// The memory is the caller's, and as large and as aligned as a header.
    #[inline]
    pub(super) unsafe fn prepare(cell: NonNull<u8>) {
        let header = cell.as_ptr().cast::<Self>();
        // SAFETY: the caller's promise.
        unsafe {
            (&raw mut (*header).identity).write(AtomicU64::new(0));
            // What a birth writes by atomic stores.
            #[cfg(not(loom))]
            {
                (&raw mut (*header).state).write(State::new_dead());
                (&raw mut (*header).site_or_link).write(SiteOrLink::nowhere());
            }
        }
    }

    /// Writes the fields of a new task but for its identifier, which is written last.
    ///
    /// # Safety
    ///
    /// The memory is the caller's, and as large and as aligned as a header.
    #[inline(always)]
    unsafe fn write_constants(header: *mut Self, info: &SpawnInfo, vtable: &'static Vtable) {
        // SAFETY: the caller's promise. What inspection may be reading is written by atomic stores, the rest by plain
        // ones.
        unsafe {
            State::write_new(&raw mut (*header).state);
            (&raw mut (*header).place).write(AtomicU8::new(0));
            (&raw mut (*header).kind).write(Cell::new(StageKind::Future));
            (&raw mut (*header).vtable).write(vtable);
            (&raw mut (*header).arena).write(info.arena);
            SiteOrLink::write(&raw mut (*header).site_or_link, info.site);
            (&raw mut (*header).join_waker).write(UnsafeCell::new(None));
            (&raw mut (*header).alive).write(UnsafeCell::new(()));
        }
    }
}

impl<F: Future> TaskCell<F> {
    /// Writes a new task, that was spawned there.
    ///
    /// # Safety
    ///
    /// The memory is the caller's, and as large and as aligned as a `TaskCell<F>`. In an arena it was prepared, and the
    /// word of the identifier is zero.
    #[inline]
    pub(super) unsafe fn write(cell: NonNull<Self>, future: F, info: &SpawnInfo, vtable: &'static Vtable) {
        let cell = cell.as_ptr();
        // SAFETY: the caller's promise. Every field is written but `block_offset`, which needs no value.
        unsafe {
            let header = &raw mut (*cell).header;
            let write_fields = || Header::write_constants(header, info, vtable);
            #[cfg(not(loom))]
            super::published::publish(&(*header).identity, info.id.0, write_fields);
            #[cfg(loom)]
            {
                write_fields();
                (&raw mut (*header).identity).write(AtomicU64::new(info.id.0));
            }
            (&raw mut (*cell).stage).write(UnsafeCell::new(Stage { future: ManuallyDrop::new(future) }));
        }
    }

    /// Drops what is left in it. Its memory is the caller's from then on.
    ///
    /// # Safety
    ///
    /// Nobody has a reference to the task any more.
    #[inline]
    pub(super) unsafe fn drop_in_place(cell: NonNull<Self>) {
        // SAFETY: the caller's promise. A task is complete by then, and what came of it was taken or dropped by the
        // thread that gave the last reference up or before, as was the join waker.
        unsafe {
            debug_assert_eq!(cell.as_ref().header.kind.get(), StageKind::Nothing);
            cell.as_ref().assert_unshared();
            cell.drop_in_place();
        }
    }

    /// Tells a model that the task is freed here: all that others did to it must have happened before. Nothing else.
    #[inline(always)]
    fn assert_unshared(&self) {
        self.stage.with_mut(|_| ());
        self.header.join_waker.with_mut(|_| ());
        self.header.alive.with_mut(|_| ());
    }

    /// Polls the future.
    ///
    /// # Safety
    ///
    /// The caller set `RUNNING` and has not cleared it, and the stage holds the future.
    #[inline]
    pub(crate) unsafe fn poll(&self, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.stage.with_mut(|stage| {
            assert!(self.header.kind.get() == StageKind::Future, "a task is polled only while it has its future");
            // SAFETY: RUNNING gives this thread the stage, and it holds the future. That lies in an allocation that
            // does not move, and leaves the stage only by being dropped in place (`clear`).
            unsafe { Pin::new_unchecked(&mut *(*stage).future) }.poll(cx)
        })
    }

    /// Drops in place what the stage holds; a panic of that is returned.
    ///
    /// # Safety
    ///
    /// The stage is the caller's: under `RUNNING`, or as the join handle after `COMPLETE`.
    #[inline]
    pub(crate) unsafe fn clear(&self) -> Result<(), Box<dyn Any + Send>> {
        // Whether the drop returns or unwinds, what it dropped is dead, and is not looked at again.
        let kind = self.header.kind.replace(StageKind::Nothing);
        let is_plain = match kind {
            StageKind::Future => !mem::needs_drop::<F>(),
            StageKind::Output => !mem::needs_drop::<F::Output>(),
            StageKind::Error => false,
            StageKind::Nothing => true,
        };
        if is_plain {
            return Ok(());
        }
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's, and has held this until now.
            contain(|| unsafe {
                match kind {
                    StageKind::Future => ManuallyDrop::drop(&mut (*stage).future),
                    StageKind::Output => ManuallyDrop::drop(&mut (*stage).output),
                    StageKind::Error => ManuallyDrop::drop(&mut (*stage).error),
                    StageKind::Nothing => {}
                }
            })
        })
    }

    /// Puts in the stage what came of the future.
    ///
    /// # Safety
    ///
    /// The stage is the caller's, as in [`clear`](Self::clear), and it was cleared.
    #[inline]
    pub(crate) unsafe fn store(&self, outcome: Result<F::Output, Cause>) {
        debug_assert_eq!(self.header.kind.get(), StageKind::Nothing);
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's, and nothing is in it that would have to be dropped.
            let stage = unsafe { &mut *stage };
            self.header.kind.set(match outcome {
                Ok(output) => {
                    stage.output = ManuallyDrop::new(output);
                    StageKind::Output
                }
                Err(cause) => {
                    stage.error = ManuallyDrop::new(JoinError::new(self.header.id(), cause));
                    StageKind::Error
                }
            });
        });
    }

    /// Moves out what came of the future, if it is there.
    ///
    /// # Safety
    ///
    /// The stage is the caller's, as in [`clear`](Self::clear), and it does not hold the future.
    pub(crate) unsafe fn take_output(&self) -> Option<Result<F::Output, JoinError>> {
        let kind = self.header.kind.replace(StageKind::Nothing);
        self.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's, has held this until now, and from now on holds nothing.
            unsafe {
                match kind {
                    StageKind::Output => Some(Ok(ManuallyDrop::take(&mut (*stage).output))),
                    StageKind::Error => Some(Err(ManuallyDrop::take(&mut (*stage).error))),
                    StageKind::Nothing => None,
                    StageKind::Future => unreachable!("the output is taken only from a complete task"),
                }
            }
        })
    }
}

#[cfg(all(test, target_pointer_width = "64", not(loom)))]
mod tests {
    use std::future::Ready;

    use super::*;

    #[test]
    fn the_header_leaves_a_word_of_its_line_to_the_stage() {
        assert_eq!(mem::size_of::<Header>(), 56);
        assert_eq!(mem::size_of::<TaskCell<Ready<()>>>(), 64);
        assert_eq!(mem::size_of::<TaskCell<Ready<u32>>>(), 64, "an output of a word, too");
    }
}
