//! What the guards of [`Mutex`](crate::Mutex) and [`RwLock`](crate::RwLock) have in common.
//!
//! A guard consists of a [`Hold`], which gives the permits back when it is dropped, and of the address of the data.
//! Guards have no `Drop` of their own. So to make one guard of another is to move the hold.

use std::mem;
use std::sync::Arc;

use runtime_core::task::holders;

use crate::semaphore::batch::Batch;

/// A lock whose data is guarded by permits.
pub(crate) trait Lock {
    fn batch(&self) -> &Batch;
}

/// Permits of a lock that is borrowed.
pub(crate) struct Hold<'a> {
    batch: &'a Batch,
    permits: u32,
    /// Whether it was noted whose the lock is. (A lock's readers do not meet in a table where nothing is.)
    is_noted: bool,
}

impl<'a> Hold<'a> {
    /// The caller has acquired these permits.
    #[inline]
    pub(crate) fn new(batch: &'a Batch, permits: u32) -> Self {
        Self { batch, permits, is_noted: false }
    }

    /// The caller has acquired these permits, which are all: the lock is the task's alone, which is noted for those
    /// who look at tasks that wait for it.
    ///
    /// There is no such note of an [`OwnedHold`], which may be on its way to another task.
    #[inline]
    pub(crate) fn exclusive(batch: &'a Batch, permits: u32) -> Self {
        let is_noted = holders::locked(batch.address());
        Self { batch, permits, is_noted }
    }

    /// Gives back all permits but one.
    pub(crate) fn keep_one(&mut self) {
        self.take_note_away();
        let spare = self.permits - 1;
        self.permits = 1;
        self.batch.release(spare as usize);
    }

    /// Before permits are given back, not after: the next holder may be noting itself.
    #[inline]
    fn take_note_away(&mut self) {
        if mem::take(&mut self.is_noted) {
            holders::unlocked(self.batch.address());
        }
    }
}

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.take_note_away();
        self.batch.release(self.permits as usize);
    }
}

/// Permits of a lock that is kept alive.
pub(crate) struct OwnedHold<L: Lock + ?Sized> {
    lock: Arc<L>,
    permits: usize,
}

impl<L: Lock + ?Sized> OwnedHold<L> {
    /// The caller has acquired these permits.
    pub(crate) fn new(lock: Arc<L>, permits: usize) -> Self {
        Self { lock, permits }
    }

    pub(crate) fn lock(&self) -> &Arc<L> {
        &self.lock
    }

    /// As [`Hold::keep_one`].
    pub(crate) fn keep_one(&mut self) {
        let spare = self.permits - 1;
        self.permits = 1;
        self.lock.batch().release(spare);
    }
}

impl<L: Lock + ?Sized> Drop for OwnedHold<L> {
    fn drop(&mut self) {
        self.lock.batch().release(self.permits);
    }
}

/// `Deref`, `Debug` and `Display` of a guard, by the address of its data.
macro_rules! guard {
    ([$($generics:tt)*] $guard:ty, $target:ident) => {
        impl<$($generics)*> std::ops::Deref for $guard {
            type Target = $target;

            fn deref(&self) -> &$target {
                // SAFETY: the guard has the right to look at the data, which the lock keeps in its place.
                unsafe { &*self.data }
            }
        }

        impl<$($generics)*> std::fmt::Debug for $guard
        where
            $target: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($generics)*> std::fmt::Display for $guard
        where
            $target: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
pub(crate) use guard;

/// The same of a guard of the exclusive kind.
macro_rules! exclusive_guard {
    ([$($generics:tt)*] $guard:ty, $target:ident) => {
        crate::guard::guard!([$($generics)*] $guard, $target);

        impl<$($generics)*> std::ops::DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut $target {
                // SAFETY: the guard has the data to itself.
                unsafe { &mut *self.data }
            }
        }
    };
}
pub(crate) use exclusive_guard;
