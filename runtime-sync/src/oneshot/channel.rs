//! What the two halves share: one allocation, with one atomic word that says who may touch what.
//!
//! # The word
//!
//! | bit        | means                                                                       | set by        |
//! |------------|-----------------------------------------------------------------------------|---------------|
//! | `DONE`     | the sender has sent, or was dropped                                         | sender        |
//! | `VALUE`    | a value is in its slot; comes with `DONE`                                   | sender        |
//! | `CLOSED`   | the receiver wants no value any more                                        | receiver      |
//! | `RX_WAKER` | the receiver's waker is in its slot                                         | receiver      |
//! | `TX_WAKER` | the sender's waker is in its slot                                           | sender        |
//! | `TX_GONE`  | the sender does not touch the memory any more                               | sender        |
//! | `RX_GONE`  | the receiver does not touch the memory any more                             | receiver      |
//!
//! # The protocol
//!
//! The channel is *open* until `DONE` or `CLOSED` is set. Only one of the two is ever set: a half that wants to end the
//! channel does so by an exchange that fails if the other side was first.
//!
//! - **Value.** While the channel is open the slot belongs to the sender, and nobody looks into it. The exchange that
//!   sets `VALUE` gives it to the receiver. If the channel was closed first it stays the sender's, who takes its value
//!   back.
//! - **Wakers.** A half puts its waker into its slot and then sets the bit, by an exchange that fails if the channel
//!   has ended. To change its waker it first clears the bit, likewise. The exchange that ends the channel clears both
//!   bits, and so makes both wakers its own: it wakes the other half, and drops its own. So a bit says exactly whether
//!   there is a waker in the slot that somebody may take. Beside that, a half may compare its own waker while the other
//!   takes it: both only read.
//! - **Memory.** A half that sees that the other is gone frees the memory; else it sets its own bit, and frees the
//!   memory if the other was faster. A half that ends the channel and finds no waker sets its bit in the same exchange.
//!
//! So to send a value that nobody waits for yet is one exchange. To receive it after that is none: the receiver sees
//! that the sender is gone.
//!
//! # Orderings
//!
//! Each exchange is a release of what its thread has put into the slots, and an acquire of what it takes out of them.
//! Loads that decide about a slot or about the memory are acquires. What a half does with the memory before it sets its
//! bit is released by that, and acquired by the half that frees it.
//!
//! User code (clones, wakes and drops of wakers, drops of values) runs when the channel is in order, or is not touched
//! any more: it may panic, and use the channel again.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use runtime_core::primitive::UnsafeCell;
use runtime_core::primitive::atomic::AtomicU8;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire};
use runtime_core::task::ChannelKind;
use runtime_core::task::waits::{self, Leaf};

const DONE: u8 = 1 << 0;
const VALUE: u8 = 1 << 1;
const CLOSED: u8 = 1 << 2;
const RX_WAKER: u8 = 1 << 3;
const TX_WAKER: u8 = 1 << 4;
const TX_GONE: u8 = 1 << 5;
const RX_GONE: u8 = 1 << 6;

/// What ends the channel.
const ENDED: u8 = DONE | CLOSED;
const WAKERS: u8 = RX_WAKER | TX_WAKER;

/// See the module.
struct Channel<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
    rx_waker: WakerSlot,
    tx_waker: WakerSlot,
}

struct WakerSlot(UnsafeCell<MaybeUninit<Waker>>);

impl WakerSlot {
    fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// # Safety
    ///
    /// The slot must be empty, and the caller the half that it belongs to.
    unsafe fn put(&self, waker: Waker) {
        // SAFETY: nobody else looks into a slot whose bit is not set.
        self.0.with_mut(|slot| unsafe { (*slot).write(waker) });
    }

    /// # Safety
    ///
    /// There must be a waker in the slot, and the caller must be the one that has cleared its bit.
    unsafe fn take(&self) -> Waker {
        // SAFETY: by the contract nobody else takes it.
        self.0.with(|slot| unsafe { (*slot).assume_init_read() })
    }

    /// # Safety
    ///
    /// The caller must be the half that the slot belongs to, and have put a waker there. The other half may have taken
    /// it since: nothing but the words of the waker is compared.
    unsafe fn has(&self, waker: &Waker) -> bool {
        // SAFETY: by the contract the words are there, and nobody else writes them.
        self.0.with(|slot| unsafe { (*slot).assume_init_ref().will_wake(waker) })
    }
}

impl<T> Channel<T> {
    /// Leaves the waker to be woken when the other half ends the channel. Ready, with the state, if it has ended.
    ///
    /// # Safety
    ///
    /// Only the half of this bit may call this.
    unsafe fn poll_ended(&self, bit: u8, cx: &Context<'_>) -> Poll<u8> {
        let (slot, kind) = if bit == RX_WAKER {
            (&self.rx_waker, ChannelKind::OneshotReceiver)
        } else {
            (&self.tx_waker, ChannelKind::OneshotSender)
        };
        let leaf = Leaf::Channel(kind);
        let state = self.state.load(Acquire);
        if state & ENDED != 0 {
            return Poll::Ready(state);
        }
        // SAFETY: this half has set the bit, with a waker in the slot.
        if state & bit != 0 && unsafe { slot.has(cx.waker()) } {
            return waits::pending(leaf);
        }
        let waker = cx.waker().clone();
        let mut _old = None;
        if state & bit != 0 {
            if let Err(state) = change_while_open(&self.state, |state| state & !bit) {
                return Poll::Ready(state);
            }
            // SAFETY: this half has just cleared the bit.
            _old = Some(unsafe { slot.take() });
        }
        // SAFETY: the bit is not set, and only this half sets it.
        unsafe { slot.put(waker) };
        if let Err(state) = change_while_open(&self.state, |state| state | bit) {
            // SAFETY: the bit was not set, so nobody has taken what was just put there.
            drop(unsafe { slot.take() });
            return Poll::Ready(state);
        }
        waits::pending(leaf)
    }
}

/// Changes the state, unless the channel has ended. Returns the state before. The exchange may be the last touch of the
/// memory: so this borrows the word alone, which the other half may then free.
fn change_while_open(word: &AtomicU8, change: impl Fn(u8) -> u8) -> Result<u8, u8> {
    let mut state = word.load(Acquire);
    while state & ENDED == 0 {
        match word.compare_exchange_weak(state, change(state), AcqRel, Acquire) {
            Ok(_) => return Ok(state),
            Err(now) => state = now,
        }
    }
    Err(state)
}

/// One of the two pointers to a channel, without an opinion on which of the halves it is. It frees nothing by itself.
pub(super) struct Half<T>(NonNull<Channel<T>>);

/// Both halves of a new channel.
pub(super) fn new<T>() -> (Half<T>, Half<T>) {
    let channel = NonNull::from(Box::leak(Box::new(Channel {
        state: AtomicU8::new(0),
        value: UnsafeCell::new(MaybeUninit::uninit()),
        rx_waker: WakerSlot::new(),
        tx_waker: WakerSlot::new(),
    })));
    (Half(channel), Half(channel))
}

/// # Safety
///
/// In all methods: the half has not left the channel. Those of the sender are called by the sender, those of the
/// receiver by the receiver, and not by two threads at once if they are marked as exclusive. Methods that consume the
/// half leave the channel.
impl<T> Half<T> {
    unsafe fn channel(&self) -> &Channel<T> {
        // SAFETY: by the contract the half has not left, and until then the memory stays.
        unsafe { self.0.as_ref() }
    }

    /// Ends the channel, wakes the other half, and drops this half's waker. If `gone` is not zero, the half leaves.
    /// Fails, and does nothing, if the channel has ended: then the half does not leave.
    ///
    /// Exclusive.
    unsafe fn end(&self, how: u8, gone: u8) -> Result<(), u8> {
        // SAFETY: passed on to the caller.
        let channel = unsafe { self.channel() };
        let before = change_while_open(&channel.state, |state| {
            let has_wakers = state & WAKERS != 0;
            (state & !WAKERS) | how | if has_wakers { 0 } else { gone }
        })?;
        if before & WAKERS == 0 {
            // The memory may be free by now.
            return Ok(());
        }
        // SAFETY: the exchange above has cleared the bits.
        let rx_waker = (before & RX_WAKER != 0).then(|| unsafe { channel.rx_waker.take() });
        // SAFETY: as above.
        let tx_waker = (before & TX_WAKER != 0).then(|| unsafe { channel.tx_waker.take() });
        if gone != 0 {
            // SAFETY: passed on to the caller.
            unsafe { self.leave(gone) };
        }
        let (_own, other) = if how & DONE != 0 { (tx_waker, rx_waker) } else { (rx_waker, tx_waker) };
        if let Some(other) = other {
            other.wake();
        }
        Ok(())
    }

    /// The half does not touch the memory any more. If the other does not either, frees it.
    unsafe fn leave(&self, gone: u8) {
        let other = (TX_GONE | RX_GONE) ^ gone;
        // SAFETY: passed on to the caller.
        let state = unsafe { &self.channel().state };
        if state.load(Acquire) & other != 0 || state.fetch_or(gone, AcqRel) & other != 0 {
            // SAFETY: the other half has left, and this one does now. The half that has sent or received has emptied
            // the slots.
            let channel = unsafe { Box::from_raw(self.0.as_ptr()) };
            // Nothing to do. It shows a model that whatever was done with the slots is over.
            channel.value.with_mut(|_| ());
            channel.rx_waker.0.with_mut(|_| ());
            channel.tx_waker.0.with_mut(|_| ());
        }
    }

    /// Whether the channel has ended.
    pub(super) unsafe fn has_ended(&self) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.channel() }.state.load(Acquire) & ENDED != 0
    }

    /// The sender's: sends the value. Gives it back if the receiver has closed the channel.
    pub(super) unsafe fn send(self, value: T) -> Result<(), T> {
        // SAFETY: passed on to the caller.
        let slot = unsafe { &self.channel().value };
        // SAFETY: the slot is the sender's until `VALUE` is set.
        slot.with_mut(|slot| unsafe { (*slot).write(value) });
        // SAFETY: passed on to the caller.
        if unsafe { self.end(DONE | VALUE, TX_GONE) }.is_ok() {
            return Ok(());
        }
        // SAFETY: the value was put there above, and `VALUE` was not set.
        let value = slot.with(|slot| unsafe { (*slot).assume_init_read() });
        // SAFETY: as above.
        unsafe { self.leave(TX_GONE) };
        Err(value)
    }

    /// The sender's: goes without sending.
    pub(super) unsafe fn drop_sender(self) {
        // SAFETY: passed on to the caller.
        unsafe {
            if self.end(DONE, TX_GONE).is_err() {
                self.leave(TX_GONE);
            }
        }
    }

    /// The sender's: ready when the receiver has closed the channel. Exclusive.
    pub(super) unsafe fn poll_closed(&self, cx: &Context<'_>) -> Poll<()> {
        // SAFETY: passed on to the caller.
        unsafe { self.channel().poll_ended(TX_WAKER, cx) }.map(drop)
    }

    /// The receiver's: ready when [`take`](Self::take) may be called. Exclusive.
    pub(super) unsafe fn poll_ready(&self, cx: &Context<'_>) -> Poll<()> {
        // SAFETY: passed on to the caller.
        unsafe { self.channel().poll_ended(RX_WAKER, cx) }.map(drop)
    }

    /// The receiver's: whether there is a value.
    pub(super) unsafe fn has_value(&self) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.channel() }.state.load(Acquire) & VALUE != 0
    }

    /// The receiver's: closes the channel, if it has not ended. Exclusive.
    pub(super) unsafe fn close(&self) {
        // SAFETY: passed on to the caller.
        let _ = unsafe { self.end(CLOSED, 0) };
    }

    /// The receiver's, when the channel has ended: the value, if one was sent.
    pub(super) unsafe fn take(self) -> Option<T> {
        // SAFETY: passed on to the caller, here and below.
        let channel = unsafe { self.channel() };
        let has_value = channel.state.load(Acquire) & VALUE != 0;
        // SAFETY: the value is the receiver's, who leaves and so takes it once.
        let value = has_value.then(|| channel.value.with(|slot| unsafe { (*slot).assume_init_read() }));
        // SAFETY: as above.
        unsafe { self.leave(RX_GONE) };
        value
    }

    /// The receiver's: goes, with the value if there is one.
    pub(super) unsafe fn drop_receiver(self) {
        // SAFETY: passed on to the caller. If the first fails the channel has ended.
        unsafe {
            if self.end(CLOSED, RX_GONE).is_err() {
                drop(self.take());
            }
        }
    }
}
