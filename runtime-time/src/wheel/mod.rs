//! The hierarchical timing wheel: which timer is due next, in constant time.
//!
//! This is a pure data structure. It knows ticks (`u64`, counted by its user from whatever start), and nothing of
//! clocks, threads, locks or wakers. A shard keeps one under its lock; the tests drive one against a sorted map. It
//! must never hand out a node before the tick it was filed under.
//!
//! # How it works
//!
//! The idea is scheme 7 of Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987), in the form that
//! reads the levels off the bits of the deadline. Write the wheel's own time, `elapsed`, and a deadline in base 256.
//! The highest digit in which they differ is the deadline's **level**, and the deadline's digit there is its **slot**:
//! level 0 has one slot a tick, level 1 one slot for every 256 ticks, and so on through five levels, which span 2^40
//! ticks (some thirteen months, at 32 ticks a millisecond). A deadline that differs in a higher digit still is
//! **parked** in the top level, in the slot of its digit there; it shares that slot with others which are much nearer,
//! and is filed again whenever they come up.
//!
//! When the wheel's time reaches the earliest deadline in a slot above level 0, the slot is **opened**: all its nodes
//! are filed again, and land in lower levels (or back in the same slot, if they were parked). So a node moves at most
//! four times, however many there are, plus once a visit for the parked ones.
//!
//! Opening a slot takes time in proportion to its nodes, most of which are in nobody's cache, and meanwhile no timer
//! fires. That is why the slots are many: with 64 a level, and ticks of an eighth of a millisecond, those of level 2
//! were half a second wide, and with 100 timers a millisecond one in a hundred was 2 to 4 ms late.
//!
//! # What holds between calls
//!
//! 1. Every filed deadline is `>= elapsed`, and equal only in level 0.
//! 2. Below the top level, all deadlines of a slot share their digits from the slot's level up, and these are greater
//!    than `elapsed`'s at that level and equal above it. So the lowest occupied level, and in it the lowest occupied
//!    slot, holds the earliest deadline; in the top level all occupied slots must be asked.
//! 3. `slot.min` is at most the earliest deadline in the slot, and equal to it unless a node left the slot by
//!    [`Wheel::remove`]. It is `u64::MAX` exactly if the slot is empty, which is also what the bitmaps say.
//! 4. `elapsed` never enters the range of an occupied slot above level 0 without that slot being opened.
//! 5. Two nodes with the same deadline are popped in the order they were inserted: by 2 and 4 they are always in the
//!    same slot, and slots and reopened slots are first in, first out.
//!
//! Keeping a minimum for every slot is what spares an idle runtime its useless wake-ups: the time of the next deadline
//! is known exactly although the slot is coarse, so nobody need wake at a slot's start just to open it.

mod bitmap;
mod list;
#[cfg(all(any(test, fuzzing), not(loom)))]
pub(crate) mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use std::ptr::NonNull;

use bitmap::Bitmap;
use list::List;
pub(crate) use list::Node;

const LEVELS: usize = 5;
const SLOTS: usize = 256;
const BITS: u32 = SLOTS.trailing_zeros();
const TOP: usize = LEVELS - 1;

/// The latest tick that can be told apart from later ones: four million years of 32nds of a millisecond.
///
/// Well below `u64::MAX`, so that `u64::MAX` can mean "never" and arithmetic on ticks cannot overflow.
pub(crate) const MAX_TICK: u64 = 1 << 62;

/// A tick that had passed already, so that nothing was inserted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Due;

/// The timers of a shard, in slots by their ticks.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// The wheel's own time: it follows its user's, and lags behind while nothing is due.
    elapsed: u64,
    /// For each level, which of its slots hold nodes.
    occupied: [Bitmap; LEVELS],
    /// All levels' slots, the lowest level first. Empty until the first insertion: a runtime has wheels it never uses.
    slots: Box<[Slot]>,
}

#[derive(Debug)]
struct Slot {
    list: List,
    min: u64,
}

// SAFETY: what keeps a wheel from being `Send` by itself are the pointers to nodes. They are dereferenced only by the
// wheel's methods, so only by the thread that has the wheel, and the nodes' owners promised on insertion to leave them
// alone.
unsafe impl Send for Wheel {}

impl Wheel {
    /// An empty wheel at tick 0.
    pub(crate) fn new() -> Self {
        Self { elapsed: 0, occupied: [Bitmap::default(); LEVELS], slots: Box::default() }
    }

    /// Files a node under a tick, or finds that the wheel's time is past it already.
    ///
    /// A tick beyond [`MAX_TICK`] counts as that.
    ///
    /// # Safety
    ///
    /// The node is in no wheel. Until it leaves this one (by [`remove`](Self::remove) or [`pop_due`](Self::pop_due))
    /// it stays alive, does not move, and nobody else touches it.
    #[inline]
    pub(crate) unsafe fn insert(&mut self, node: NonNull<Node>, when: u64) -> Result<(), Due> {
        let when = when.min(MAX_TICK);
        if when <= self.elapsed {
            return Err(Due);
        }
        if self.slots.is_empty() {
            self.slots = new_slots();
        }
        // SAFETY: the caller's promise.
        unsafe { self.file(node, when) };
        Ok(())
    }

    /// How far its time has come: right after a node was popped, when that was due.
    pub(crate) fn elapsed(&self) -> u64 {
        self.elapsed
    }

    /// Takes a node out before its time.
    ///
    /// # Safety
    ///
    /// The node is in this wheel.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, node: NonNull<Node>) {
        // SAFETY: the node is in this wheel, and `&mut self` is the exclusive hold on it.
        let (_, index) = unsafe { list::place(node) };
        let slot = &mut self.slots[index];
        // SAFETY: a filed node is in the slot it is noted under.
        unsafe { slot.list.unlink(node) };
        if slot.list.is_empty() {
            self.vacate(index);
        }
    }

    /// Takes out one node whose tick is not after `now`: the one with the earliest tick, and among equals the one
    /// inserted first. `None` if there is none.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<NonNull<Node>> {
        let now = now.min(MAX_TICK);
        loop {
            let Some((index, min)) = self.first() else {
                self.elapsed = self.elapsed.max(now);
                return None;
            };
            if min > now {
                // Follow the time as far as rule 4 allows, so that what is inserted next lands in a low level.
                let shift = BITS * (index / SLOTS) as u32;
                let before_slot = (min >> shift << shift).saturating_sub(1);
                self.elapsed = self.elapsed.max(now.min(before_slot));
                return None;
            }
            debug_assert!(min >= self.elapsed);
            // Nothing filed is earlier, so the wheel may jump here.
            self.elapsed = min;
            if index < SLOTS {
                let list = &mut self.slots[index].list;
                let node = list.pop_front();
                if list.is_empty() {
                    self.vacate(index);
                }
                return node;
            }
            self.open(index);
        }
    }

    /// A tick that no filed deadline is earlier than; `None` if nothing is filed.
    ///
    /// It is the earliest deadline itself, unless that one has been removed since the wheel last looked.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        self.first().map(|(_, min)| min)
    }

    /// The earliest deadline that is filed. Looks at all nodes of a slot, so it is not for the hot paths.
    pub(crate) fn exact_next(&mut self) -> Option<u64> {
        let (index, _) = self.first()?;
        let level = index / SLOTS;
        if level == TOP {
            for slot in self.occupied[TOP].iter() {
                self.recount(TOP * SLOTS + slot);
            }
        } else {
            self.recount(index);
        }
        self.next()
    }

    /// The slot to look at first, and its `min`.
    #[inline]
    fn first(&self) -> Option<(usize, u64)> {
        for (level, &occupied) in self.occupied[..TOP].iter().enumerate() {
            if let Some(slot) = occupied.first() {
                let index = level * SLOTS + slot;
                return Some((index, self.slots[index].min));
            }
        }
        // The top level is ordered by nothing, as what is parked there comes from several rounds.
        let slots = self.occupied[TOP].iter().map(|slot| TOP * SLOTS + slot);
        slots.map(|index| (index, self.slots[index].min)).min_by_key(|&(_, min)| min)
    }

    /// Puts a node where rule 2 wants it.
    ///
    /// # Safety
    ///
    /// The node is alive, in no list, and the wheel's from now on; `when >= self.elapsed`; the slots exist.
    #[inline]
    unsafe fn file(&mut self, node: NonNull<Node>, when: u64) {
        let highest_difference = 63 - ((self.elapsed ^ when) | 1).leading_zeros();
        let level = ((highest_difference / BITS) as usize).min(TOP);
        let digit = (when >> (BITS * level as u32)) as usize % SLOTS;
        let index = level * SLOTS + digit;
        let slot = &mut self.slots[index];
        slot.min = slot.min.min(when);
        // SAFETY: the caller gives the node to the wheel, and `&mut self` is the exclusive hold on it.
        unsafe {
            list::set_place(node, when, index);
            slot.list.push_back(node);
        }
        self.occupied[level].insert(digit);
    }

    /// Files the nodes of a slot again, by the time it is now.
    fn open(&mut self, index: usize) {
        let mut list = std::mem::take(&mut self.slots[index].list);
        self.vacate(index);
        while let Some(node) = list.pop_front() {
            // SAFETY: the node was in this wheel, and has just been taken out of its list.
            unsafe {
                let (when, _) = list::place(node);
                self.file(node, when);
            }
        }
    }

    /// Notes that a slot is empty.
    #[inline]
    fn vacate(&mut self, index: usize) {
        self.slots[index].min = u64::MAX;
        self.occupied[index / SLOTS].remove(index % SLOTS);
    }

    /// Makes a slot's `min` exact.
    fn recount(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.min = slot.list.earliest();
    }
}

#[cold]
fn new_slots() -> Box<[Slot]> {
    (0..LEVELS * SLOTS).map(|_| Slot { list: List::default(), min: u64::MAX }).collect()
}
