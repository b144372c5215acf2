//! What a group knows of each of its children. `group.rs` has the protocol.

use std::mem;

use runtime_core::AbortHandle;

/// What can be aborted. (Models have no tasks.)
pub(super) trait Abort {
    fn abort(&self);
}

impl Abort for AbortHandle {
    fn abort(&self) {
        AbortHandle::abort(self);
    }
}

/// What is known of a child.
pub(super) enum Entry<H> {
    /// It is being spawned.
    New,
    /// It is being spawned, and is to be aborted.
    Doomed,
    Spawned(H),
    Aborted,
}

impl<H> Entry<H> {
    /// Has the child aborted: by the caller, if its handle is known.
    pub(super) fn doom(&mut self) -> Option<H> {
        match mem::replace(self, Entry::Aborted) {
            Entry::New | Entry::Doomed => {
                *self = Entry::Doomed;
                None
            }
            Entry::Spawned(handle) => Some(handle),
            Entry::Aborted => None,
        }
    }
}
