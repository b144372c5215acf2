//! A list of those that wait: intrusive, doubly linked, first in first out.
//!
//! A future that waits has a [`Waiter`] in itself, and links that into a [`List`], which lies behind a lock of the
//! primitive's. So waiting allocates nothing, and a future that is dropped takes itself out.
//!
//! # Who may touch a waiter
//!
//! The waiter's *status* is one atomic word. [`IDLE`] and the words that say what a waiter was told mean that it is in
//! no list, and belongs to its future alone. [`LISTED`] means that it is in a list, and everything in it belongs to
//! whoever has the lock of that list.
//!
//! - The future links it, under the lock.
//! - Somebody else takes it out under the lock, first its waker and then, as the last touch, by a release store of what
//!   the waiter is told. From then on the future may be dropped, without the lock.
//! - The future itself takes it out under the lock.
//!
//! So a future that loads another status than `LISTED`, with an acquire, needs no lock. One that loads `LISTED` takes
//! the lock and looks again.
//!
//! Wakers are called, cloned and dropped outside of the lock: those that are taken out are collected in a
//! [`WakeBatch`].

use std::marker::PhantomPinned;
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;
use std::task::Waker;

use runtime_core::primitive::UnsafeCell;
use runtime_core::primitive::atomic::AtomicU8;
use runtime_core::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use smallvec::SmallVec;

use crate::panics::Panics;

/// In no list, and told nothing.
pub(crate) const IDLE: u8 = 0;
/// In the list.
pub(crate) const LISTED: u8 = 1;
/// The least of the words that a waiter may be told. What they mean is the primitive's.
pub(crate) const TOLD: u8 = 2;

/// The part of a future that lies in the list. See the module.
pub(crate) struct Waiter<T> {
    status: AtomicU8,
    /// Written when it is put into a list: a future that does not wait writes a byte.
    inner: UnsafeCell<MaybeUninit<Inner<T>>>,
    _pin: PhantomPinned,
}

struct Inner<T> {
    older: Option<NonNull<Waiter<T>>>,
    younger: Option<NonNull<Waiter<T>>>,
    waker: Option<Waker>,
    /// What the primitive wants to know of it.
    data: T,
}

// SAFETY: whoever touches the inner part has the lock, or knows that nobody else does (see the module). What moves
// between threads is the waker and the data.
unsafe impl<T: Send> Send for Waiter<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Waiter<T> {}

impl<T: Copy> Waiter<T> {
    /// One that is in no list.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { status: AtomicU8::new(IDLE), inner: UnsafeCell::new(MaybeUninit::uninit()), _pin: PhantomPinned }
    }

    /// [`LISTED`], or else something that stays until the future itself does something: then the waiter is its own.
    pub(crate) fn status(&self) -> u8 {
        self.status.load(Acquire)
    }

    /// What the primitive wants to know of it.
    ///
    /// # Safety
    ///
    /// The caller is its future, and has seen that it is in no list. It has been in one.
    pub(crate) unsafe fn own_data(&self) -> T {
        // SAFETY: by the contract nobody else touches it, and it was written.
        unsafe { self.look(|inner| inner.data) }
    }
}

impl<T> Waiter<T> {
    /// # Safety
    ///
    /// It is or was in a list, and the caller may touch it, as the module says.
    unsafe fn look<R>(&self, f: impl FnOnce(&Inner<T>) -> R) -> R {
        // SAFETY: by the contract it was written, and nobody else changes it.
        self.inner.with(|inner| f(unsafe { (*inner).assume_init_ref() }))
    }

    /// # Safety
    ///
    /// As [`look`](Self::look).
    unsafe fn change<R>(&self, f: impl FnOnce(&mut Inner<T>) -> R) -> R {
        // SAFETY: by the contract it was written, and nobody else touches it.
        self.inner.with_mut(|inner| f(unsafe { (*inner).assume_init_mut() }))
    }
}

#[cfg(loom)]
impl<T> Drop for Waiter<T> {
    /// Shows a model that nobody touches it any more.
    fn drop(&mut self) {
        self.inner.with_mut(|_| ());
    }
}

/// The list. It must lie behind a lock, and be empty when it is dropped.
pub(crate) struct List<T> {
    oldest: Option<NonNull<Waiter<T>>>,
    youngest: Option<NonNull<Waiter<T>>>,
}

// SAFETY: the list is reached under its lock only, and its waiters may be touched by any thread that has it.
unsafe impl<T: Send> Send for List<T> {}

/// # Safety
///
/// A waiter is always given to the list that it was pushed to, under the same lock.
impl<T: Copy> List<T> {
    pub(crate) const fn new() -> Self {
        Self { oldest: None, youngest: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.oldest.is_none()
    }

    /// Adds a waiter behind all others.
    ///
    /// # Safety
    ///
    /// The waiter must not be [`LISTED`], and must be taken out, by whomever, before its memory goes. The caller must
    /// be its future.
    pub(crate) unsafe fn push(&mut self, waiter: &Waiter<T>, waker: Option<Waker>, data: T) {
        debug_assert_ne!(waiter.status.load(Relaxed), LISTED);
        let this = NonNull::from(waiter);
        // SAFETY: by the contract it is the caller's.
        // What was there before is nothing, or has no waker any more: nothing to drop.
        waiter.inner.with_mut(|inner| unsafe {
            (*inner).write(Inner { older: self.youngest, younger: None, waker, data });
        });
        // Relaxed: others look at it under the lock.
        waiter.status.store(LISTED, Relaxed);
        match self.youngest.replace(this) {
            // SAFETY: it is in the list, whose lock the caller has.
            Some(before) => unsafe { before.as_ref().change(|inner| inner.younger = Some(this)) },
            None => self.oldest = Some(this),
        }
    }

    /// What the primitive wants to know of the oldest waiter.
    pub(crate) fn oldest(&self) -> Option<T> {
        // SAFETY: it is in the list, whose lock the caller has.
        self.oldest.map(|waiter| unsafe { waiter.as_ref().look(|inner| inner.data) })
    }

    /// Lets the closure change what the primitive wants to know of the oldest waiter.
    pub(crate) fn change_oldest<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: it is in the list, whose lock the caller has, and the closure has no way to the waiter but this one.
        self.oldest.map(|waiter| unsafe { waiter.as_ref().change(|inner| change(&mut inner.data)) })
    }

    /// What the primitive wants to know of this waiter.
    ///
    /// # Safety
    ///
    /// It must be in this list.
    pub(crate) unsafe fn data(&self, waiter: &Waiter<T>) -> T {
        // SAFETY: it is in the list, whose lock the caller has.
        unsafe { waiter.look(|inner| inner.data) }
    }

    /// As [`oldest`](Self::oldest), of the youngest.
    pub(crate) fn youngest(&self) -> Option<T> {
        // SAFETY: as in `oldest`.
        self.youngest.map(|waiter| unsafe { waiter.as_ref().look(|inner| inner.data) })
    }

    /// Takes the oldest waiter out, and tells it something. The caller wakes it, outside of the lock.
    pub(crate) fn pop_oldest(&mut self, told: u8) -> Option<Waker> {
        self.pop(self.oldest?, told)
    }

    /// As [`pop_oldest`](Self::pop_oldest), of the youngest.
    pub(crate) fn pop_youngest(&mut self, told: u8) -> Option<Waker> {
        self.pop(self.youngest?, told)
    }

    fn pop(&mut self, waiter: NonNull<Waiter<T>>, told: u8) -> Option<Waker> {
        debug_assert!(told >= TOLD);
        // SAFETY: it is in the list, so its memory is there until the store below.
        let waiter = unsafe { waiter.as_ref() };
        let waker = self.unlink(waiter);
        waiter.status.store(told, Release);
        waker
    }

    /// Takes this waiter out, if it is in the list. The caller drops the waker, outside of the lock.
    ///
    /// # Safety
    ///
    /// It must not be in another list.
    pub(crate) unsafe fn remove(&mut self, waiter: &Waiter<T>) -> Option<Waker> {
        if waiter.status.load(Relaxed) != LISTED {
            return None;
        }
        let waker = self.unlink(waiter);
        waiter.status.store(IDLE, Relaxed);
        waker
    }

    fn unlink(&mut self, waiter: &Waiter<T>) -> Option<Waker> {
        // SAFETY: it is in the list, whose lock the caller has; here and below.
        let (older, younger, waker) =
            unsafe { waiter.change(|inner| (inner.older, inner.younger, inner.waker.take())) };
        match older {
            // SAFETY: as above.
            Some(older) => unsafe { older.as_ref().change(|inner| inner.younger = younger) },
            None => self.oldest = younger,
        }
        match younger {
            // SAFETY: as above.
            Some(younger) => unsafe { younger.as_ref().change(|inner| inner.older = older) },
            None => self.youngest = older,
        }
        waker
    }

    /// Whether the waiter, which is in the list, has this waker.
    ///
    /// # Safety
    ///
    /// It must be in this list.
    pub(crate) unsafe fn has_waker(&self, waiter: &Waiter<T>, waker: &Waker) -> bool {
        // SAFETY: as in `unlink`.
        unsafe { waiter.look(|inner| inner.waker.as_ref().is_some_and(|own| own.will_wake(waker))) }
    }

    /// Gives the waiter, which is in the list, another waker. The caller drops the old one, outside of the lock.
    ///
    /// # Safety
    ///
    /// It must be in this list.
    pub(crate) unsafe fn replace_waker(&mut self, waiter: &Waiter<T>, waker: Waker) -> Option<Waker> {
        // SAFETY: as in `unlink`.
        unsafe { waiter.change(|inner| inner.waker.replace(waker)) }
    }
}

/// As many waiters are taken out under one hold of the lock: enough to make the lock cheap, few enough that another
/// thread waits for a microsecond at most.
const WAKE_BATCH: usize = if cfg!(loom) { 1 } else { 32 };

/// Wakers that were taken out under a lock, to be called without it.
pub(crate) struct WakeBatch {
    wakers: SmallVec<[Option<Waker>; WAKE_BATCH]>,
    /// Of wakers, kept until all are called: others must not wait for ever because of one.
    panics: Panics,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self { wakers: SmallVec::new(), panics: Panics::new() }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.wakers.len() >= WAKE_BATCH
    }

    pub(crate) fn push(&mut self, waker: Option<Waker>) {
        if waker.is_some() {
            debug_assert!(!self.is_full(), "it would have to allocate, under a lock");
            self.wakers.push(waker);
        }
    }

    /// Wakes all that are in the batch, oldest first. Not to be called under a lock.
    pub(crate) fn wake(&mut self) {
        if let [waker] = &mut self.wakers[..] {
            // Mostly it is one, for which there is nothing to be gathered.
            if let Some(waker) = waker.take() {
                self.panics.catch(|| waker.wake());
            }
        } else if let Err(panic) = runtime_core::wake_all(&mut self.wakers) {
            self.panics.keep(panic);
        }
        self.wakers.clear();
    }

    /// Wakes all that are left, and passes on the first panic, unless the thread is panicking already.
    // By reference, lest all of it be copied.
    pub(crate) fn finish(&mut self) {
        self.wake();
        mem::replace(&mut self.panics, Panics::new()).pass_on();
    }
}
