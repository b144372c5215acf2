//! [`Drivers`]: who is to be woken when something comes for a set. For `shared.rs`, whose module says when that is.
//!
//! Wakers are code of a user's: none is called, cloned or dropped under the lock of the inbox.

use std::task::Waker;

use crate::task::{contain, discard, is_waker_of_task};

/// The wakers of those that have driven the set since something last came. There is hardly ever more than one.
#[derive(Default)]
pub(super) struct Drivers {
    first: Option<Waker>,
    others: Vec<Waker>,
}

impl Drivers {
    /// More than this are called, though nothing has come: most of them have gone.
    const MAX: usize = 32;

    pub(super) fn have(&self, waker: &Waker) -> bool {
        self.first.iter().chain(&self.others).any(|kept| kept.will_wake(waker))
    }

    /// Adds one. Returns those that are to be called in its place.
    pub(super) fn add(&mut self, waker: Waker) -> Self {
        let stale = if self.others.len() < Self::MAX { Self::default() } else { std::mem::take(self) };
        match &mut self.first {
            first @ None => *first = Some(waker),
            Some(_) => self.others.push(waker),
        }
        stale
    }

    /// Calls all. Not under the lock.
    pub(super) fn call(self) {
        for waker in self.first.into_iter().chain(self.others) {
            if is_waker_of_task(&waker) {
                waker.wake();
            } else {
                // One that the runtime did not make may panic, and that is not to be the waking task's end.
                discard(contain(|| waker.wake()));
            }
        }
    }

    /// Drops all, one by one: what the runtime did not make may panic. Not under the lock.
    pub(super) fn forget(self) {
        self.first.into_iter().chain(self.others).for_each(|waker| discard(contain(|| drop(waker))));
    }
}
