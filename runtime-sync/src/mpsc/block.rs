//! A block of slots: a piece of the list of a channel. See [`list`](super::list) for the protocol.

use std::mem::MaybeUninit;
use std::ptr;

use runtime_core::primitive::UnsafeCell;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use runtime_core::primitive::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

/// How many values a block holds. In models few, so that they get to the end of one.
pub(super) const CAPACITY: usize = if cfg!(loom) { 2 } else { 32 };

/// The address of a block leaves this much room for the list's tags.
pub(super) const ALIGN: usize = 64;

/// The upper half of the word `ready` says which slot the receiver waits for, counted from one.
const AWAITED: u32 = 32;

#[repr(C, align(64))]
pub(super) struct Block<T> {
    /// A bit for each slot that has been filled, and the slot that the receiver waits for.
    ready: AtomicU64,
    /// The block behind this one. There is one before the last slot is filled.
    pub(super) next: AtomicPtr<Block<T>>,
    /// The number of the first slot among all slots that the channel has had, or [`UNKNOWN`].
    pub(super) start: AtomicUsize,
    slots: [UnsafeCell<MaybeUninit<T>>; CAPACITY],
}

/// Nobody has given the block its number so far.
pub(super) const UNKNOWN: usize = usize::MAX;

impl<T> Block<T> {
    pub(super) fn new() -> Box<Self> {
        const { assert!(align_of::<Self>() >= ALIGN && 2 * CAPACITY <= ALIGN) }
        // In place: as many values as a block holds may be more than a stack does.
        let mut block = Box::<Self>::new_uninit();
        let this = block.as_mut_ptr();
        // SAFETY: the memory is the box's, and each field is written before the block counts as initialised. The slots
        // are uninitialised memory, for which there is nothing to write, but for what a model keeps beside it.
        unsafe {
            (&raw mut (*this).ready).write(AtomicU64::new(0));
            (&raw mut (*this).next).write(AtomicPtr::new(ptr::null_mut()));
            (&raw mut (*this).start).write(AtomicUsize::new(UNKNOWN));
            if cfg!(loom) {
                for slot in 0..CAPACITY {
                    (&raw mut (*this).slots[slot]).write(UnsafeCell::new(MaybeUninit::uninit()));
                }
            }
            block.assume_init()
        }
    }

    /// Makes a block that has been emptied as good as new.
    pub(super) fn reset(&mut self) {
        // Relaxed: the sender that gets the block next does so by an acquire.
        self.ready.store(0, Relaxed);
        self.next.store(ptr::null_mut(), Relaxed);
        self.start.store(UNKNOWN, Relaxed);
    }

    /// Fills a slot. Returns whether the receiver waits for it. This is the last touch of the block.
    ///
    /// # Safety
    ///
    /// The block is alive, and the slot is the caller's.
    pub(super) unsafe fn fill(this: *const Self, slot: usize, value: T) -> bool {
        // SAFETY: it is alive until the bit is set.
        let this = unsafe { &*this };
        // SAFETY: the slot is the caller's until the bit is set.
        this.slots[slot].with_mut(|cell| unsafe { (*cell).write(value) });
        let before = this.ready.fetch_or(1 << slot, AcqRel);
        before >> AWAITED == slot as u64 + 1
    }

    /// Which slots are filled.
    pub(super) fn ready(&self) -> u64 {
        self.ready.load(Acquire)
    }

    /// The receiver waits for another slot than before; counted from one, both. Returns which are filled.
    pub(super) fn await_slot(&self, before: usize, now: usize) -> u64 {
        self.ready.fetch_add((now as u64 - before as u64) << AWAITED, AcqRel)
    }

    /// Takes the value out of a slot.
    ///
    /// # Safety
    ///
    /// The slot is known to be filled, and is emptied once.
    pub(super) unsafe fn take(&self, slot: usize) -> T {
        // SAFETY: by the contract.
        self.slots[slot].with(|cell| unsafe { (*cell).assume_init_read() })
    }
}
