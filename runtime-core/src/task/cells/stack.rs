//! [`Stack`]: cells that nobody has, linked through themselves.

use std::ptr::{self, NonNull};

/// A stack of free cells. It does not own them: dropped, it forgets them.
pub(super) struct Stack(*mut Free);

/// What is written into a cell that waits.
struct Free {
    next: *mut Free,
}

impl Stack {
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
        let cell = cell.cast::<Free>();
        // SAFETY: the memory is the caller's, and every cell is a line at least, and begins on one.
        unsafe { cell.write(Free { next: self.0 }) };
        self.0 = cell.as_ptr();
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<NonNull<u8>> {
        let cell = NonNull::new(self.0)?;
        // SAFETY: what is on the stack is memory that `push` initialised and nobody has touched since.
        self.0 = unsafe { cell.as_ref() }.next;
        Some(cell.cast())
    }
}
