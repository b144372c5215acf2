//! loom's atomics, with loads that do not hide each other. For models only.
//!
//! # What is wrong with loom's
//!
//! loom does not run every interleaving of a model, only one of each set that differ merely in the order of accesses
//! that do not conflict. An access is tried in front of an earlier one of another thread if the two conflict. loom
//! (0.7) does not remember all earlier accesses to an atomic, only the last of any kind and the last write. A write is
//! compared with the former. Mostly that is enough: what came before the last access conflicts with that, and has been
//! compared with it. But two loads do not conflict. So this order of things hides a conflict:
//!
//! 1. thread B loads the word,
//! 2. thread A loads the word,
//! 3. thread A exchanges it, and loom compares that with A's own load, which came before it anyway.
//!
//! The exchange is never tried in front of B's load. A protocol of loads that are followed by exchanges is half
//! explored.
//!
//! # What is done about it
//!
//! Each thread has a *mark* beside each word that it loads: a condition variable on which nobody waits. To notify it
//! has no effect and orders no memory, but for loom any two notifications of one condition variable conflict. A thread
//! notifies its mark just before it loads. A thread that writes, just before that, notifies the marks of the loads that
//! are hidden: those of other threads since the last write, but for the last access, with which loom compares the write
//! itself. So loom tries the writer in front of each of these loads. Loads do not conflict with each other, and a write
//! that hides nothing costs nothing.
//!
//! Who has loaded the word is remembered outside of loom's view. That is sound because it depends only on what the
//! threads have done so far in the execution at hand. What a load returns is still loom's choice, old values included.

use std::fmt;
use std::sync::{Arc, Mutex, TryLockError};

use loom::sync::Condvar;
pub use loom::sync::atomic::{Ordering, fence};
use loom::thread::{self, ThreadId};

/// The loads of a word.
#[derive(Default)]
struct Loads(Mutex<Log>);

#[derive(Default)]
struct Log {
    /// Of each thread that has ever loaded the word.
    marks: Vec<(ThreadId, Arc<Condvar>)>,
    /// Who has loaded it since it was last written, the latest last.
    since_write: Vec<ThreadId>,
}

impl Loads {
    /// Never held over an operation of loom's that another thread can come between. So it is free, unless the model
    /// uses an atomic after its end; then it is better not to wait.
    fn with<R>(&self, f: impl FnOnce(&mut Log) -> R) -> R {
        match self.0.try_lock() {
            Ok(mut log) => f(&mut log),
            Err(TryLockError::Poisoned(poisoned)) => f(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("an atomic was used after its end"),
        }
    }

    /// The calling thread loads.
    fn load<R>(&self, load: impl FnOnce() -> R) -> R {
        let me = thread::current().id();
        let mark = self.with(|log| {
            if let Some(mark) = log.mark_of(me) {
                return mark;
            }
            let mark = Arc::new(Condvar::new());
            log.marks.push((me, Arc::clone(&mark)));
            mark
        });
        mark.notify_all();
        let value = load();
        self.with(|log| {
            log.since_write.retain(|&thread| thread != me);
            log.since_write.push(me);
        });
        value
    }

    /// The calling thread writes, or tries to.
    fn write<R>(&self, write: impl FnOnce() -> R) -> R {
        let me = thread::current().id();
        self.with(|log| log.hidden_from(me)).iter().for_each(|mark| mark.notify_all());
        let result = write();
        self.with(|log| log.since_write.clear());
        result
    }
}

impl Log {
    fn mark_of(&self, thread: ThreadId) -> Option<Arc<Condvar>> {
        self.marks.iter().find(|mark| mark.0 == thread).map(|mark| Arc::clone(&mark.1))
    }

    /// The marks of the loads with which loom does not compare a write of this thread by itself.
    fn hidden_from(&self, writer: ThreadId) -> Vec<Arc<Condvar>> {
        let Some((_last, earlier)) = self.since_write.split_last() else { return Vec::new() };
        earlier.iter().filter(|&&thread| thread != writer).filter_map(|&thread| self.mark_of(thread)).collect()
    }
}

macro_rules! atomics {
    ($($name:ident $(<$target:ident>)?: $value:ty, { $($update:ident),* };)*) => {$(
        /// loom's type, whose loads see stores after a while.
        pub struct $name $(<$target>)? {
            word: loom::sync::atomic::$name $(<$target>)?,
            loads: Loads,
        }

        #[allow(missing_docs)] // as std's
        impl $(<$target>)? $name $(<$target>)? {
            pub fn new(value: $value) -> Self {
                Self { word: loom::sync::atomic::$name::new(value), loads: Loads::default() }
            }

            pub fn load(&self, order: Ordering) -> $value {
                self.loads.load(|| self.word.load(order))
            }

            pub fn store(&self, value: $value, order: Ordering) {
                self.loads.write(|| self.word.store(value, order));
            }

            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.loads.write(|| self.word.swap(value, order))
            }

            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.loads.write(|| self.word.compare_exchange(current, new, success, failure))
            }

            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut current = self.load(fetch_order);
                while let Some(next) = change(current) {
                    match self.compare_exchange(current, next, set_order, fetch_order) {
                        Ok(_) => return Ok(current),
                        Err(actual) => current = actual,
                    }
                }
                Err(current)
            }

            $(pub fn $update(&self, value: $value, order: Ordering) -> $value {
                self.loads.write(|| self.word.$update(value, order))
            })*
        }

        impl $(<$target>)? fmt::Debug for $name $(<$target>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.word.fmt(f)
            }
        }
    )*};
}

atomics! {
    AtomicBool: bool, { fetch_or };
    AtomicI32: i32, { fetch_add, fetch_sub };
    AtomicPtr<T>: *mut T, {};
    AtomicU8: u8, { fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor };
    AtomicU32: u32, { fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor };
    AtomicU64: u64, { fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max };
    AtomicUsize: usize, { fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor };
}
