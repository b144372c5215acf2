//! The guards of [`Mutex`].

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use super::Mutex;
use crate::guard::{Hold, OwnedHold, exclusive_guard};

/// The right to the data of a [`Mutex`], which is unlocked when this is dropped.
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    data: *mut T,
    hold: Hold<'a>,
    _data: PhantomData<&'a mut T>,
}

/// The right to the data of a [`Mutex`] that it keeps alive. The mutex is unlocked when this is dropped.
pub struct OwnedMutexGuard<T: ?Sized> {
    data: *mut T,
    hold: OwnedHold<Mutex<T>>,
}

/// The right to a part of the data of a [`Mutex`]. Made by [`MutexGuard::map`].
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    data: *mut T,
    hold: Hold<'a>,
    _data: PhantomData<&'a mut T>,
}

/// The right to a part of the data of a [`Mutex`] that it keeps alive. Made by [`OwnedMutexGuard::map`].
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    data: *mut U,
    hold: OwnedHold<Mutex<T>>,
}

// SAFETY: a guard is like a `&mut` to the data.
unsafe impl<T: ?Sized + Send> Send for MutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for MutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for OwnedMutexGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedMutexGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}
// SAFETY: as above; and the whole may be dropped where the guard is.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

exclusive_guard!(['a, T: ?Sized] MutexGuard<'a, T>, T);
exclusive_guard!([T: ?Sized] OwnedMutexGuard<T>, T);
exclusive_guard!(['a, T: ?Sized] MappedMutexGuard<'a, T>, T);
exclusive_guard!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U);

/// `map` and `try_map`.
macro_rules! maps {
    ([$($generics:tt)*] $guard:ty, $data:ident, $mapped:ident, $part:ident, [$($to:tt)*] $(, $more:ident)*) => {
        impl<$($generics)*> $guard {
            /// Narrows the guard down to a part of the data. To be called as a function, so as not to hide a method of
            /// the data.
            pub fn map<$part: ?Sized, F>(mut this: Self, f: F) -> $mapped<$($to)*>
            where
                F: FnOnce(&mut $data) -> &mut $part,
            {
                let data = ptr::from_mut(f(&mut *this));
                $mapped { data, hold: this.hold $(, $more: PhantomData)* }
            }

            /// As [`map`](Self::map), if there is such a part.
            ///
            /// # Errors
            ///
            /// The guard, if the closure returns `None`.
            pub fn try_map<$part: ?Sized, F>(mut this: Self, f: F) -> Result<$mapped<$($to)*>, Self>
            where
                F: FnOnce(&mut $data) -> Option<&mut $part>,
            {
                match f(&mut *this).map(ptr::from_mut) {
                    Some(data) => Ok($mapped { data, hold: this.hold $(, $more: PhantomData)* }),
                    None => Err(this),
                }
            }
        }
    };
}

maps!(['a, T: ?Sized] MutexGuard<'a, T>, T, MappedMutexGuard, U, ['a, U], _data);
maps!([T: ?Sized] OwnedMutexGuard<T>, T, OwnedMappedMutexGuard, U, [T, U]);
maps!(['a, T: ?Sized] MappedMutexGuard<'a, T>, T, MappedMutexGuard, U, ['a, U], _data);
maps!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U, OwnedMappedMutexGuard, S, [T, S]);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The caller has acquired the permit.
    pub(super) fn new(lock: &'a Mutex<T>) -> Self {
        Self { lock, data: lock.data.get(), hold: Hold::exclusive(&lock.batch, 1), _data: PhantomData }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// The caller has acquired the permit.
    pub(super) fn new(lock: Arc<Mutex<T>>) -> Self {
        Self { data: lock.data.get(), hold: OwnedHold::new(lock, 1) }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.hold.lock()
    }
}
