//! The guards that keep their [`RwLock`] alive.

use std::ptr;
use std::sync::Arc;

use super::RwLock;
use crate::guard::{OwnedHold, exclusive_guard, guard};

/// The right to look at the data of a [`RwLock`] that it keeps alive, or a part of it. The lock is released when this
/// is dropped.
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    data: *const U,
    hold: OwnedHold<RwLock<T>>,
}

/// The right to change the data of a [`RwLock`] that it keeps alive. The lock is released when this is dropped.
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    data: *mut T,
    hold: OwnedHold<RwLock<T>>,
}

/// The right to change a part of the data of a [`RwLock`] that it keeps alive. Made by [`OwnedRwLockWriteGuard::map`].
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    data: *mut U,
    hold: OwnedHold<RwLock<T>>,
}

// SAFETY: a guard is like a `&` to the data, and the whole may be dropped where the guard is.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockReadGuard<T, U> {}
// SAFETY: a guard is like a `&mut` to the data, and may become one to look at it; and the whole may be dropped where it
// is.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Send for OwnedRwLockMappedWriteGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockMappedWriteGuard<T, U> {}

guard!([T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U>, U);
exclusive_guard!([T: ?Sized] OwnedRwLockWriteGuard<T>, T);
exclusive_guard!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U);

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    /// The caller has acquired a permit.
    pub(super) fn new(lock: Arc<RwLock<T>>) -> Self {
        Self { data: lock.data.get(), hold: OwnedHold::new(lock, 1) }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// Narrows the guard down to a part of the data. To be called as a function, so as not to hide a method of the
    /// data.
    pub fn map<F, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
    {
        let data = ptr::from_ref(f(&*this));
        OwnedRwLockReadGuard { data, hold: this.hold }
    }

    /// As [`map`](Self::map), if there is such a part.
    ///
    /// # Errors
    ///
    /// The guard, if the closure returns `None`.
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        match f(&*this).map(ptr::from_ref) {
            Some(data) => Ok(OwnedRwLockReadGuard { data, hold: this.hold }),
            None => Err(this),
        }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.hold.lock()
    }
}

/// `map`, `try_map` and `rwlock` of a guard for writing.
macro_rules! maps {
    ([$($generics:tt)*] $guard:ty, $data:ident, $part:ident) => {
        impl<$($generics)*> $guard {
            /// Narrows the guard down to a part of the data. To be called as a function, so as not to hide a method of
            /// the data.
            pub fn map<F, $part: ?Sized>(mut this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, $part>
            where
                F: FnOnce(&mut $data) -> &mut $part,
            {
                let data = ptr::from_mut(f(&mut *this));
                OwnedRwLockMappedWriteGuard { data, hold: this.hold }
            }

            /// As [`map`](Self::map), if there is such a part.
            ///
            /// # Errors
            ///
            /// The guard, if the closure returns `None`.
            pub fn try_map<F, $part: ?Sized>(
                mut this: Self,
                f: F,
            ) -> Result<OwnedRwLockMappedWriteGuard<T, $part>, Self>
            where
                F: FnOnce(&mut $data) -> Option<&mut $part>,
            {
                match f(&mut *this).map(ptr::from_mut) {
                    Some(data) => Ok(OwnedRwLockMappedWriteGuard { data, hold: this.hold }),
                    None => Err(this),
                }
            }

            /// The lock.
            pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
                this.hold.lock()
            }
        }
    };
}

maps!([T: ?Sized] OwnedRwLockWriteGuard<T>, T, U);
maps!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U, V);

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// The caller has acquired all permits.
    pub(super) fn new(lock: Arc<RwLock<T>>) -> Self {
        let permits = lock.all();
        Self { data: lock.data.get(), hold: OwnedHold::new(lock, permits) }
    }

    /// The same as a guard of a part, which is the whole.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard { data: this.data, hold: this.hold }
    }

    /// Makes a guard for reading of it. No other writer comes in between.
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        let data = ptr::from_ref(&*self);
        self.read_at(data)
    }

    /// Makes a guard for reading of a part of the data of it. No other writer comes in between.
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let data = ptr::from_ref(f(&*this));
        this.read_at(data)
    }

    /// As [`downgrade_map`](Self::downgrade_map), if there is such a part.
    ///
    /// # Errors
    ///
    /// The guard, which is still one for writing, if the closure returns `None`.
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&*this).map(ptr::from_ref) {
            Some(data) => Ok(this.read_at(data)),
            None => Err(this),
        }
    }

    fn read_at<U: ?Sized>(mut self, data: *const U) -> OwnedRwLockReadGuard<T, U> {
        self.hold.keep_one();
        OwnedRwLockReadGuard { data, hold: self.hold }
    }
}
