//! [`Snapshot`]: what inspection reads of a task. `published.rs` and `record.rs` say how.

use std::panic::Location;
use std::ptr::NonNull;

use super::arena::SeenRecord;
use super::cell::Header;
use super::record::{Recorded, read_task};
use super::state::{Activity, Grip};
use super::{Id, Site};

/// A task that was not over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) id: Id,
    pub(crate) spawned_at: &'static Location<'static>,
    pub(crate) name: Option<&'static str>,
    pub(crate) activity: Activity,
    /// As it was at another moment than the rest.
    pub(crate) grip: Grip,
    /// None before the end of its first poll.
    pub(crate) recorded: Option<Recorded>,
}

impl Snapshot {
    /// Reads the task in a cell, if there is one that is not over, whatever becomes of it meanwhile.
    ///
    /// # Safety
    ///
    /// The memory is that of a cell of an arena, prepared, with this record, and stays during the call.
    pub(super) unsafe fn take(cell: NonNull<Header>, record: SeenRecord<'_>) -> Option<Self> {
        // References to single fields only: all else may be changing.
        let header = cell.as_ptr();
        // SAFETY: the caller's promise; these are atomics, initialised when the cell was prepared, and written by
        // atomic operations ever after.
        let (identity, state, site) = unsafe { (&(*header).identity, &(*header).state, &(*header).site_or_link) };
        let (id, (site, grip), activity, recorded) =
            read_task(identity, state, || record.get(), || (site.as_it_is(), state.grip()))?;
        // SAFETY: it is that of the task, which is where it was spawned.
        let site = unsafe { Site::from_ptr(site) }?;
        Some(Self { id: Id(id), spawned_at: site.location(), name: site.name(), activity, grip, recorded })
    }
}
