//! [`ObservedPtr`]: a word of a task's header that belongs to one thread at a time, and that inspection looks at all
//! the same (`published.rs`).
//!
//! To its owner it is a plain cell: relaxed loads and stores, which cost as much. In a model, where nobody inspects, it
//! is loom's cell, which notices an owner too many.

#[cfg(loom)]
use crate::primitive::Cell;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A pointer.
#[cfg(not(loom))]
pub(super) struct ObservedPtr(AtomicPtr<()>);
#[cfg(loom)]
pub(super) struct ObservedPtr(Cell<*mut ()>);

impl ObservedPtr {
    #[cfg(not(loom))]
    pub(super) fn null() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Writes the first value.
    ///
    /// # Safety
    ///
    /// The memory is the caller's. (Inspection may be reading it all the same.)
    #[inline(always)]
    pub(super) unsafe fn write_new(this: *mut Self, value: *mut ()) {
        // SAFETY: the caller's promise; in the memory of an arena there is a word already, and elsewhere
        // nobody looks.
        #[cfg(not(loom))]
        unsafe {
            (*this).0.store(value, Relaxed);
        }
        // SAFETY: as above.
        #[cfg(loom)]
        unsafe {
            this.write(Self(Cell::new(value)));
        }
    }

    #[inline(always)]
    pub(super) fn get(&self) -> *mut () {
        #[cfg(not(loom))]
        return self.0.load(Relaxed);
        #[cfg(loom)]
        self.0.get()
    }

    /// For its owner.
    #[inline(always)]
    pub(super) fn set(&self, value: *mut ()) {
        #[cfg(not(loom))]
        self.0.store(value, Relaxed);
        #[cfg(loom)]
        self.0.set(value);
    }
}
