//! What both kinds of channel have in common: the [list](super::list) of values, the counts of senders, and the
//! receiver's waker.
//!
//! # When a channel is over
//!
//! The receiver has all that there will ever be when it finds no value, and then
//!
//! - there are no senders. A sender's last act is to leave the count, by a release; so a thread that sees a count of
//!   zero, and then finds no value, has missed none; or
//! - the receiver was closed, and nobody can send what was promised a place before. In a bounded channel that is so
//!   when all permits are back: a permit comes back when its value has been received, or it was dropped. In an
//!   unbounded one, when no claimed slot of the list is left, and none can be claimed because the list is closed.
//!
//! # How the receiver waits
//!
//! It leaves its waker in a cell, which has a lock. Then it notes in the list which slot it waits for. Then it looks
//! once more for all that could end the wait. The thread that ends it, by filling that slot, by being the last sender
//! to go, or by giving back the last permit of a closed channel, does that first and then takes the waker out. So one
//! of them sees the other: under the lock, if not before. A sender that is slow may find the waker of a later wait, and
//! wake that once too often, with the waker of that wait gone; the receiver looks again then, and leaves it anew.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::{Context, Poll, Waker, ready};

use runtime_core::coop;
use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use runtime_core::primitive::{Mutex, UnsafeCell};
use runtime_core::task::ChannelKind;
use runtime_core::task::waits::{self, Leaf};

use super::error::TryRecvError;
use super::list::{Head, List};
use super::places::Places;
use crate::blocking;
use crate::panics::Panics;
use crate::semaphore::Permits;
use crate::semaphore::batch::Batch;

/// How many values may be in a channel.
pub(super) trait Limit {
    /// Values have been received.
    fn give_back(&self, n: usize);
    /// Whether no value is in the channel or on its way there, when it has been closed.
    fn is_idle(&self, is_empty: impl FnOnce() -> bool) -> bool;
    /// Promises nobody a place from now on.
    fn close(&self, close_list: impl FnOnce());
    /// Whether that has been called.
    fn is_closed(&self, is_list_closed: impl FnOnce() -> bool) -> bool;
}

impl Limit for Places {
    fn give_back(&self, n: usize) {
        Places::give_back(self, n);
    }

    fn is_idle(&self, _: impl FnOnce() -> bool) -> bool {
        self.are_all_free()
    }

    fn close(&self, _: impl FnOnce()) {
        Places::close(self);
    }

    fn is_closed(&self, _: impl FnOnce() -> bool) -> bool {
        Places::is_closed(self)
    }
}

/// An unbounded channel closes the list itself.
pub(super) struct Unbounded;

impl Limit for Unbounded {
    fn give_back(&self, _: usize) {}

    fn is_idle(&self, is_empty: impl FnOnce() -> bool) -> bool {
        is_empty()
    }

    fn close(&self, close_list: impl FnOnce()) {
        close_list();
    }

    fn is_closed(&self, is_list_closed: impl FnOnce() -> bool) -> bool {
        is_list_closed()
    }
}

/// See the module.
#[repr(C)]
pub(super) struct Channel<T, L> {
    list: List<T>,
    pub(super) limit: L,
    pub(super) senders: AtomicUsize,
    pub(super) weak_senders: AtomicUsize,
    /// Never has a permit; those that wait for the close wait for one.
    closed: Batch,
    waker: Mutex<Option<Waker>>,
    /// Touched by the receiver, which hands out references to it as to itself.
    receiver: UnsafeCell<Receiving<T>>,
}

struct Receiving<T> {
    head: Head<T>,
    is_closed: bool,
}

// SAFETY: values move from thread to thread; to reach those of the list takes a claimed slot, or the receiver. All else
// may be shared.
unsafe impl<T: Send, L: Send> Send for Channel<T, L> {}
// SAFETY: as above.
unsafe impl<T: Send, L: Sync> Sync for Channel<T, L> {}

// Values are not looked at here. All else is in order whenever foreign code runs, so a panic of that does no harm.
impl<T, L> UnwindSafe for Channel<T, L> {}
impl<T, L> RefUnwindSafe for Channel<T, L> {}

impl<T, L: Limit> Channel<T, L> {
    /// One with one sender.
    pub(super) fn new(limit: L) -> Self {
        let (list, head) = List::new();
        Self {
            list,
            limit,
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
            closed: Batch::new(0),
            waker: Mutex::new(None),
            receiver: UnsafeCell::new(Receiving { head, is_closed: false }),
        }
    }

    /// Puts a value in. It comes back if the list is closed.
    #[inline]
    pub(super) fn push(&self, value: T) -> Result<(), T> {
        if self.list.push(value)? {
            self.wake();
        }
        Ok(())
    }

    /// Wakes the receiver, if it waits.
    #[cold]
    fn wake(&self) {
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether sends are refused.
    pub(super) fn is_closed(&self) -> bool {
        self.limit.is_closed(|| self.list.is_closed())
    }

    /// Waits until the receiver is closed.
    pub(super) async fn closed(&self) {
        let closed = self.closed.acquire_as(1, Permits::OfChannel).await;
        debug_assert!(closed.is_err());
    }

    pub(super) fn add_sender(&self) {
        self.senders.fetch_add(1, Relaxed);
    }

    /// Unless there is none.
    pub(super) fn try_add_sender(&self) -> bool {
        self.senders.fetch_update(AcqRel, Relaxed, |senders| (senders != 0).then_some(senders + 1)).is_ok()
    }

    pub(super) fn remove_sender(&self) {
        if self.senders.fetch_sub(1, AcqRel) == 1 {
            self.wake();
        }
    }
}

impl<T> Channel<T, Places> {
    /// Permits are dropped. The receiver of a closed channel may wait for that.
    pub(super) fn give_up(&self, permits: usize) {
        self.limit.release(permits);
        self.wake_if_over();
    }

    /// The receiver of a closed channel waits for the last permit.
    pub(super) fn wake_if_over(&self) {
        if self.limit.is_closed() && self.limit.are_all_free() {
            self.wake();
        }
    }
}

/// What the receiver does.
///
/// # Safety
///
/// These are to be called by the receiver, which there is one of: with `&mut` where it is borrowed so, and with `&`
/// else.
impl<T, L: Limit> Channel<T, L> {
    /// # Safety
    ///
    /// The caller has the receiver exclusively.
    unsafe fn with_receiver<R>(&self, f: impl FnOnce(&mut Receiving<T>) -> R) -> R {
        // SAFETY: by the contract.
        self.receiver.with_mut(|receiver| f(unsafe { &mut *receiver }))
    }

    /// The next value, or that there is none and will be none.
    fn look(&self, receiver: &mut Receiving<T>) -> Option<Option<T>> {
        let head = &mut receiver.head;
        let value = self.list.pop(head);
        if value.is_some() {
            return Some(value);
        }
        let is_over =
            self.senders.load(Acquire) == 0 || receiver.is_closed && self.limit.is_idle(|| self.list.is_empty(head));
        // It may have come before the end.
        is_over.then(|| self.list.pop(head))
    }

    /// Takes up to `limit` values. None if there is none now; fewer than one if there will be none.
    #[inline(always)] // into `poll_take`, which is called for each value
    fn take(&self, receiver: &mut Receiving<T>, limit: usize, mut each: impl FnMut(T)) -> Option<usize> {
        let mut taken = 0;
        let mut is_over = false;
        while taken < limit {
            let value = if taken == 0 { self.look(receiver) } else { self.list.pop(&mut receiver.head).map(Some) };
            let Some(value) = value else { break };
            let Some(value) = value else {
                is_over = true;
                break;
            };
            taken += 1;
            each(value);
        }
        if taken > 0 {
            self.limit.give_back(taken);
        }
        (taken > 0 || is_over).then_some(taken)
    }

    /// Takes up to `limit` values, or waits for one. None if there will be none.
    ///
    /// # Safety
    ///
    /// The caller has the receiver exclusively.
    pub(super) unsafe fn poll_take(&self, cx: &mut Context<'_>, limit: usize, mut each: impl FnMut(T)) -> Poll<usize> {
        let coop = ready!(coop::poll_proceed(cx));
        // SAFETY: by the contract.
        let taken = unsafe {
            self.with_receiver(|receiver| {
                if limit == 0 {
                    return Some(0);
                }
                self.take(receiver, limit, &mut each).or_else(|| {
                    self.wait(receiver, cx.waker());
                    self.take(receiver, limit, &mut each)
                })
            })
        };
        match taken {
            Some(taken) => {
                coop.made_progress();
                Poll::Ready(taken)
            }
            None => waits::pending(Leaf::Channel(ChannelKind::MpscReceiver)),
        }
    }

    /// Sees to it that the waker is called when there is something to be seen.
    fn wait(&self, receiver: &mut Receiving<T>, waker: &Waker) {
        if !self.waker.lock().as_ref().is_some_and(|own| own.will_wake(waker)) {
            let waker = waker.clone();
            let old = self.waker.lock().replace(waker);
            drop(old);
        }
        self.list.note_awaited(&mut receiver.head);
    }

    /// # Safety
    ///
    /// The caller has the receiver exclusively.
    pub(super) unsafe fn try_recv(&self) -> Result<T, TryRecvError> {
        let try_now = |receiver: &mut Receiving<T>| {
            let mut received = None;
            match self.take(receiver, 1, |value| received = Some(value)) {
                Some(_) => Some(received.ok_or(TryRecvError::Disconnected)),
                None if self.list.is_empty(&receiver.head) => Some(Err(TryRecvError::Empty)),
                // A sender has claimed the slot, and is about to fill it. Those behind it may have filled theirs before
                // this call, and that must be seen.
                None => None,
            }
        };
        // SAFETY: by the contract.
        unsafe {
            self.with_receiver(|receiver| {
                try_now(receiver).unwrap_or_else(|| {
                    // The task that polled before is not forgotten: there will be something for it.
                    self.wake();
                    blocking::drive(std::future::poll_fn(|cx| {
                        self.wait(receiver, cx.waker());
                        try_now(receiver).map_or(Poll::Pending, Poll::Ready)
                    }))
                })
            })
        }
    }

    /// Promises nobody a place from now on.
    ///
    /// # Safety
    ///
    /// The caller has the receiver exclusively.
    pub(super) unsafe fn close(&self) {
        // SAFETY: by the contract.
        let was_closed = unsafe { self.with_receiver(|receiver| std::mem::replace(&mut receiver.is_closed, true)) };
        if !was_closed {
            // Wakers may panic. Then the others are told nevertheless.
            let mut panics = Panics::new();
            panics.catch(|| self.limit.close(|| self.list.close()));
            panics.catch(|| self.closed.close());
            panics.pass_on();
        }
    }

    /// The receiver goes: closes, and drops what there is.
    ///
    /// # Safety
    ///
    /// The caller has the receiver exclusively.
    pub(super) unsafe fn end(&self) {
        let mut panics = Panics::new();
        // SAFETY: by the contract.
        panics.catch(|| unsafe { self.close() });
        let waker = self.waker.lock().take();
        // SAFETY: by the contract.
        unsafe { self.with_receiver(|receiver| self.drain(receiver, &mut panics)) };
        panics.catch(|| drop(waker));
        panics.pass_on();
    }

    /// Drops all values that there are. If the drop of one panics, the others are dropped nevertheless.
    fn drain(&self, receiver: &mut Receiving<T>, panics: &mut Panics) {
        while let Some(value) = self.list.pop(&mut receiver.head) {
            self.limit.give_back(1);
            panics.catch(|| drop(value));
        }
    }

    /// # Safety
    ///
    /// The caller has the receiver, shared at least.
    pub(super) unsafe fn is_over(&self) -> bool {
        // SAFETY: by the contract.
        self.receiver.with(|receiver| unsafe { (*receiver).is_closed }) || self.senders.load(Acquire) == 0
    }

    /// # Safety
    ///
    /// The caller has the receiver, shared at least.
    pub(super) unsafe fn is_empty(&self) -> bool {
        // SAFETY: by the contract.
        self.receiver.with(|receiver| self.list.is_empty(unsafe { &(*receiver).head }))
    }

    /// # Safety
    ///
    /// The caller has the receiver, shared at least.
    pub(super) unsafe fn len(&self) -> usize {
        // SAFETY: by the contract.
        self.receiver.with(|receiver| self.list.len(unsafe { &(*receiver).head }))
    }
}

impl<T, L> Drop for Channel<T, L> {
    fn drop(&mut self) {
        // Sent after the receiver went, by those that had been promised a place.
        let list = &mut self.list;
        let mut panics = Panics::new();
        self.receiver.with_mut(|receiver| {
            // SAFETY: nobody else is left.
            let head = unsafe { &mut (*receiver).head };
            while let Some(value) = list.pop(head) {
                panics.catch(|| drop(value));
            }
            list.free(head);
        });
        panics.pass_on();
    }
}
