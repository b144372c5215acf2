//! What senders and receivers share: the ring of values, and its tail.

use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Waker;

use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::{Mutex, MutexGuard};

use crate::Notify;
use crate::waiters::{LISTED, List, TOLD, Waiter, WakeBatch};

/// See the module above.
pub(super) struct Shared<T> {
    /// A power of two of them.
    ring: Box<[Mutex<Slot<T>>]>,
    tail: Mutex<Tail>,
    pub(super) senders: AtomicUsize,
    pub(super) weak_senders: AtomicUsize,
    /// Tells those that wait for the last receiver to go.
    pub(super) unwatched: Notify,
}

struct Slot<T> {
    /// Which of all values ever sent this is.
    number: u64,
    /// How many receivers have yet to receive it.
    remaining: usize,
    value: Option<T>,
}

/// Its lock is taken before that of a slot.
struct Tail {
    /// The number of the next value.
    next: u64,
    receivers: usize,
    has_senders: bool,
    /// Each with the number that it waits for. They are in order.
    waiters: List<u64>,
}

// Whatever of this foreign code may leave behind by a panic is in order.
impl<T> UnwindSafe for Shared<T> {}
impl<T> RefUnwindSafe for Shared<T> {}

/// What is there for a receiver.
pub(super) enum Next {
    /// Nothing yet.
    Empty,
    /// Nothing, for ever.
    Closed,
    /// The value is in the ring.
    There,
    /// It was, but is not any more. The oldest that is there has this number.
    Missed(u64),
}

impl<T> Shared<T> {
    /// With one sender.
    pub(super) fn new(capacity: usize, receivers: usize) -> Self {
        let capacity = capacity.next_power_of_two();
        // No receiver waits for a number before the first.
        let number = |index| (index as u64).wrapping_sub(capacity as u64);
        let slot = |index| Mutex::new(Slot { number: number(index), remaining: 0, value: None });
        Self {
            ring: (0..capacity).map(slot).collect(),
            tail: Mutex::new(Tail { next: 0, receivers, has_senders: true, waiters: List::new() }),
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
            unwatched: Notify::new(),
        }
    }

    fn slot(&self, number: u64) -> MutexGuard<'_, Slot<T>> {
        self.ring[number as usize & (self.ring.len() - 1)].lock()
    }

    /// Puts the value into the ring and wakes the receivers that wait. Returns how many will receive it, or the value
    /// if there are none.
    pub(super) fn send(&self, value: T) -> Result<usize, T> {
        let mut tail = self.tail.lock();
        let receivers = tail.receivers;
        if receivers == 0 {
            return Err(value);
        }
        let number = tail.next;
        tail.next += 1;
        let mut slot = self.slot(number);
        // What not all have received is lost to them.
        let _lost = std::mem::replace(&mut *slot, Slot { number, remaining: receivers, value: Some(value) });
        drop(slot);
        self.wake_receivers(tail);
        Ok(receivers)
    }

    /// A clone of the value of this number, for one receiver, who has not had it yet. `None` if it is not in the ring.
    pub(super) fn take(&self, number: u64) -> Option<T>
    where
        T: Clone,
    {
        let mut slot = self.slot(number);
        if slot.number != number {
            return None;
        }
        // First, so that a clone that panics counts as received.
        slot.remaining -= 1;
        if slot.remaining > 0 {
            return slot.value.clone();
        }
        let last = slot.value.take();
        drop(slot);
        last.clone()
    }

    /// A receiver does without the value of this number. Returns it if it was the last. (The caller drops it, outside
    /// of the lock.)
    pub(super) fn skip(&self, number: u64) -> Option<T> {
        let mut slot = self.slot(number);
        if slot.number != number {
            return None;
        }
        slot.remaining -= 1;
        if slot.remaining == 0 { slot.value.take() } else { None }
    }

    /// What is there for a receiver that wants this number.
    pub(super) fn look(&self, number: u64) -> Next {
        self.look_in(&self.tail.lock(), number)
    }

    fn look_in(&self, tail: &Tail, number: u64) -> Next {
        let capacity = self.ring.len() as u64;
        match tail.next - number {
            0 if tail.has_senders => Next::Empty,
            0 => Next::Closed,
            behind if behind <= capacity => Next::There,
            _ => Next::Missed(tail.next - capacity),
        }
    }

    /// As [`look`](Self::look). If nothing is there, the waiter waits for it, with this waker.
    ///
    /// # Safety
    ///
    /// The waiter must be in no list but this. Before its memory goes it must be out of it.
    pub(super) unsafe fn wait(&self, number: u64, waiter: &Waiter<u64>, waker: &Waker) -> Next {
        let mut own_waker = (waiter.status() != LISTED).then(|| waker.clone());
        loop {
            let mut tail = self.tail.lock();
            let next = self.look_in(&tail, number);
            if !matches!(next, Next::Empty) {
                drop(tail);
                return next;
            }
            if waiter.status() != LISTED {
                // It was not before, as who takes it out has something for it.
                // SAFETY: passed on to the caller.
                unsafe { tail.waiters.push(waiter, own_waker, number) };
                return Next::Empty;
            }
            // SAFETY: it is in this list.
            if unsafe { tail.waiters.has_waker(waiter, waker) } {
                return Next::Empty;
            }
            if let Some(waker) = own_waker.take() {
                // SAFETY: as above.
                let old = unsafe { tail.waiters.replace_waker(waiter, waker) };
                drop(tail);
                drop(old);
                return Next::Empty;
            }
            drop(tail);
            own_waker = Some(waker.clone());
        }
    }

    /// The waiter goes.
    pub(super) fn stop_waiting(&self, waiter: &Waiter<u64>) {
        if waiter.status() == LISTED {
            let mut tail = self.tail.lock();
            // SAFETY: it is in this list, if in any.
            let waker = unsafe { tail.waiters.remove(waiter) };
            drop(tail);
            drop(waker);
        }
    }

    /// Wakes all that wait for something else than the next value, or, if there will be none, all that wait.
    fn wake_receivers(&self, mut tail: MutexGuard<'_, Tail>) {
        if tail.waiters.is_empty() {
            return;
        }
        let mut batch = WakeBatch::new();
        while !Self::take_out(&mut tail, &mut batch) {
            MutexGuard::unlocked(&mut tail, || batch.wake());
        }
        drop(tail);
        batch.finish();
    }

    /// Takes such waiters out, until the batch is full. Returns whether there are none left.
    fn take_out(tail: &mut Tail, batch: &mut WakeBatch) -> bool {
        while tail.waiters.oldest().is_some_and(|number| number != tail.next || !tail.has_senders) {
            if batch.is_full() {
                return false;
            }
            batch.push(tail.waiters.pop_oldest(TOLD));
        }
        true
    }

    /// The last sender goes.
    pub(super) fn close(&self) {
        let mut tail = self.tail.lock();
        tail.has_senders = false;
        self.wake_receivers(tail);
    }

    /// One receiver more. Returns the number of the first value that it receives.
    pub(super) fn add_receiver(&self) -> u64 {
        let mut tail = self.tail.lock();
        tail.receivers += 1;
        tail.next
    }

    /// A receiver goes, that would have received this number next. Returns the numbers of the values in the ring that
    /// were sent to it, and whether it was the last.
    pub(super) fn remove_receiver(&self, number: u64) -> (Range<u64>, bool) {
        let mut tail = self.tail.lock();
        tail.receivers -= 1;
        let oldest = match self.look_in(&tail, number) {
            Next::Missed(oldest) => oldest,
            _ => number,
        };
        (oldest..tail.next, tail.receivers == 0)
    }

    pub(super) fn receivers(&self) -> usize {
        self.tail.lock().receivers
    }

    /// How many values from this number on have been sent.
    pub(super) fn sent_since(&self, number: u64) -> usize {
        usize::try_from(self.tail.lock().next - number).unwrap_or(usize::MAX)
    }

    /// How many values are in the ring that somebody has yet to receive.
    pub(super) fn len(&self) -> usize {
        let tail = self.tail.lock();
        // A receiver that has yet to receive a value has also yet to receive those after it.
        let (mut received, mut end) = (0, self.ring.len());
        while received < end {
            let middle = received + (end - received) / 2;
            // Of the numbers in the ring, the oldest comes first.
            let number = tail.next.wrapping_add(middle as u64);
            if self.slot(number).remaining == 0 {
                received = middle + 1;
            } else {
                end = middle;
            }
        }
        self.ring.len() - received
    }

    pub(super) fn is_empty(&self) -> bool {
        let tail = self.tail.lock();
        self.slot(tail.next.wrapping_sub(1)).remaining == 0
    }
}
