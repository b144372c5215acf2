//! The guards of [`RwLock`].

use std::marker::PhantomData;
use std::ptr;

use super::RwLock;
use crate::guard::{Hold, exclusive_guard, guard};

/// The right to look at the data of a [`RwLock`], or a part of it. The lock is released when this is dropped.
#[must_use = "the lock is released when this is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    data: *const T,
    hold: Hold<'a>,
    _data: PhantomData<&'a T>,
}

/// The right to change the data of a [`RwLock`]. The lock is released when this is dropped.
#[must_use = "the lock is released when this is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    data: *mut T,
    hold: Hold<'a>,
    _data: PhantomData<&'a mut T>,
}

/// The right to change a part of the data of a [`RwLock`]. Made by [`RwLockWriteGuard::map`].
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    data: *mut T,
    hold: Hold<'a>,
    _data: PhantomData<&'a mut T>,
}

// SAFETY: a guard is like a `&` to the data.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: a guard is like a `&mut` to the data, and may become one to look at it.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}

guard!(['a, T: ?Sized] RwLockReadGuard<'a, T>, T);
exclusive_guard!(['a, T: ?Sized] RwLockWriteGuard<'a, T>, T);
exclusive_guard!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T>, T);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// The caller has acquired a permit.
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        Self { data: lock.data.get(), hold: Hold::new(&lock.batch, 1), _data: PhantomData }
    }

    /// Narrows the guard down to a part of the data. To be called as a function, so as not to hide a method of the
    /// data.
    pub fn map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let data = ptr::from_ref(f(&*this));
        RwLockReadGuard { data, hold: this.hold, _data: PhantomData }
    }

    /// As [`map`](Self::map), if there is such a part.
    ///
    /// # Errors
    ///
    /// The guard, if the closure returns `None`.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&*this).map(ptr::from_ref) {
            Some(data) => Ok(RwLockReadGuard { data, hold: this.hold, _data: PhantomData }),
            None => Err(this),
        }
    }
}

/// `map` and `try_map` of a guard for writing.
macro_rules! maps {
    ($guard:ident) => {
        impl<'a, T: ?Sized> $guard<'a, T> {
            /// Narrows the guard down to a part of the data. To be called as a function, so as not to hide a method of
            /// the data.
            pub fn map<F, U: ?Sized>(mut this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
            where
                F: FnOnce(&mut T) -> &mut U,
            {
                let data = ptr::from_mut(f(&mut *this));
                RwLockMappedWriteGuard { data, hold: this.hold, _data: PhantomData }
            }

            /// As [`map`](Self::map), if there is such a part.
            ///
            /// # Errors
            ///
            /// The guard, if the closure returns `None`.
            pub fn try_map<F, U: ?Sized>(mut this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
            where
                F: FnOnce(&mut T) -> Option<&mut U>,
            {
                match f(&mut *this).map(ptr::from_mut) {
                    Some(data) => Ok(RwLockMappedWriteGuard { data, hold: this.hold, _data: PhantomData }),
                    None => Err(this),
                }
            }
        }
    };
}

maps!(RwLockWriteGuard);
maps!(RwLockMappedWriteGuard);

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// The caller has acquired all permits.
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        Self { data: lock.data.get(), hold: Hold::exclusive(&lock.batch, lock.max_readers), _data: PhantomData }
    }

    /// The same as a guard of a part, which is the whole.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard { data: this.data, hold: this.hold, _data: PhantomData }
    }

    /// Makes a guard for reading of it. No other writer comes in between.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::RwLock;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let lock = RwLock::new(1);
    /// let mut guard = lock.write().await;
    /// *guard += 1;
    /// let guard = guard.downgrade();
    /// assert_eq!(*lock.read().await, *guard);
    /// # }
    /// ```
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        let data = ptr::from_ref(&*self);
        self.read_at(data)
    }

    /// Makes a guard for reading of a part of the data of it. No other writer comes in between.
    pub fn downgrade_map<F, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U>
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
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&*this).map(ptr::from_ref) {
            Some(data) => Ok(this.read_at(data)),
            None => Err(this),
        }
    }

    fn read_at<U: ?Sized>(mut self, data: *const U) -> RwLockReadGuard<'a, U> {
        self.hold.keep_one();
        RwLockReadGuard { data, hold: self.hold, _data: PhantomData }
    }
}
