//! [`Host`]: the runtime, as the arenas of tasks that lie in it know it.
//!
//! Tasks are a layer below runtimes, so an arena has an opaque pointer to its runtime, and the few functions that it
//! needs of it. It is told the runtime's type when it is made, and a caller that asks it for its runtime says that type
//! again.

use std::any::TypeId;

use super::arena::ArenaId;

/// The runtime that arenas of tasks lie in, as they know it.
pub(crate) trait Host: Send + Sync + 'static {
    /// An arena has many dead tasks on its return stack.
    fn request_drain(&self, arena: ArenaId);

    /// A task of a closed arena was freed.
    ///
    /// # Safety
    ///
    /// The runtime is alive, which the task saw to; it may not be after the call.
    unsafe fn remove_outstanding(this: *const Self);
}

/// The functions of a [`Host`] whose type is not known. They take a pointer to it.
pub(super) struct HostCalls {
    pub(super) type_id: fn() -> TypeId,
    pub(super) request_drain: unsafe fn(*const (), ArenaId),
    pub(super) remove_outstanding: unsafe fn(*const ()),
}

impl HostCalls {
    pub(super) const fn of<H: Host>() -> &'static Self {
        const {
            &Self {
                type_id: TypeId::of::<H>,
                // SAFETY: called with the pointer to a host of this type that lives.
                request_drain: |host, arena| unsafe { (*host.cast::<H>()).request_drain(arena) },
                // SAFETY: as above, and the promise of its caller.
                remove_outstanding: |host| unsafe { H::remove_outstanding(host.cast()) },
            }
        }
    }
}
