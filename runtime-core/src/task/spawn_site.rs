//! [`SiteOrLink`]: the word in which a task says where it was spawned, and by which dead ones are chained. No
//! synchronisation here; whose the word is, `mod.rs` says. (Inspection looks at it as well: `published.rs`.)

use std::panic::Location;
use std::ptr::NonNull;

use super::cell::Header;
use super::named_site::NamedSite;
use super::observed::ObservedPtr;

/// Where a task was spawned, and its name if it has one: one word, a pointer to something that stays for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site(NonNull<()>);

// SAFETY: it stands for a reference that is valid for ever, to a `Location` or a `NamedSite`, which any thread may
// read.
unsafe impl Send for Site {}
// SAFETY: as above.
unsafe impl Sync for Site {}

const _: () = {
    const fn may_be_read_by_any_thread<T: Send + Sync>() {}
    may_be_read_by_any_thread::<&'static Location<'static>>();
    may_be_read_by_any_thread::<&'static NamedSite>();
};

impl Site {
    /// It points to a [`NamedSite`], and else to a [`Location`]. Both are aligned to more than a byte, so there is a
    /// bit to spare.
    const NAMED: usize = 1;

    /// A task that cannot have the name, because there are too many, has none.
    #[inline]
    pub(crate) fn new(location: &'static Location<'static>, name: Option<&str>) -> Self {
        const { assert!(align_of::<Location<'static>>() > Self::NAMED && align_of::<NamedSite>() > Self::NAMED) };
        match name.and_then(|name| NamedSite::of(location, name)) {
            None => Self(NonNull::from(location).cast()),
            Some(site) => Self(NonNull::from(site).cast().map_addr(|addr| addr | Self::NAMED)),
        }
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

    #[inline]
    pub(crate) fn is_named(self) -> bool {
        self.0.addr().get() & Self::NAMED != 0
    }

    #[inline]
    fn named(self) -> Option<&'static NamedSite> {
        let site = self.0.as_ptr().map_addr(|addr| addr & !Self::NAMED).cast::<NamedSite>();
        // SAFETY: but for the bit, which says so, it is what `new` was given: a reference that is valid for ever.
        self.is_named().then(|| unsafe { &*site })
    }

    pub(crate) fn location(self) -> &'static Location<'static> {
        match self.named() {
            Some(site) => site.location,
            // SAFETY: as above, to the other kind.
            None => unsafe { self.0.cast().as_ref() },
        }
    }

    /// What the user called the task.
    #[inline]
    pub(crate) fn name(self) -> Option<&'static str> {
        self.named().map(|site| site.name)
    }
}

/// Where a task was spawned; once the last reference to it is gone and nobody can ask for that any more, the next task
/// on the return stack. One word for two uses that never meet.
#[repr(transparent)]
pub(crate) struct SiteOrLink(ObservedPtr);

impl SiteOrLink {
    /// Of memory that no task has lain in yet.
    #[cfg(not(loom))]
    pub(super) fn nowhere() -> Self {
        Self(ObservedPtr::null())
    }

    /// Writes that of a new task.
    ///
    /// # Safety
    ///
    /// The memory is the caller's. (Inspection may be reading it all the same.)
    #[inline]
    pub(super) unsafe fn write(this: *mut Self, site: Site) {
        // SAFETY: the caller's promise.
        unsafe { ObservedPtr::write_new(&raw mut (*this).0, site.as_ptr()) };
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_tells_the_place_and_the_name() {
        let here = Location::caller();
        for name in [None, Some("a name")] {
            let site = Site::new(here, name);
            assert_eq!((site.location(), site.name(), site.is_named()), (here, name, name.is_some()));
            // SAFETY: from `as_ptr`.
            let again = unsafe { Site::from_ptr(site.as_ptr()) }.unwrap();
            assert_eq!((again.location(), again.name()), (here, name));
        }
    }
}
