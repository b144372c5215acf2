//! [`SiteOrLink`]: the word in which a task says where it was spawned, and by which dead ones are chained. No
//! synchronisation here; whose the word is, `mod.rs` says.

use std::panic::Location;
use std::ptr::NonNull;

use super::cell::Header;
use crate::primitive::Cell;

/// Where a task was spawned, and whether it has a name: one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site(NonNull<()>);

impl Site {
    /// Locations are aligned to more than a byte, so there is a bit to spare.
    const NAMED: usize = 1;

    #[inline]
    fn new(location: &'static Location<'static>, is_named: bool) -> Self {
        const { assert!(align_of::<Location<'static>>() > Self::NAMED) };
        let place = NonNull::from(location).cast::<()>();
        Self(if is_named { place.map_addr(|addr| addr | Self::NAMED) } else { place })
    }

    pub(crate) fn as_ptr(self) -> *mut () {
        self.0.as_ptr()
    }

    /// From what [`as_ptr`](Self::as_ptr) gave; `None` from a null pointer.
    ///
    /// # Safety
    ///
    /// It is one of the two.
    pub(crate) unsafe fn from_ptr(site: *mut ()) -> Option<Self> {
        NonNull::new(site).map(Self)
    }

    pub(crate) fn is_named(self) -> bool {
        self.0.addr().get() & Self::NAMED != 0
    }

    pub(crate) fn location(self) -> &'static Location<'static> {
        let place = self.0.as_ptr().map_addr(|addr| addr & !Self::NAMED);
        // SAFETY: but for the bit it is what `new` was given: a reference that is valid for ever.
        unsafe { &*place.cast() }
    }
}

/// Where a task was spawned; once the last reference to it is gone and nobody can ask for that any more, the next task
/// on the return stack. One word for two uses that never meet.
pub(crate) struct SiteOrLink(Cell<*const ()>);

impl SiteOrLink {
    #[inline]
    pub(super) fn new(location: &'static Location<'static>, is_named: bool) -> Self {
        Self(Cell::new(Site::new(location, is_named).as_ptr()))
    }

    /// Only while there is a reference to the task.
    #[inline]
    pub(super) fn site(&self) -> Site {
        // Until the last reference is gone the word is what `new` made it.
        debug_assert!(!self.0.get().is_null());
        // SAFETY: as said, and so it is not null either.
        Site(unsafe { NonNull::new_unchecked(self.0.get().cast_mut()) })
    }

    /// For the thread that dropped the last reference and pushes the task.
    pub(super) fn set_next_free(&self, next: *mut Header) {
        self.0.set(next.cast_const().cast());
    }

    /// For the thread that took the stack.
    pub(super) fn next_free(&self) -> *mut Header {
        self.0.get().cast_mut().cast()
    }
}
