//! [`SiteOrLink`]: the word in which a task says where it was spawned, and by which dead ones are chained. No
//! synchronisation here; whose the word is, `mod.rs` says. (Inspection looks at it as well: `published.rs`.)

use std::panic::Location;
use std::ptr::NonNull;

use super::cell::Header;
use super::observed::ObservedPtr;

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
#[repr(transparent)]
pub(crate) struct SiteOrLink(ObservedPtr);

impl SiteOrLink {
    /// Writes that of a new task.
    ///
    /// # Safety
    ///
    /// The memory is the caller's. (Inspection may be reading it all the same.)
    #[inline]
    pub(super) unsafe fn write(this: *mut Self, location: &'static Location<'static>, is_named: bool) {
        // SAFETY: the caller's promise.
        unsafe { ObservedPtr::write_new(&raw mut (*this).0, Site::new(location, is_named).as_ptr()) };
    }

    /// Only while there is a reference to the task.
    #[inline]
    pub(super) fn site(&self) -> Site {
        // Until the last reference is gone the word is what `write` made it.
        let site = self.0.get();
        debug_assert!(!site.is_null());
        // SAFETY: as said, and so it is not null either.
        Site(unsafe { NonNull::new_unchecked(site) })
    }

    /// For inspection: what is there, whatever it is.
    #[cfg(not(loom))]
    pub(super) fn as_it_is(&self) -> *mut () {
        self.0.get()
    }

    /// For the thread that dropped the last reference and pushes the task.
    pub(super) fn set_next_free(&self, next: *mut Header) {
        self.0.set(next.cast());
    }

    /// For the thread that took the stack.
    pub(super) fn next_free(&self) -> *mut Header {
        self.0.get().cast()
    }
}
