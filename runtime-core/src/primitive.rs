//! The one place that chooses between the real synchronisation primitives and loom's.
//!
//! Every atomic, lock and cell that takes part in a concurrent protocol of this workspace is named through this
//! module, so that `RUSTFLAGS="--cfg loom"` turns the very code that ships into a loom model. It is public for the
//! sibling crates only (timer entries and readiness words are modelled too); it is not part of any stable interface.
//!
//! It must never hold logic of its own: only names, and thin wrappers where the two worlds differ in shape.

#[cfg(not(loom))]
mod imp {
    pub use crossbeam_utils::sync::{Parker, Unparker};
    pub use parking_lot::{Mutex, MutexGuard};
    pub use std::sync::Arc;
    pub use std::sync::atomic;

    /// Thread-local storage without destructors, initialised at compile time.
    macro_rules! plain_thread_local {
        ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr;) => {
            std::thread_local! { $(#[$meta])* static $name: $type = const { $value } }
        };
    }
    pub(crate) use plain_thread_local as thread_local;

    /// `std::cell::UnsafeCell` in the shape of loom's: access goes through a closure, so that a model can see it.
    #[derive(Debug)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Wraps a value.
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Takes the value out.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Hands the closure a pointer for reading.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Hands the closure a pointer for writing.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(loom)]
mod imp {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::Arc;
    pub use loom::sync::MutexGuard;
    pub use loom::sync::atomic;

    macro_rules! plain_thread_local {
        ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr;) => {
            loom::thread_local! { $(#[$meta])* static $name: $type = $value; }
        };
    }
    pub(crate) use plain_thread_local as thread_local;

    /// A place for one thread to sleep, in the shape of crossbeam's, whose own loom support needs another flag.
    #[derive(Debug)]
    pub struct Parker(Unparker);

    /// Wakes the thread that sleeps in the [`Parker`].
    #[derive(Debug, Clone)]
    pub struct Unparker(std::sync::Arc<(loom::sync::Mutex<bool>, loom::sync::Condvar)>);

    impl Parker {
        /// Makes one.
        pub fn new() -> Self {
            Self(Unparker(std::sync::Arc::new((loom::sync::Mutex::new(false), loom::sync::Condvar::new()))))
        }

        /// What wakes its thread.
        pub fn unparker(&self) -> &Unparker {
            &self.0
        }

        /// Sleeps until unparked, or not at all if that has happened.
        pub fn park(&self) {
            let (token, condvar) = &*self.0.0;
            let mut token = token.lock().unwrap();
            while !std::mem::replace(&mut *token, false) {
                token = condvar.wait(token).unwrap();
            }
        }

        /// loom knows no time: sleeps until unparked.
        pub fn park_timeout(&self, _: std::time::Duration) {
            self.park();
        }
    }

    impl Unparker {
        /// Wakes the sleeper, or spares it its next sleep.
        pub fn unpark(&self) {
            let (token, condvar) = &*self.0;
            *token.lock().unwrap() = true;
            condvar.notify_one();
        }
    }

    /// loom's mutex with `parking_lot`'s shape: no poisoning.
    #[derive(Debug)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// Wraps a value.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// Locks, waiting if it must.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("loom mutexes are not poisoned: a panic ends the model")
        }

        /// Locks if nobody holds the lock.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }
}

pub use imp::*;
