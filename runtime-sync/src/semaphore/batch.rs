//! The semaphore beneath [`Semaphore`](super::Semaphore), `Mutex`, `RwLock` and the bounded channel.
//!
//! It hands out *permits*, any number at a time, first come, first served. Its own code must never call a waker, drop
//! one, or panic while it holds its lock.
//!
//! # The protocol
//!
//! One word holds the number of free permits and two flags, and a list of waiters lies behind a lock.
//!
//! - `WAITING`: somebody waits. It changes only under the lock, and is set exactly while the list is not empty.
//! - `CLOSED`: no permits are given out any more. Set under the lock, and never taken back. The list is emptied from
//!   then on.
//!
//! **While `WAITING` is set there are no free permits.** A task that gives permits back gives them to the waiters then.
//! So:
//!
//! - *To acquire* is one exchange of the word that takes the permits, if there are enough. Nobody overtakes a waiter by
//!   it, because there are none then. Otherwise the acquirer takes the lock and looks again; if there are still too
//!   few, one exchange takes those that there are and sets `WAITING`, and the acquirer gets in line with the rest of
//!   its wish. If a release comes in between, one of the two exchanges fails and is done again with what the other has
//!   left.
//! - *To release* is one exchange that adds the permits, if nobody waits. Otherwise the releaser takes the lock and
//!   gives the permits to the waiters, the oldest first, and to the next one when that has all it wishes for. A waiter
//!   whose wish is complete is taken out, told [`GRANTED`], and woken after the lock is released. What is left when the
//!   list is empty goes into the word, with the same exchange that clears `WAITING`.
//! - *To cancel* is to leave the list, and to give to the others what one has been given.
//! - *To close* sets `CLOSED`, and takes all waiters out, who are told [`REFUSED`]. One that was granted its wish, and
//!   has not seen that yet, is refused as well. Who is refused gives back what it has when it sees that, or is dropped.
//!
//! Only the oldest waiter has a part of its wish: the others have nothing until it is complete.
//!
//! # Orderings
//!
//! To release is a release, to acquire an acquire: what was done with a permit is seen by the next who has it. If it
//! goes through the word, by the exchanges, which continue each other's release sequences. If it goes to a waiter, by
//! the lock, or by the word that the waiter is told.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Waker;

use runtime_core::coop;
use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use runtime_core::primitive::{Mutex, MutexGuard};
use runtime_core::task::holders;

use super::error::TryAcquireError;
use crate::waiters::{LISTED, List, TOLD, Waiter, WakeBatch};

/// A waiter has all the permits that it wished for.
pub(crate) const GRANTED: u8 = TOLD;
/// The semaphore was closed while it waited.
pub(crate) const REFUSED: u8 = TOLD + 1;

const CLOSED: usize = 1;
const WAITING: usize = 2;
/// One permit.
const ONE: usize = 4;

/// What a waiter wishes for.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    permits: usize,
    /// The number of these that it still lacks.
    lacks: usize,
}

impl Wish {
    fn has(self) -> usize {
        self.permits - self.lacks
    }
}

/// See the module.
pub(crate) struct Batch {
    word: AtomicUsize,
    waiters: Mutex<List<Wish>>,
}

impl Batch {
    /// More permits than this there cannot be.
    pub(crate) const MAX_PERMITS: usize = usize::MAX >> 3;

    /// What stands for it as long as anybody waits.
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// One with `permits` permits.
    ///
    /// # Panics
    ///
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub(crate) fn new(permits: usize) -> Self {
        assert_possible(permits);
        Self { word: AtomicUsize::new(permits * ONE), waiters: Mutex::new(List::new()) }
    }

    /// As [`new`](Self::new).
    #[cfg(not(loom))]
    #[track_caller]
    pub(crate) const fn const_new(permits: usize) -> Self {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore cannot have more than `MAX_PERMITS` permits");
        Self { word: AtomicUsize::new(permits * ONE), waiters: Mutex::new(List::new()) }
    }

    /// How many permits are free.
    pub(crate) fn available(&self) -> usize {
        self.word.load(Acquire) / ONE
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.word.load(Acquire) & CLOSED != 0
    }

    /// Takes `permits` permits, if they are free.
    #[inline]
    pub(crate) fn try_acquire(&self, permits: usize) -> Result<(), TryAcquireError> {
        assert_possible(permits);
        let mut word = self.word.load(Acquire);
        loop {
            if word & CLOSED != 0 {
                return Err(TryAcquireError::Closed);
            }
            if word / ONE < permits {
                return Err(TryAcquireError::NoPermits);
            }
            match self.word.compare_exchange_weak(word, word - permits * ONE, Acquire, Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }

    /// Takes permits, if that many are free and the task has budget, of which that costs a unit. Mostly it is enough:
    /// only the others need a waiter, which would have to be made and put into its place for nothing.
    #[inline]
    pub(crate) fn acquire_now(&self, permits: usize) -> bool {
        let Some(coop) = coop::proceed_now() else { return false };
        let is_taken = self.try_acquire(permits).is_ok();
        if is_taken {
            coop.made_progress();
        }
        is_taken
    }

    /// Takes permits, or gets in line for them. Returns what came of it, as a waiter is told: [`LISTED`] if it waits.
    ///
    /// # Safety
    ///
    /// The waiter is the caller's, in no list, stays where it is, and gets out by [`cancel`](Self::cancel) before its
    /// memory goes.
    #[cold]
    pub(super) unsafe fn acquire_or_wait(&self, permits: usize, waiter: &Waiter<Wish>, waker: &Waker) -> u8 {
        let waker = waker.clone();
        let mut waiters = self.waiters.lock();
        let mut word = self.word.load(Acquire);
        let told = loop {
            if word & CLOSED != 0 {
                break REFUSED;
            }
            let free = word / ONE;
            let (next, then) =
                if free >= permits { (word - permits * ONE, GRANTED) } else { ((word - free * ONE) | WAITING, LISTED) };
            match self.word.compare_exchange(word, next, Acquire, Acquire) {
                Ok(_) if then == GRANTED => break GRANTED,
                Ok(_) => {
                    let wish = Wish { permits, lacks: permits - free };
                    // SAFETY: passed on to the caller.
                    unsafe { waiters.push(waiter, Some(waker), wish) };
                    return LISTED;
                }
                Err(now) => word = now,
            }
        };
        drop(waiters);
        drop(waker);
        told
    }

    /// Sees to it that the waiter, if it is still in the list, is woken by this waker. Returns what it was told, or
    /// [`LISTED`].
    ///
    /// # Safety
    ///
    /// It is, or was, in the list of this semaphore.
    pub(super) unsafe fn refresh(&self, waiter: &Waiter<Wish>, waker: &Waker) -> u8 {
        let mut new = None;
        loop {
            let told = waiter.status();
            if told != LISTED {
                return told;
            }
            let mut waiters = self.waiters.lock();
            let told = waiter.status();
            // SAFETY: by the status it is in this list.
            if told != LISTED || unsafe { waiters.has_waker(waiter, waker) } {
                drop(waiters);
                return told;
            }
            if let Some(new) = new.take() {
                // SAFETY: as above.
                let old = unsafe { waiters.replace_waker(waiter, new) };
                drop(waiters);
                drop(old);
                return LISTED;
            }
            drop(waiters);
            new = Some(waker.clone());
        }
    }

    /// A waiter does not want to wait any more. Gives to others what it has.
    ///
    /// # Safety
    ///
    /// As [`refresh`](Self::refresh).
    pub(super) unsafe fn cancel(&self, waiter: &Waiter<Wish>, permits: usize) {
        let mut told = waiter.status();
        if told == LISTED {
            let mut waiters = self.waiters.lock();
            told = waiter.status();
            if told == LISTED {
                // SAFETY: by the status it is in this list.
                let (wish, waker) = unsafe { (waiters.data(waiter), waiters.remove(waiter)) };
                self.give(waiters, wish.has());
                drop(waker);
                return;
            }
        }
        match told {
            GRANTED => self.release(permits),
            // SAFETY: by the status it is in no list.
            _ => self.release(unsafe { waiter.own_data() }.has()),
        }
    }

    /// Gives permits back, or adds some.
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS) free. Then there are as many as before.
    #[inline]
    #[track_caller]
    pub(crate) fn release(&self, permits: usize) {
        if permits == 0 {
            return;
        }
        assert_possible(permits);
        let mut word = self.word.load(Relaxed);
        loop {
            if word & WAITING != 0 {
                return self.give(self.waiters.lock(), permits);
            }
            assert_possible(word / ONE + permits);
            match self.word.compare_exchange_weak(word, word + permits * ONE, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Gives back as many permits as the closure says, which is called under the lock.
    pub(crate) fn release_under_lock(&self, permits: impl FnOnce() -> usize) {
        let waiters = self.waiters.lock();
        let permits = permits();
        if permits > 0 {
            self.give(waiters, permits);
        }
    }

    /// Calls the closure under the lock.
    pub(crate) fn with_lock<R>(&self, f: impl FnOnce() -> R) -> R {
        let _waiters = self.waiters.lock();
        f()
    }

    /// Gives permits to those that wait, and what is left to the word, which also learns whether still somebody waits.
    #[cold]
    #[track_caller]
    fn give(&self, mut waiters: MutexGuard<'_, List<Wish>>, mut permits: usize) {
        let mut batch = WakeBatch::new();
        let mut fits = true;
        loop {
            while permits > 0 && !batch.is_full() {
                let is_complete = waiters.change_oldest(|wish| {
                    let given = permits.min(wish.lacks);
                    wish.lacks -= given;
                    permits -= given;
                    wish.lacks == 0
                });
                match is_complete {
                    Some(true) => batch.push(waiters.pop_oldest(GRANTED)),
                    Some(false) => debug_assert_eq!(permits, 0),
                    None => break,
                }
            }
            if waiters.is_empty() {
                fits = self.put(permits);
                permits = 0;
            }
            if permits == 0 {
                break;
            }
            MutexGuard::unlocked(&mut waiters, || batch.wake());
        }
        drop(waiters);
        batch.finish();
        assert!(fits, "a semaphore cannot have more than {} permits", Self::MAX_PERMITS);
    }

    /// Adds to the free permits, when the list is empty and locked. False if they would be too many.
    fn put(&self, permits: usize) -> bool {
        let mut word = self.word.load(Relaxed);
        loop {
            let free = word / ONE + permits;
            let fits = free <= Self::MAX_PERMITS;
            let next = if fits { (free * ONE) | (word & CLOSED) } else { word & !WAITING };
            match self.word.compare_exchange(word, next, Release, Relaxed) {
                Ok(_) => return fits,
                Err(now) => word = now,
            }
        }
    }

    /// Takes up to `permits` free permits away for good. Returns how many.
    pub(crate) fn forget(&self, permits: usize) -> usize {
        let mut word = self.word.load(Acquire);
        loop {
            let taken = permits.min(word / ONE);
            if taken == 0 {
                return 0;
            }
            match self.word.compare_exchange_weak(word, word - taken * ONE, AcqRel, Acquire) {
                Ok(_) => return taken,
                Err(now) => word = now,
            }
        }
    }

    /// Gives out no more permits, and refuses those that wait. What they have of their wish is free when they have seen
    /// that.
    pub(crate) fn close(&self) {
        let mut waiters = self.waiters.lock();
        self.word.fetch_or(CLOSED, AcqRel);
        let mut batch = WakeBatch::new();
        loop {
            while !batch.is_full() && !waiters.is_empty() {
                batch.push(waiters.pop_oldest(REFUSED));
            }
            if waiters.is_empty() {
                break;
            }
            MutexGuard::unlocked(&mut waiters, || batch.wake());
        }
        self.put(0);
        drop(waiters);
        batch.finish();
    }
}

impl Drop for Batch {
    /// Nobody borrows it. So if all permits are out, as those of an exclusive lock are, that one's guard was forgotten:
    /// the next lock at this address is not its.
    #[inline]
    fn drop(&mut self) {
        if self.word.load(Relaxed) / ONE == 0 {
            holders::lock_is_gone(self.address());
        }
    }
}

#[inline]
#[track_caller]
fn assert_possible(permits: usize) {
    assert!(permits <= Batch::MAX_PERMITS, "a semaphore cannot have more than {} permits", Batch::MAX_PERMITS);
}

// What is behind the lock is in order whenever foreign code runs, so a panic of that does no harm.
impl UnwindSafe for Batch {}
impl RefUnwindSafe for Batch {}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("permits", &self.available()).finish()
    }
}
