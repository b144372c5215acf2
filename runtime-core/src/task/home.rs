//! [`Home`]: the list that a thread owns, and the post for those of others.
//!
//! A task dies wherever its last reference goes, which on a busy runtime is as often on a thief's thread as on its
//! spawner's. The thief does not send each one home by itself: it chains them, and sends [`POST`] at a time, for the
//! price of one exchange.

use std::cell::Cell;
use std::ptr::NonNull;

use super::cell::Header;
use super::owner::{ArenaGuard, Chain, Owner};

/// So many dead tasks of one list are sent home together, at most.
const POST: u32 = if cfg!(loom) { 2 } else { 32 };

/// See the module. It must not be dropped before its post was sent ([`send_post`](Self::send_post)).
pub(crate) struct Home {
    /// `None` when it was abandoned.
    list: Cell<Option<NonNull<Owner>>>,
    post: Cell<Option<(NonNull<Owner>, Chain)>>,
}

impl Home {
    /// # Safety
    ///
    /// The calling thread owns this list for as long as the value lives, the list lives as long, and the value stays on
    /// this thread.
    pub(crate) unsafe fn new(list: NonNull<Owner>) -> Self {
        Self { list: Cell::new(Some(list)), post: Cell::new(None) }
    }

    /// The list is no longer this thread's: from now on all the dead are sent by post. Nothing else may be asked of it.
    pub(crate) fn abandon(&self) {
        self.list.set(None);
    }

    /// The list that this thread owns.
    #[inline]
    pub(crate) fn list(&self) -> ArenaGuard<'_> {
        let list = self.list.get().expect("not asked of a home that was abandoned");
        // SAFETY: the promise of `new`.
        unsafe { list.as_ref().guard() }
    }

    /// Frees a dead task, or puts it into the post.
    ///
    /// # Safety
    ///
    /// Nobody has a reference to the task; it is on this list of this thread's runtime.
    #[inline]
    pub(crate) unsafe fn release(&self, owner: NonNull<Owner>, task: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe {
            if Some(owner) == self.list.get() {
                self.list().reclaim(task);
            } else {
                self.post(owner, task);
            }
        }
    }

    /// # Safety
    ///
    /// As [`release`](Self::release).
    unsafe fn post(&self, owner: NonNull<Owner>, task: NonNull<Header>) {
        // SAFETY: the caller's promise, now and when the others were posted.
        unsafe {
            match self.post.take() {
                Some((to, mut chain)) if to == owner => {
                    chain.push(task);
                    if chain.len() < POST {
                        self.post.set(Some((to, chain)));
                    } else {
                        Owner::send_home(to, chain);
                    }
                }
                other => {
                    self.post.set(Some((owner, Chain::new(task))));
                    if let Some((to, chain)) = other {
                        Owner::send_home(to, chain);
                    }
                }
            }
        }
    }

    /// Sends what is in the post, and frees what others have sent here.
    #[inline]
    pub(crate) fn send_and_receive(&self) {
        self.send_post();
        let list = self.list();
        list.drain_returned();
        list.settle();
    }

    /// Gives back the memory that the list keeps for new tasks, when the thread of a spare worker goes.
    pub(crate) fn trim(&self) {
        self.list().trim();
    }

    /// Sends what is in the post.
    #[inline]
    pub(crate) fn send_post(&self) {
        if let Some((to, chain)) = self.post.take() {
            // SAFETY: what was posted is dead, and of that list.
            unsafe { Owner::send_home(to, chain) };
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        debug_assert!(self.post.take().is_none() || std::thread::panicking(), "dead tasks would be lost");
    }
}
