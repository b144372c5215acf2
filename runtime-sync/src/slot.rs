//! A place for a value that is written once, beside a flag that says whether it was.
//!
//! The flag is set by a release store after the value was written, and loaded by an acquire before it is looked at. Who
//! may write is the business of [`OnceCell`](crate::OnceCell) and [`SetOnce`](crate::SetOnce).

use std::mem::MaybeUninit;

use runtime_core::primitive::UnsafeCell;
use runtime_core::primitive::atomic::AtomicBool;
use runtime_core::primitive::atomic::Ordering::{Acquire, Relaxed, Release};

/// See the module.
pub(crate) struct Slot<T> {
    is_filled: AtomicBool,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a thread that has a reference may look at the value, and fill the slot with one from another thread.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}
// SAFETY: the slot owns its value.
unsafe impl<T: Send> Send for Slot<T> {}

impl<T> Slot<T> {
    #[cfg(not(loom))]
    pub(crate) const fn empty() -> Self {
        Self { is_filled: AtomicBool::new(false), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    #[cfg(not(loom))]
    pub(crate) const fn filled(value: T) -> Self {
        Self { is_filled: AtomicBool::new(true), value: UnsafeCell::new(MaybeUninit::new(value)) }
    }

    pub(crate) fn new(value: Option<T>) -> Self {
        let is_filled = AtomicBool::new(value.is_some());
        Self { is_filled, value: UnsafeCell::new(value.map_or(MaybeUninit::uninit(), MaybeUninit::new)) }
    }

    pub(crate) fn is_filled(&self) -> bool {
        self.is_filled.load(Acquire)
    }

    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: it is filled, and stays so while it is borrowed.
        self.is_filled().then(|| self.value.with(|value| unsafe { (*value).assume_init_ref() }))
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: as above, and nobody else has it.
        self.is_filled().then(|| self.value.with_mut(|value| unsafe { (*value).assume_init_mut() }))
    }

    /// Fills the slot.
    ///
    /// # Safety
    ///
    /// It must be empty, and nobody else may be filling it.
    pub(crate) unsafe fn fill(&self, value: T) -> &T {
        // SAFETY: by the contract, and as nobody looks into an empty slot.
        self.value.with_mut(|place| unsafe { (*place).write(value) });
        self.is_filled.store(true, Release);
        // SAFETY: it was filled just now.
        self.value.with(|value| unsafe { (*value).assume_init_ref() })
    }

    /// Empties the slot.
    pub(crate) fn take(&mut self) -> Option<T> {
        let was_filled = self.is_filled();
        self.is_filled.store(false, Relaxed);
        // SAFETY: it was filled, and is not any more.
        was_filled.then(|| self.value.with(|value| unsafe { (*value).assume_init_read() }))
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
