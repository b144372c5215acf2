//! Which runtimes a thread has entered: the stack behind the current one.
//!
//! Each guard that makes a runtime current has an entry on the thread's stack, and a ticket to find it by. The current
//! runtime is that of the topmost entry in force. Tickets are numbers that only grow, so what was entered since some
//! moment is what has a ticket from then or later.
//!
//! # Guards of users
//!
//! The guard of [`Handle::enter`](crate::runtime::Handle::enter) is an object of the user's, who may drop it in any
//! order, move it to where it lives longer than the code that made it, or forget it. So it only removes its own entry,
//! and does nothing if that is gone.
//!
//! # Frames
//!
//! Whatever code of the user's has entered in a frame ([`Frame`](crate::task::frame::Frame)), and not left, is removed
//! when the frame ends: the next task of the same thread must not find itself in another runtime than its own. (A join
//! handle's drop of another poller's waker shares the frame of the code that polls or drops the handle, if it has one.)
//!
//! The guards that the runtime itself makes ([`RuntimeGuard`]) are frames, too: one that ends takes with it what lies
//! above.
//!
//! An entry may hold the last count of a runtime, with whose hooks go the user's captures. So what a frame removes is
//! dropped with its panics contained: nobody further out expects any.
//!
//! The main future of `block_on` may hold a guard over several polls, because it is the only one that runs as this
//! caller. On a current-thread runtime tasks are polled in between, on the same thread. So its entries are *suspended*
//! when its poll ends, and in force again in the next ([`MainFuture`]).

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

use std::cell::RefCell;

use super::{ABOVE, CONTEXT, Context};
use crate::runtime::Inner;
use crate::task::{contain, discard, frame};

/// The runtimes that a thread has entered, and not left.
pub(super) struct Entered {
    /// Not dropped with the thread: that would make every access to the context ask whether it was. It is empty when a
    /// thread ends, unless somebody has forgotten a guard outside of any frame; then the entry leaks, as the guard did.
    entries: ManuallyDrop<RefCell<Entries>>,
}

struct Entry {
    ticket: u64,
    runtime: Arc<Inner>,
    in_force: bool,
}

/// Entries, from the oldest to the youngest. One alone takes no memory besides, as it mostly is: that of a worker's own
/// runtime, of a `block_on`, or of a guard elsewhere.
#[derive(Default)]
struct Entries {
    /// Older than the rest, if there is one. Filled on the stack only when there are no others.
    first: Option<Entry>,
    rest: Vec<Entry>,
}

impl Entries {
    const NONE: Self = Self { first: None, rest: Vec::new() };

    fn push(&mut self, entry: Entry) {
        if self.is_empty() {
            self.first = Some(entry);
        } else {
            self.rest.push(entry);
        }
    }

    fn remove(&mut self, leaves: impl Fn(&Entry) -> bool) -> Self {
        let first = self.first.take_if(|entry| leaves(entry));
        let mut rest = Vec::new();
        if !self.rest.is_empty() {
            rest.extend(self.rest.extract_if(.., |entry| leaves(entry)));
        }
        if self.is_empty() {
            // Without memory that could leak.
            self.rest = Vec::new();
        }
        Self { first, rest }
    }

    fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.is_empty()
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.first.iter().chain(&self.rest)
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.first.iter_mut().chain(&mut self.rest)
    }
}

impl Entered {
    pub(super) const fn new() -> Self {
        Self { entries: ManuallyDrop::new(RefCell::new(Entries::NONE)) }
    }
}

impl Context {
    /// Makes a runtime the current one. Returns the ticket of the entry.
    fn enter(&self, runtime: Arc<Inner>) -> u64 {
        let ticket = frame::draw_ticket(&ABOVE);
        self.change(|entries| entries.push(Entry { ticket, runtime, in_force: true }));
        ticket
    }

    /// Removes the entries with these tickets, for the caller to drop. Then everything is in place: a last count of a
    /// runtime may be among them, whose drop runs code of the user's.
    #[must_use]
    fn leave(&self, leaves: impl Fn(u64) -> bool) -> Entries {
        self.change(|entries| entries.remove(|entry| leaves(entry.ticket)))
    }

    fn set_in_force(&self, since: u64, in_force: bool) {
        self.change(|entries| {
            entries.iter_mut().filter(|entry| entry.ticket >= since).for_each(|entry| entry.in_force = in_force);
        });
    }

    /// Changes the stack, and what follows from it. The closure must not run code of the user's.
    fn change<R>(&self, f: impl FnOnce(&mut Entries) -> R) -> R {
        let mut entries = self.entered.entries.borrow_mut();
        let result = f(&mut entries);
        let current = entries.iter().rev().find(|entry| entry.in_force);
        self.set_runtime(current.map_or(ptr::null(), |entry| Arc::as_ptr(&entry.runtime)));
        result
    }
}

/// Makes a runtime the current one until it is dropped, or forgotten until the frame around it ends. For users.
#[derive(Debug)]
pub(crate) struct UserGuard {
    ticket: u64,
    /// Its entry is on this thread's stack: it must be dropped here.
    _stays: PhantomData<*const ()>,
}

// SAFETY: nothing can be done with a shared guard but to print the ticket.
unsafe impl Sync for UserGuard {}

impl UserGuard {
    pub(crate) fn enter(runtime: Arc<Inner>) -> Self {
        Self { ticket: CONTEXT.with(|context| context.enter(runtime)), _stays: PhantomData }
    }
}

impl Drop for UserGuard {
    fn drop(&mut self) {
        drop(CONTEXT.with(|context| context.leave(|ticket| ticket == self.ticket)));
    }
}

/// Makes a runtime the current one until it is dropped, and takes with it what was entered meanwhile. For the runtime's
/// own code, which drops it where it was made.
#[derive(Debug)]
pub(crate) struct RuntimeGuard {
    ticket: u64,
}

impl RuntimeGuard {
    pub(crate) fn enter(runtime: Arc<Inner>) -> Self {
        Self { ticket: CONTEXT.with(|context| context.enter(runtime)) }
    }
}

impl Drop for RuntimeGuard {
    fn drop(&mut self) {
        end_frame(self.ticket);
    }
}

/// Removes what was entered since that ticket was the next one.
#[cold]
pub(super) fn end_frame(since: u64) {
    let Entries { first, rest } = CONTEXT.with(|context| context.leave(|ticket| ticket >= since));
    // One by one: each may panic.
    let drop_one = |entry: Entry| discard(contain(|| drop(entry)));
    first.into_iter().for_each(drop_one);
    rest.into_iter().for_each(drop_one);
}

/// The main future of a `block_on`: what it has entered in one poll is in force in the next one, and not in between.
/// Made inside of the `block_on`'s own [`RuntimeGuard`], which ends all that.
#[derive(Debug)]
pub(crate) struct MainFuture {
    since: u64,
}

impl MainFuture {
    pub(crate) fn new() -> Self {
        Self { since: frame::next_ticket() }
    }

    /// Begins a poll, which ends when the guard is dropped.
    pub(crate) fn begin_poll(&self) -> impl Drop + use<> {
        struct Suspend(u64);
        impl Drop for Suspend {
            fn drop(&mut self) {
                change_since(self.0, false);
            }
        }
        change_since(self.since, true);
        Suspend(self.since)
    }
}

/// If anything has been entered since then.
fn change_since(since: u64, in_force: bool) {
    if frame::next_ticket() != since {
        CONTEXT.with(|context| context.set_in_force(since, in_force));
    }
}
