//! The list of values of a channel: any number of senders put them in, one receiver takes them out. It never waits.
//!
//! It is a chain of [blocks](Block). Each has slots that are filled in turn, and emptied in turn.
//!
//! # The protocol
//!
//! The *tail* is one word: the address of the last block, the number of the next free slot in it, and whether the list
//! is closed. There is always a free slot.
//!
//! - **A sender** claims a slot by an exchange of the tail. It does not touch the block before that: so it does not
//!   matter that the block may have been freed since the tail was loaded, for then the exchange fails. (If the same
//!   block has come back meanwhile as the last, with the same free slot, the exchange succeeds, and is right.)
//! - The sender that claims the last slot of a block puts a new block in the tail with the same exchange. It made that
//!   before. Then it gives the new block its number, and links it to the old one. After that it fills its slot.
//! - To fill a slot is to write the value, and then set the slot's bit in the block's word `ready`. That is the
//!   sender's last touch of the block.
//! - **The receiver** takes values out in the order of slots, as far as their bits are set. When it has emptied the
//!   last slot of a block, the next block is linked, and all senders that had slots in the old one are through with it.
//!   So it frees the block, or leaves it to the senders as a spare.
//! - *To wait*, the receiver leaves its waker, and then notes the slot that it waits for in the word `ready` of the
//!   block. It looks at the slot's bit with that same access. The sender that fills just that slot sees the note, if
//!   the receiver has not seen the bit, and wakes it. Other senders need not. A note is not taken back: nobody fills
//!   the slot again.
//! - *To close* is to set a flag in the tail, after which no slot can be claimed.
//!
//! # Orderings
//!
//! The exchange that puts a new block in the tail is a release, and all exchanges are acquires: who claims a slot sees
//! the block as it was made. A slot's bit is set with a release and seen with an acquire. The note of the receiver is
//! both, so is the setting of the bit: that orders the waker before its taking.

use std::ptr;

use runtime_core::primitive::atomic::AtomicPtr;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::block::{ALIGN, Block, CAPACITY, UNKNOWN};

/// The part of the tail that is the number of a slot.
const SLOT: usize = ALIGN / 2 - 1;
const CLOSED: usize = ALIGN / 2;

/// The part of the list that senders touch.
pub(super) struct List<T> {
    tail: AtomicPtr<Block<T>>,
    /// An empty block, or null.
    spare: AtomicPtr<Block<T>>,
}

/// The receiver's part.
pub(super) struct Head<T> {
    block: *mut Block<T>,
    /// The number of the block's first slot among all slots that the channel has had.
    start: usize,
    /// The slot that is emptied next.
    slot: usize,
    /// Which slots are filled, as of the last look.
    ready: u64,
    /// The slot of this block that was last noted as waited for, counted from one.
    noted: usize,
}

struct Tail<T>(*mut Block<T>);

impl<T> Tail<T> {
    /// The address may be that of a block which has been freed, and of another since then, which is the last one now.
    /// So the pointer is made of the address, which the blocks expose.
    fn block(&self) -> *mut Block<T> {
        ptr::with_exposed_provenance_mut(self.0.addr() & !(ALIGN - 1))
    }

    fn slot(&self) -> usize {
        self.0.addr() & SLOT
    }

    fn is_closed(&self) -> bool {
        self.0.addr() & CLOSED != 0
    }
}

/// Makes a block one of the list.
fn expose<T>(block: Box<Block<T>>) -> *mut Block<T> {
    let block = Box::into_raw(block);
    block.expose_provenance();
    block
}

impl<T> List<T> {
    /// An empty list.
    pub(super) fn new() -> (Self, Head<T>) {
        let block = Block::new();
        block.start.store(0, Relaxed);
        let block = expose(block);
        let list = Self { tail: AtomicPtr::new(block), spare: AtomicPtr::new(ptr::null_mut()) };
        (list, Head { block, start: 0, slot: 0, ready: 0, noted: 0 })
    }

    /// Adds a value. Returns whether the receiver is to be woken; or the value, if the list is closed.
    pub(super) fn push(&self, value: T) -> Result<bool, T> {
        let mut new: *mut Block<T> = ptr::null_mut();
        let mut tail = Tail(self.tail.load(Relaxed));
        loop {
            if tail.is_closed() {
                self.keep_spare(new);
                return Err(value);
            }
            let is_last = tail.slot() + 1 == CAPACITY;
            if is_last && new.is_null() {
                new = self.take_spare();
            }
            let next = if is_last { new } else { tail.0.map_addr(|address| address + 1) };
            // A release for the new block. For one that is no news it does no harm.
            match self.tail.compare_exchange_weak(tail.0, next, AcqRel, Relaxed) {
                Ok(_) if is_last => {
                    // SAFETY: a slot of it is ours and not filled yet, so it is alive.
                    unsafe { Self::link(tail.block(), new) };
                    break;
                }
                Ok(_) => {
                    self.keep_spare(new);
                    break;
                }
                Err(now) => tail = Tail(now),
            }
        }
        // SAFETY: we have claimed the slot.
        Ok(unsafe { Block::fill(tail.block(), tail.slot(), value) })
    }

    /// # Safety
    ///
    /// The blocks are alive, and the last slot of the old one is the caller's.
    unsafe fn link(old: *mut Block<T>, new: *mut Block<T>) {
        // SAFETY: by the contract; the new one cannot be left by the receiver before it has been linked.
        let (old, following) = unsafe { (&*old, &*new) };
        // Relaxed: a number is all that it says. If it is not known, as the sender that put the old block there has not
        // come so far, it is found in another way.
        match old.start.load(Relaxed) {
            UNKNOWN => {}
            start => following.start.store(start.wrapping_add(CAPACITY), Relaxed),
        }
        old.next.store(new, Release);
    }

    /// An empty block.
    fn take_spare(&self) -> *mut Block<T> {
        let spare = self.spare.swap(ptr::null_mut(), Acquire);
        if spare.is_null() { expose(Block::new()) } else { spare }
    }

    /// Leaves an empty block, if it is one, for later.
    fn keep_spare(&self, block: *mut Block<T>) {
        if !block.is_null() {
            free(self.spare.swap(block, AcqRel));
        }
    }

    /// Refuses values from now on.
    pub(super) fn close(&self) {
        let mut tail = self.tail.load(Relaxed);
        while let Err(now) =
            self.tail.compare_exchange_weak(tail, tail.map_addr(|address| address | CLOSED), AcqRel, Relaxed)
        {
            tail = now;
        }
    }

    /// Whether values are refused.
    pub(super) fn is_closed(&self) -> bool {
        Tail(self.tail.load(Acquire)).is_closed()
    }

    /// Whether no slot has been claimed that was not emptied.
    pub(super) fn is_empty(&self, head: &Head<T>) -> bool {
        let tail = Tail(self.tail.load(Acquire));
        tail.block() == head.block && tail.slot() == head.slot
    }

    /// How many slots have been claimed, and were not emptied.
    pub(super) fn len(&self, head: &Head<T>) -> usize {
        let tail = Tail(self.tail.load(Acquire));
        // SAFETY: the receiver, which is here, has not left its block, nor those behind it.
        let start = match unsafe { &*tail.block() }.start.load(Relaxed) {
            // SAFETY: as above.
            UNKNOWN => unsafe { Self::count_up_to(tail.block(), head) },
            start => start,
        };
        (start + tail.slot()).wrapping_sub(head.start + head.slot)
    }

    /// The number of the first slot of a block, by way of the blocks before it.
    ///
    /// # Safety
    ///
    /// The block is the receiver's, or behind it.
    #[cold]
    unsafe fn count_up_to(last: *mut Block<T>, head: &Head<T>) -> usize {
        let (mut block, mut start) = (head.block, head.start);
        while block != last {
            // SAFETY: it is before the last one, and not before the receiver's.
            let next = unsafe { &*block }.next.load(Acquire);
            if next.is_null() {
                // A sender is between its exchange and the link.
                yield_now();
            } else {
                block = next;
                start = start.wrapping_add(CAPACITY);
            }
        }
        start
    }

    /// Takes the next value out, if its slot is filled.
    pub(super) fn pop(&self, head: &mut Head<T>) -> Option<T> {
        // SAFETY: the receiver has not left it.
        let block = unsafe { &*head.block };
        if !head.is_ready() {
            head.ready = block.ready();
            if !head.is_ready() {
                return None;
            }
        }
        // SAFETY: it is filled, and from here on it is the next one's turn.
        let value = unsafe { block.take(head.slot) };
        head.slot += 1;
        if head.slot == CAPACITY {
            // Relaxed: it was linked before the last bit was set, which we have seen.
            let next = block.next.load(Relaxed);
            debug_assert!(!next.is_null());
            let start = head.start.wrapping_add(CAPACITY);
            let old = std::mem::replace(head, Head { block: next, start, slot: 0, ready: 0, noted: 0 }).block;
            // SAFETY: nobody else has to do with it any more.
            unsafe { &mut *old }.reset();
            self.keep_spare(old);
        }
        Some(value)
    }

    /// The sender that fills the next slot is to wake the receiver, which has left its waker. Unless it is filled
    /// already.
    pub(super) fn note_awaited(&self, head: &mut Head<T>) {
        // SAFETY: the receiver has not left it.
        let block = unsafe { &*head.block };
        let slot = head.slot + 1;
        if head.noted != slot {
            head.ready = block.await_slot(std::mem::replace(&mut head.noted, slot), slot);
        }
    }

    /// Frees the blocks. The values must have been taken out.
    pub(super) fn free(&mut self, head: &mut Head<T>) {
        free(std::mem::replace(&mut head.block, ptr::null_mut()));
        free(self.spare.swap(ptr::null_mut(), Acquire));
    }
}

impl<T> Head<T> {
    fn is_ready(&self) -> bool {
        self.ready >> self.slot & 1 != 0
    }
}

#[cfg(not(loom))]
use std::thread::yield_now;

#[cfg(loom)]
use loom::thread::yield_now;

/// Frees a block, if it is one, without its values.
fn free<T>(block: *mut Block<T>) {
    if !block.is_null() {
        // SAFETY: it comes from a box, and the caller has it alone.
        drop(unsafe { Box::from_raw(block) });
    }
}
