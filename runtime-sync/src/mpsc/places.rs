//! The places of a bounded channel: a permit of a [semaphore](Batch) for each, beside a box for those that come back.
//!
//! A sender takes a permit, the receiver gives one back for each value that it has taken out. If both did so in one
//! word, each would take the word's cache line away from the other with each value. So the receiver puts the permits
//! into a box of its own, and the senders empty that when the semaphore has too few.
//!
//! A channel with fewer places than a block of its list has slots does without a box: that would be emptied for every
//! few values, which costs more than it spares.
//!
//! # The protocol
//!
//! The box is one word: how many permits are in it, and how many senders keep it *shut*.
//!
//! - **A sender** that takes what the semaphore has does not look at the box. Else it shuts the box and takes out what
//!   is in it, with one exchange, and gives that to the semaphore. It does both under the semaphore's lock. Then it
//!   tries, or waits, as with any semaphore. When it is through it opens the box.
//! - **The receiver** puts permits into the box by an exchange, if the box is not shut. Else it gives them to the
//!   semaphore itself. So does a sender that has not used a permit.
//! - *To close* the channel is to shut the box for ever, and then to close the semaphore.
//! - *To count* the free places is to look into the box, and then at the semaphore, under the lock.
//!
//! So **while the box is shut it is empty**. From this follows what the semaphore promises:
//!
//! - While a sender waits, permits that come back go to the semaphore, and so to those that wait, in turn.
//! - A sender that is told that there is no place has kept the box shut while it tried, and when it began no permits
//!   were on the way from the box to the semaphore, because of the lock. So the semaphore had all that were free.
//! - When the channel is closed the semaphore has all permits that are free.
//!
//! A future that is forgotten while it waits leaves the box shut, and then all permits go through the semaphore.
//!
//! # Orderings
//!
//! What changes the word are exchanges, so no permit is missed. To put permits in is a release and to take them out an
//! acquire: as in the semaphore, what was done with a permit is seen by the next sender that has it. To count them is
//! an acquire, too: a permit that is seen in the box must not be seen in the semaphore, out of which it came.

use runtime_core::primitive::atomic::AtomicU64;
use runtime_core::primitive::atomic::Ordering::{Acquire, Relaxed, Release};

use super::block;
use crate::semaphore::batch::Batch;
use crate::semaphore::{AcquireError, Permits, TryAcquireError};

/// See the module.
pub(super) struct Places {
    semaphore: Batch,
    returned: Returned,
}

impl Places {
    /// # Panics
    ///
    /// If they are more than a semaphore may have.
    #[track_caller]
    pub(super) fn new(bound: usize) -> Self {
        Self { semaphore: Batch::new(bound), returned: Returned::new(bound) }
    }

    /// How many there are in all.
    pub(super) fn bound(&self) -> usize {
        self.returned.bound
    }

    fn has_box(&self) -> bool {
        self.returned.bound >= block::CAPACITY
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        if !self.has_box() {
            return self.semaphore.available();
        }
        // The box first: what the senders take meanwhile is missed then, and nothing counted twice.
        self.semaphore.with_lock(|| self.returned.count() + self.semaphore.available())
    }

    /// Whether all are free, when this has been closed.
    pub(super) fn are_all_free(&self) -> bool {
        self.semaphore.available() == self.returned.bound
    }

    pub(super) fn is_closed(&self) -> bool {
        self.semaphore.is_closed()
    }

    /// Takes `n` places, if they are free and nobody waits.
    #[inline]
    pub(super) fn try_acquire(&self, n: usize) -> Result<(), TryAcquireError> {
        match self.semaphore.try_acquire(n) {
            Err(TryAcquireError::NoPermits) if self.has_box() => self.try_acquire_all(n),
            result => result,
        }
    }

    #[cold]
    fn try_acquire_all(&self, n: usize) -> Result<(), TryAcquireError> {
        let _shut = self.shut();
        self.semaphore.try_acquire(n)
    }

    /// Takes `n` places, if the semaphore has them, and the task has budget. Mostly it is enough.
    #[inline]
    pub(super) fn acquire_now(&self, n: usize) -> bool {
        self.semaphore.acquire_now(n)
    }

    /// Waits for `n` places.
    pub(super) async fn acquire(&self, n: usize) -> Result<(), AcquireError> {
        let _shut = self.shut();
        self.semaphore.acquire_as(n, Permits::OfChannel).await
    }

    /// The receiver has taken `n` values out.
    #[inline]
    pub(super) fn give_back(&self, n: usize) {
        if !self.has_box() {
            self.semaphore.release(n);
        } else if !self.returned.put(n) {
            self.give_to_semaphore(n);
        }
    }

    #[cold]
    fn give_to_semaphore(&self, n: usize) {
        if !self.returned.is_shut() {
            // Then it is full, as no sender has come by while four thousand million values were received. (Or it has
            // been opened just now, for which this does no harm.)
            drop(self.shut());
        }
        self.semaphore.release(n);
    }

    /// Gives up `n` places that have not been used.
    pub(super) fn release(&self, n: usize) {
        self.semaphore.release(n);
    }

    /// Refuses those that wait, and all that come.
    pub(super) fn close(&self) {
        std::mem::forget(self.shut());
        self.semaphore.close();
    }

    /// Shuts the box until the guard is dropped, if there is one, and gives what was in it to the semaphore.
    #[cold]
    fn shut(&self) -> Option<Shut<'_>> {
        self.has_box().then(|| {
            self.semaphore.release_under_lock(|| self.returned.shut());
            Shut(&self.returned)
        })
    }
}

/// Keeps the box shut.
struct Shut<'a>(&'a Returned);

impl Drop for Shut<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// The box: in the upper half of the word the number of permits, in the lower that of the [`Shut`]s. It has a cache
/// line to itself, and to what the receiver looks at beside it.
#[repr(align(64))]
struct Returned {
    word: AtomicU64,
    /// How many places there are in all.
    bound: usize,
}

/// One permit.
const ONE: u64 = 1 << 32;
/// The lower half.
const SHUT: u64 = ONE - 1;

impl Returned {
    fn new(bound: usize) -> Self {
        Self { word: AtomicU64::new(0), bound }
    }

    /// How many permits are in it.
    fn count(&self) -> usize {
        (self.word.load(Acquire) / ONE) as usize
    }

    fn is_shut(&self) -> bool {
        self.word.load(Relaxed) & SHUT != 0
    }

    /// Puts `n` permits in. False if it is shut, or they do not fit.
    #[inline]
    fn put(&self, n: usize) -> bool {
        let put = |word: u64| {
            let permits = u64::from(u32::try_from(n).ok()?) * ONE;
            if word & SHUT == 0 { word.checked_add(permits) } else { None }
        };
        self.word.fetch_update(Release, Relaxed, put).is_ok()
    }

    /// Shuts it once more. Returns how many permits were in it, which are the caller's.
    fn shut(&self) -> usize {
        let before = self.word.fetch_update(Acquire, Relaxed, |word| Some((word & SHUT) + 1));
        (before.expect("it never refuses") / ONE) as usize
    }

    /// Takes back one [`shut`](Self::shut).
    fn open(&self) {
        self.word.fetch_sub(1, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BOUND: usize = block::CAPACITY;

    /// How many are in the box, and how many in the semaphore.
    fn divided(places: &Places) -> (usize, usize) {
        (places.returned.count(), places.semaphore.available())
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_full_box_is_emptied() {
        let full = u32::MAX as usize;
        let places = Places::new(2 * full);
        places.try_acquire(full + 2).unwrap();
        places.give_back(full);
        assert_eq!(divided(&places), (full, full - 2));
        places.give_back(2);
        assert_eq!(divided(&places), (0, 2 * full));
        assert_eq!(places.free(), places.bound());
    }

    #[test]
    fn what_is_returned_is_found_by_the_next_that_needs_it() {
        let places = Places::new(BOUND);
        places.try_acquire(BOUND).unwrap();
        places.give_back(1);
        assert_eq!(divided(&places), (1, 0));
        assert_eq!(places.free(), 1);
        assert_eq!(places.try_acquire(2), Err(TryAcquireError::NoPermits));
        assert!(places.try_acquire(1).is_ok());
        assert!(!places.returned.is_shut(), "nobody waits");
    }

    #[test]
    fn few_places_come_back_to_the_semaphore() {
        let places = Places::new(BOUND - 1);
        places.try_acquire(BOUND - 1).unwrap();
        places.give_back(1);
        assert_eq!(divided(&places), (0, 1));
        assert_eq!(places.try_acquire(2), Err(TryAcquireError::NoPermits));
        places.close();
        places.give_back(BOUND - 2);
        assert!(places.are_all_free());
    }

    #[test]
    fn when_closed_all_is_in_the_semaphore() {
        let places = Places::new(BOUND);
        places.try_acquire(3).unwrap();
        places.give_back(1);
        places.close();
        assert!(!places.are_all_free());
        places.give_back(1);
        places.release(1);
        assert!(places.are_all_free());
        assert_eq!(places.try_acquire(1), Err(TryAcquireError::Closed));
    }
}
