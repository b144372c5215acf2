//! [`JoinWaker`]: the place where a join handle leaves its waker for the thread that completes the task.
//!
//! Whose it is, `JOIN_WAKER` in the state word says (`state.rs`): the handle's while the bit is clear, the runtime's from when
//! it is set. The thread that completes the task wants to take the waker in the same exchange that gives its references
//! back, after which the cell may be gone. So it [looks](JoinWaker::look) first, and what it has seen is the waker's if the
//! exchange succeeds: then the bit was set all the while, and the handle wrote nothing. If it does not, the handle may have written
//! meanwhile, and what was seen is forgotten. Hence the two words are atomic; no order is needed between them, nor between them and
//! others, because it is the state word that hands them over.

use std::ptr;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::primitive::UnsafeCell;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::Ordering::Relaxed;

/// See the module. It does not own what is in it: dropped, it forgets it.
pub(super) struct JoinWaker {
    data: AtomicPtr<()>,
    /// Null if there is no waker.
    vtable: AtomicPtr<RawWakerVTable>,
    /// Shows a model who says that the place is theirs.
    owned: UnsafeCell<()>,
}

/// What was seen there.
pub(super) struct Seen {
    data: *mut (),
    vtable: *mut RawWakerVTable,
}

impl Seen {
    /// # Safety
    ///
    /// There was a waker, the place was not written to since, and the waker is the caller's.
    pub(super) unsafe fn into_waker(self) -> Waker {
        // SAFETY: the caller's promise: these are the parts of a waker that `put` took apart, and its vtable is static.
        unsafe { Waker::from_raw(RawWaker::new(self.data, &*self.vtable)) }
    }
}

impl JoinWaker {
    #[inline]
    pub(super) fn new() -> Self {
        let (data, vtable) = (AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(ptr::null_mut()));
        Self { data, vtable, owned: UnsafeCell::new(()) }
    }

    /// For anybody, at any time. If the place is not the caller's the parts may be of two wakers.
    #[inline]
    pub(super) fn look(&self) -> Seen {
        Seen { data: self.data.load(Relaxed), vtable: self.vtable.load(Relaxed) }
    }

    /// Whether it holds a waker that wakes the same.
    ///
    /// # Safety
    ///
    /// The place is the caller's.
    pub(super) unsafe fn will_wake(&self, waker: &Waker) -> bool {
        self.owned.with(|_| ());
        let seen = self.look();
        ptr::eq(seen.vtable, waker.vtable()) && ptr::eq(seen.data, waker.data())
    }

    /// Puts a waker there, and returns the one that was.
    ///
    /// # Safety
    ///
    /// The place is the caller's.
    #[inline]
    pub(super) unsafe fn put(&self, waker: Waker) -> Option<Waker> {
        // SAFETY: the caller's promise.
        let old = unsafe { self.take() };
        self.data.store(waker.data().cast_mut(), Relaxed);
        self.vtable.store(ptr::from_ref(waker.vtable()).cast_mut(), Relaxed);
        std::mem::forget(waker);
        old
    }

    /// Takes the waker out.
    ///
    /// # Safety
    ///
    /// The place is the caller's.
    #[inline]
    pub(super) unsafe fn take(&self) -> Option<Waker> {
        self.assert_owned();
        let seen = self.look();
        if seen.vtable.is_null() {
            return None;
        }
        self.vtable.store(ptr::null_mut(), Relaxed);
        // SAFETY: there was a waker, and nobody else writes here.
        Some(unsafe { seen.into_waker() })
    }

    /// Tells a model that the place is the caller's. Nothing else.
    #[inline(always)]
    pub(super) fn assert_owned(&self) {
        self.owned.with_mut(|_| ());
    }
}
