//! [`Host`]: the runtime, as the lists of tasks that lie in it know it.
//!
//! Tasks are a layer below runtimes, so a list has an opaque pointer to its runtime, and the few functions that it needs
//! of it. It is told the runtime's type when it is made, and whoever asks it for its runtime says that type again.

use std::any::TypeId;

use super::owner::ListOf;

/// The runtime that lists of tasks lie in, as they know it.
pub(crate) trait Host: Send + Sync + 'static {
    /// A list has many dead tasks on its return stack.
    fn nudge(&self, list: ListOf);

    /// A task of a closed list was freed.
    ///
    /// # Safety
    ///
    /// The runtime is alive, which the task saw to; it may not be after the call.
    unsafe fn outstanding_gone(this: *const Self);
}

/// The functions of a [`Host`] whose type is not known. They take a pointer to it.
pub(super) struct HostCalls {
    pub(super) type_id: fn() -> TypeId,
    pub(super) nudge: unsafe fn(*const (), ListOf),
    pub(super) outstanding_gone: unsafe fn(*const ()),
}

impl HostCalls {
    pub(super) const fn of<H: Host>() -> &'static Self {
        const {
            &Self {
                type_id: TypeId::of::<H>,
                // SAFETY: called with the pointer to a host of this type that lives.
                nudge: |host, list| unsafe { (*host.cast::<H>()).nudge(list) },
                // SAFETY: as above, and the promise of whoever calls it.
                outstanding_gone: |host| unsafe { H::outstanding_gone(host.cast()) },
            }
        }
    }
}
