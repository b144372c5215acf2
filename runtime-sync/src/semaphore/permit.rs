//! What one has who has acquired permits.

use std::ptr;
use std::sync::Arc;

use super::Semaphore;

macro_rules! permit {
    ($(#[$meta:meta])* $name:ident $(<$life:lifetime>)?, $semaphore:ty, $is_same:expr) => {
        $(#[$meta])*
        #[must_use = "the permits are given back when this is dropped"]
        #[derive(Debug)]
        pub struct $name $(<$life>)? {
            semaphore: $semaphore,
            permits: usize,
        }

        impl $(<$life>)? $name $(<$life>)? {
            pub(super) fn new(semaphore: $semaphore, permits: usize) -> Self {
                Self { semaphore, permits }
            }

            /// Does not give the permits back: the semaphore has fewer from now on.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Takes the permits of another into this one.
            ///
            /// # Panics
            ///
            /// If they are of another semaphore. Both keep their permits then.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    $is_same(&self.semaphore, &other.semaphore),
                    "permits of different semaphores cannot be merged"
                );
                self.permits += std::mem::take(&mut other.permits);
            }

            /// Takes `n` permits out of this one, into one of their own. `None` if there are not as many.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                Some(Self { semaphore: self.semaphore.clone(), permits: n })
            }

            /// How many permits these are.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl $(<$life>)? Drop for $name $(<$life>)? {
            fn drop(&mut self) {
                self.semaphore.batch.release(self.permits);
            }
        }
    };
}

permit! {
    /// Permits of a [`Semaphore`], which are given back when this is dropped.
    SemaphorePermit<'a>, &'a Semaphore, |a: &&Semaphore, b: &&Semaphore| ptr::eq(*a, *b)
}

permit! {
    /// Permits of a [`Semaphore`] that they keep alive. They are given back when this is dropped.
    OwnedSemaphorePermit, Arc<Semaphore>, Arc::ptr_eq
}

impl SemaphorePermit<'_> {
    /// The semaphore that these are permits of.
    pub fn semaphore(&self) -> &Semaphore {
        self.semaphore
    }
}

impl OwnedSemaphorePermit {
    /// The semaphore that these are permits of.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}
