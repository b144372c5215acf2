//! The one place that chooses between the real synchronisation primitives and loom's.
//!
//! Every atomic, lock and cell that takes part in a concurrent protocol of this workspace is named through this
//! module, so that `RUSTFLAGS="--cfg loom"` turns the very code that ships into a loom model. It is public for the
//! sibling crates only (timer entries and readiness words are modelled too); it is not part of any stable interface.
//!
//! It must never hold logic of its own: only names, thin wrappers where the two worlds differ in shape, and what makes
//! up for a fault of loom's search (`primitive/atomic.rs`, under loom).
//!
//! ThreadSanitizer is a third world (`--cfg rt_tsan`, set by `.ci/sanitize`). It knows what happens before what from
//! the atomic operations that it sees, and it sees none in the precompiled standard library. Most of that is generic or
//! inlined, and so compiled here after all; what is not has a stand-in at the end of this file.
//!
//! It ignores fences, too, but none of ours needs a stand-in. Those of the protocols are `SeqCst`, between a store and
//! a load: they decide who sees whom, and are executed as ever. No data is handed over through them; that always takes
//! a release and an acquire, on the queue, the lock or the word in question, which it does see. (The sequence lock in
//! `slot.rs` has others, between atomics only. A new fence that does hand data over would show up as a false report.)

#[cfg(loom)]
pub mod atomic;
#[cfg(not(any(loom, rt_tsan)))]
pub mod waiting;
/// The stand-in where threads that wait are to be seen.
#[cfg(any(loom, rt_tsan))]
pub mod waiting {
    #[cfg(loom)]
    pub use super::imp::{Condvar, Mutex, MutexGuard};
    #[cfg(not(loom))]
    pub use parking_lot::{Condvar, Mutex, MutexGuard};
}

#[cfg(not(loom))]
mod imp {
    pub use crossbeam_deque::Injector;
    pub use crossbeam_utils::sync::{Parker, Unparker};
    pub use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
    pub use std::cell::Cell;
    pub use std::sync::Arc;
    pub use std::sync::atomic;

    /// Thread-local storage, initialised at compile time.
    macro_rules! plain_thread_local {
        ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $value:expr;) => {
            std::thread_local! { $(#[$meta])* $vis static $name: $type = const { $value } }
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
    use crossbeam_deque::Steal;
    pub use loom::cell::{Cell, UnsafeCell};
    pub use loom::sync::Arc;
    use std::collections::VecDeque;
    use std::ops::{Deref, DerefMut};
    use std::time::Instant;

    use super::atomic;

    macro_rules! plain_thread_local {
        ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $value:expr;) => {
            loom::thread_local! { $(#[$meta])* $vis static $name: $type = $value; }
        };
    }
    pub(crate) use plain_thread_local as thread_local;

    /// What of crossbeam's injector the protocols rely on: who takes something sees what its pusher wrote before; and
    /// whether there is anything is a look that orders nothing, so that fences must.
    #[derive(Debug)]
    pub struct Injector<T> {
        queue: Mutex<VecDeque<T>>,
        len: atomic::AtomicUsize,
    }

    impl<T> Injector<T> {
        /// An empty one.
        #[allow(clippy::new_without_default)] // crossbeam's has no need of it here
        pub fn new() -> Self {
            Self { queue: Mutex::new(VecDeque::new()), len: atomic::AtomicUsize::new(0) }
        }

        /// Adds something.
        pub fn push(&self, task: T) {
            let mut queue = self.queue.lock();
            queue.push_back(task);
            self.len.fetch_add(1, atomic::Ordering::Relaxed);
        }

        /// Takes the oldest.
        pub fn steal(&self) -> Steal<T> {
            let mut queue = self.queue.lock();
            match queue.pop_front() {
                Some(task) => {
                    self.len.fetch_sub(1, atomic::Ordering::Relaxed);
                    Steal::Success(task)
                }
                None => Steal::Empty,
            }
        }

        /// Takes the oldest. To take others along is left to the real one.
        pub fn steal_batch_with_limit_and_pop(&self, _: &crossbeam_deque::Worker<T>, _: usize) -> Steal<T> {
            self.steal()
        }

        /// Moves the oldest. To take others along is left to the real one.
        pub fn steal_batch_with_limit(&self, to: &crossbeam_deque::Worker<T>, _: usize) -> Steal<()> {
            match self.steal() {
                Steal::Success(task) => {
                    to.push(task);
                    Steal::Success(())
                }
                Steal::Empty => Steal::Empty,
                Steal::Retry => Steal::Retry,
            }
        }

        /// How many there are.
        pub fn len(&self) -> usize {
            self.len.load(atomic::Ordering::Relaxed)
        }

        /// Whether there are none.
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }
    }

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
    #[derive(Debug, Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    /// The right to what is in a [`Mutex`].
    #[derive(Debug)]
    pub struct MutexGuard<'a, T> {
        mutex: &'a Mutex<T>,
        /// Empty only while the lock is released for a wait.
        guard: Option<loom::sync::MutexGuard<'a, T>>,
        _held: Held,
    }

    loom::thread_local! { static LOCKS_HELD: std::cell::Cell<usize> = std::cell::Cell::new(0); }

    /// The thread holds a lock more.
    #[derive(Debug)]
    struct Held;

    impl Held {
        fn new() -> Self {
            LOCKS_HELD.with(|held| held.set(held.get() + 1));
            Self
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            LOCKS_HELD.with(|held| held.set(held.get() - 1));
        }
    }

    const NOT_POISONED: &str = "loom mutexes are not poisoned: a panic ends the model";
    const LOCKED: &str = "a guard is not used while its lock is released";

    impl<T> Mutex<T> {
        /// Wraps a value.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// Locks, waiting if it must.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard { mutex: self, guard: Some(self.0.lock().expect(NOT_POISONED)), _held: Held::new() }
        }

        /// Takes the value out.
        pub fn into_inner(self) -> T {
            self.0.into_inner().expect(NOT_POISONED)
        }

        /// Locks if nobody holds the lock.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            Some(MutexGuard { mutex: self, guard: Some(self.0.try_lock().ok()?), _held: Held::new() })
        }
    }

    impl<T> MutexGuard<'_, T> {
        /// Calls the closure without the lock.
        pub fn unlocked<R>(guard: &mut Self, f: impl FnOnce() -> R) -> R {
            guard.guard = None;
            LOCKS_HELD.with(|held| held.set(held.get() - 1));
            let result = f();
            LOCKS_HELD.with(|held| held.set(held.get() + 1));
            guard.guard = Some(guard.mutex.0.lock().expect(NOT_POISONED));
            result
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.guard.as_ref().expect(LOCKED)
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.guard.as_mut().expect(LOCKED)
        }
    }

    pub use loom::sync::RwLockReadGuard;

    /// loom's lock for readers and writers with `parking_lot`'s shape: no poisoning.
    #[derive(Debug, Default)]
    pub struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        /// Wraps a value.
        pub fn new(value: T) -> Self {
            Self(loom::sync::RwLock::new(value))
        }

        /// Locks for reading, waiting if it must.
        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().expect(NOT_POISONED)
        }

        /// Locks for writing, waiting if it must.
        pub fn write(&self) -> loom::sync::RwLockWriteGuard<'_, T> {
            self.0.write().expect(NOT_POISONED)
        }
    }

    /// loom's condition variable with `parking_lot`'s shape.
    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    /// Whether the time was up before anybody notified.
    #[derive(Debug)]
    pub struct WaitTimeoutResult(());

    impl Condvar {
        /// Makes one.
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        /// Waits for a notification.
        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            let inner = guard.guard.take().expect(LOCKED);
            guard.guard = Some(self.0.wait(inner).expect(NOT_POISONED));
        }

        /// loom knows no time: here it is always up at once. What others do between the release of the lock and its
        /// return is explored; a wait that is notified in time is not, and needs a model of its own.
        pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, _: Instant) -> WaitTimeoutResult {
            MutexGuard::unlocked(guard, || ());
            WaitTimeoutResult(())
        }

        /// Wakes one waiter. Not under a lock: the waiter would be awake and wait for that. (parking_lot's would even
        /// be handed to it now and then, and all others wait until it has a processor.)
        pub fn notify_one(&self) {
            LOCKS_HELD.with(|held| assert_eq!(held.get(), 0, "a waiter is notified under a lock"));
            self.0.notify_one();
        }

        /// Wakes all waiters.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    impl WaitTimeoutResult {
        /// See the type.
        pub fn timed_out(&self) -> bool {
            true
        }
    }
}

pub use imp::*;

#[cfg(not(rt_tsan))]
pub use std::sync::OnceLock;
#[cfg(rt_tsan)]
pub use tsan::OnceLock;

#[cfg(rt_tsan)]
mod tsan {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::{Acquire, Release};

    /// std's, with a flag beside it: the store that publishes the value is in a part of std that is not instrumented.
    #[derive(Debug)]
    pub struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        seen: AtomicBool,
    }

    impl<T> OnceLock<T> {
        /// An empty one.
        pub const fn new() -> Self {
            Self { value: std::sync::OnceLock::new(), seen: AtomicBool::new(false) }
        }

        /// The value, if there is one.
        pub fn get(&self) -> Option<&T> {
            if self.seen.load(Acquire) { self.value.get() } else { None }
        }

        /// The value, made if there is none yet.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if let Some(value) = self.get() {
                return value;
            }
            let mut is_mine = false;
            let value = self.value.get_or_init(|| {
                is_mine = true;
                make()
            });
            if is_mine {
                self.seen.store(true, Release);
            }
            // Of those who came meanwhile none has seen the maker's writes before it sees the flag.
            while !self.seen.load(Acquire) {
                std::thread::yield_now();
            }
            value
        }
    }
}
