//! [`FreeList`]: cells that nobody has, linked through themselves.

use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

/// A stack of free cells. It does not own them: dropped, it forgets them.
pub(super) struct FreeList(*mut u8);

/// Where in a cell that waits the next one is written: not in its first eight bytes, which remain as its task left
/// them.
pub(super) const LINK: usize = 8;

/// # Safety
///
/// The cell is one that waits, or is about to.
#[inline]
unsafe fn link<'a>(cell: NonNull<u8>) -> &'a AtomicPtr<u8> {
    // SAFETY: every cell is a line at least, and begins on one; inspection (`census.rs`) uses atomic operations, too.
    unsafe { AtomicPtr::from_ptr(cell.add(LINK).cast().as_ptr()) }
}

impl FreeList {
    pub(super) const EMPTY: Self = Self(ptr::null_mut());

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// # Safety
    ///
    /// The cell is the caller's to give, and until it is taken out again nobody touches it.
    #[inline]
    pub(super) unsafe fn push(&mut self, cell: NonNull<u8>) {
        // SAFETY: the memory is the caller's.
        unsafe { link(cell) }.store(self.0, Relaxed);
        self.0 = cell.as_ptr();
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<NonNull<u8>> {
        let cell = NonNull::new(self.0)?;
        // SAFETY: what is on the stack is memory that `push` initialised and nobody has touched since.
        self.0 = unsafe { link(cell) }.load(Relaxed);
        Some(cell)
    }
}
