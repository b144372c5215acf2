//! Words of a task's header that belong to one thread at a time, and that inspection looks at all the same
//! (`published.rs`).
//!
//! To their owners they are plain cells: relaxed loads and stores, which cost as much. In a model, where nobody
//! inspects, they are loom's cells, which notice an owner too many.

#[cfg(loom)]
use crate::primitive::Cell;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed, Ordering::Release};

/// A pointer.
#[cfg(not(loom))]
pub(super) struct ObservedPtr(AtomicPtr<()>);
#[cfg(loom)]
pub(super) struct ObservedPtr(Cell<*mut ()>);

/// A byte.
#[cfg(not(loom))]
pub(super) struct ObservedByte(AtomicU8);
#[cfg(loom)]
pub(super) struct ObservedByte(Cell<u8>);

macro_rules! observed {
    ($name:ident, $value:ty) => {
        impl $name {
            /// Writes the first value.
            ///
            /// # Safety
            ///
            /// The memory is the caller's. (Inspection may be reading it all the same.)
            #[inline(always)]
            pub(super) unsafe fn write_new(this: *mut Self, value: $value) {
                // SAFETY: the caller's promise; what is there is as good as initialised for an atomic store.
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
            pub(super) fn get(&self) -> $value {
                #[cfg(not(loom))]
                return self.0.load(Relaxed);
                #[cfg(loom)]
                self.0.get()
            }

            /// For its owner.
            #[inline(always)]
            pub(super) fn set(&self, value: $value) {
                #[cfg(not(loom))]
                self.0.store(value, Relaxed);
                #[cfg(loom)]
                self.0.set(value);
            }

            /// The same, and a reader that acquires the value sees what was written before.
            #[cfg(not(loom))]
            #[allow(dead_code)] // one of the two needs it
            #[inline(always)]
            pub(super) fn release(&self, value: $value) {
                self.0.store(value, Release);
            }
        }
    };
}

observed!(ObservedPtr, *mut ());
observed!(ObservedByte, u8);

#[cfg(not(loom))]
impl ObservedByte {
    /// For inspection.
    #[inline(always)]
    pub(super) fn acquire(&self) -> u8 {
        self.0.load(std::sync::atomic::Ordering::Acquire)
    }
}
