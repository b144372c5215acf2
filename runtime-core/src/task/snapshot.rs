//! [`Snapshot`]: what inspection reads of a task. `published.rs` and `record.rs` say how.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use super::cell::{Header, Name};
use super::published::{begin_reading, is_still};
use super::raw::Vtable;
use super::record::{Record, Recorded, read_record};
use super::state::Activity;
use super::{Id, Site};

/// A task that was not over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) id: Id,
    pub(crate) spawned_at: &'static Location<'static>,
    pub(crate) name: Option<&'static str>,
    pub(crate) activity: Activity,
    /// None before the end of its first poll.
    pub(crate) recorded: Option<Recorded>,
}

impl Snapshot {
    /// Reads the task in a cell, if there is one that is not over, whatever becomes of it meanwhile.
    ///
    /// # Safety
    ///
    /// The memory is that of a cell of an arena, prepared, and stays during the call.
    pub(crate) unsafe fn take(cell: NonNull<Header>) -> Option<Self> {
        // References to single fields only: all else may be changing.
        let header = cell.as_ptr();
        // SAFETY: the caller's promise; these fields are atomics, or are read as such.
        let (identity, state, kind, vtable, site) = unsafe {
            (
                &(*header).identity,
                &(*header).state,
                &(*header).kind,
                &*(&raw const (*header).vtable).cast::<AtomicPtr<Vtable>>(),
                &(*header).site_or_link,
            )
        };
        let id = begin_reading(identity)?;
        let (activity, site, vtable) = (state.activity()?, site.as_it_is(), vtable.load(Relaxed));
        if !is_still(identity, id) {
            return None;
        }
        // SAFETY: it is that of the task, which is where it was spawned.
        let site = unsafe { Site::from_ptr(site) }?;
        // SAFETY: it is that of the task, and lives for ever.
        let vtable = unsafe { &*vtable };
        // SAFETY: the cell is as large as this task asked for, and stays, even if it should die now.
        let name = vtable.name_offset().map(|offset| unsafe { cell.byte_add(offset).cast::<Name>().as_ref() }.words());
        let read = if kind.is_recorded() {
            // SAFETY: as above.
            let record = unsafe { Record::of(cell, vtable.record_offset()) };
            let (activity, recorded) = read_record(state, record)?;
            (activity, Some(recorded))
        } else {
            (activity, None)
        };
        if !is_still(identity, id) {
            return None;
        }
        Some(Self {
            id: Id(id),
            spawned_at: site.location(),
            // SAFETY: it is that of the task, since it is still there.
            name: name.map(|words| unsafe { Name::of_words(words) }),
            activity: read.0,
            recorded: read.1,
        })
    }
}
