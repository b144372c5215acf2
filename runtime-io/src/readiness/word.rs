//! The readiness word: what one descriptor is ready for, packed into a `usize` together with what makes it safe to
//! clear and to reuse.
//!
//! From the lowest bit up:
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0-5 | ready | the flags of [`Ready`] |
//! | 6 | wary | a transfer that ran short proves nothing here. Stays until the next registration |
//! | 7 | shutdown | the driver is gone: every operation fails from now on. Never cleared |
//! | 8 | lent | other code knows the descriptor. Stays until the next registration |
//! | 9.. | tick | counts the events and loans of this registration, and wraps. A clear names the count that it saw |
//! | the rest | generation | counts the registrations this slot has had, and wraps. A token carries it too |
//!
//! Where a word has 32 bits, the tick has 11 of them: 2048 events between a look and its clear would pass for none.
//!
//! This file is arithmetic only. The protocol is in the module above.

use crate::ready::Ready;

const WARY: usize = 1 << 6;
const SHUTDOWN: usize = 1 << 7;
const LENT: usize = 1 << 8;
const TICK_SHIFT: u32 = 9;
const GENERATION_SHIFT: u32 = usize::BITS - Word::GENERATION_BITS;
const TICK_MASK: usize = (1 << (GENERATION_SHIFT - TICK_SHIFT)) - 1;

/// A value of the readiness word, with its parts and the changes that the protocol makes to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(usize);

impl Word {
    /// How much of a word, and of a token, is generation: half of either, less where a word has only 32 bits. There,
    /// 4096 registrations of the same slot within one batch of events would let the oldest pass for the newest.
    pub(super) const GENERATION_BITS: u32 = if usize::BITS >= 64 { 32 } else { 12 };

    /// The first registration of a slot.
    pub(super) const FIRST: Word = Word(0);

    pub(super) fn from_raw(raw: usize) -> Self {
        Self(raw)
    }

    pub(super) fn raw(self) -> usize {
        self.0
    }

    pub(super) fn ready(self) -> Ready {
        Ready::from_low_bits(self.0)
    }

    pub(super) fn is_shut_down(self) -> bool {
        self.0 & SHUTDOWN != 0
    }

    pub(super) fn tick(self) -> usize {
        (self.0 >> TICK_SHIFT) & TICK_MASK
    }

    pub(super) fn generation(self) -> usize {
        self.0 >> GENERATION_SHIFT
    }

    /// One more event: its flags are added, and it is counted. Urgent data or an error make the word wary.
    pub(super) fn with_event(self, event: Ready) -> Self {
        let wary = if event.is_priority() || event.is_error() { WARY } else { 0 };
        Self(self.next_tick().0 | wary | event.bits())
    }

    fn next_tick(self) -> Self {
        let tick = (self.tick() + 1) & TICK_MASK;
        Self((self.0 & !(TICK_MASK << TICK_SHIFT)) | (tick << TICK_SHIFT))
    }

    pub(super) fn is_wary(self) -> bool {
        self.0 & WARY != 0
    }

    /// From now on a transfer that ran short proves nothing.
    pub(super) fn wary(self) -> Self {
        Self(self.0 | WARY)
    }

    pub(super) fn is_lent(self) -> bool {
        self.0 & LENT != 0
    }

    /// Other code comes to know the descriptor. It is counted like an event: an operation that began before it, and
    /// knew nothing of it, clears nothing.
    pub(super) fn lent(self) -> Self {
        Self(self.next_tick().0 | LENT)
    }

    /// More flags, not by an event.
    pub(super) fn with_ready(self, ready: Ready) -> Self {
        Self(self.0 | ready.bits())
    }

    pub(super) fn without_ready(self, ready: Ready) -> Self {
        Self(self.0 & !ready.bits())
    }

    pub(super) fn shut_down(self) -> Self {
        Self(self.0 | SHUTDOWN)
    }

    /// The same slot, before its next registration: nothing is known, but a shutdown stays one.
    pub(super) fn next_generation(self) -> Self {
        let generation = self.generation().wrapping_add(1) << GENERATION_SHIFT;
        Self(generation | (self.0 & SHUTDOWN))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_word_do_not_touch_each_other() {
        let word = Word::FIRST.with_event(Ready::ALL).shut_down();
        assert_eq!((word.ready(), word.tick(), word.generation()), (Ready::ALL, 1, 0));
        assert!(word.is_shut_down());
        let bare = word.without_ready(Ready::ALL);
        assert_eq!((bare.ready(), bare.tick()), (Ready::EMPTY, 1));
        assert!(bare.is_shut_down());
        let next = word.next_generation();
        assert_eq!((next.ready(), next.tick(), next.generation()), (Ready::EMPTY, 0, 1));
        assert!(next.is_shut_down());
    }

    #[test]
    fn a_wary_word_stays_so_until_the_next_registration() {
        assert!(!Word::FIRST.with_event(Ready::ALL - Ready::PRIORITY - Ready::ERROR).is_wary());
        for wary in [Word::FIRST.with_event(Ready::PRIORITY), Word::FIRST.with_event(Ready::ERROR), Word::FIRST.wary()]
        {
            let later = wary.without_ready(Ready::ALL).with_event(Ready::READABLE);
            assert!(later.is_wary());
            assert_eq!(later.ready(), Ready::READABLE);
            assert!(!later.next_generation().is_wary());
        }
    }

    #[test]
    fn a_loan_is_counted_and_known_until_the_next_registration() {
        let lent = Word::FIRST.with_event(Ready::READABLE).lent();
        assert_eq!((lent.tick(), lent.ready(), lent.is_wary(), lent.is_lent()), (2, Ready::READABLE, false, true));
        let later = lent.without_ready(Ready::ALL).with_event(Ready::WRITABLE);
        assert_eq!((later.tick(), later.is_lent()), (3, true));
        assert!(!later.next_generation().is_lent());
    }

    #[test]
    fn tick_and_generation_wrap_within_their_own_bits() {
        let mut word = Word(TICK_MASK << TICK_SHIFT).next_generation();
        word.0 |= TICK_MASK << TICK_SHIFT;
        let wrapped = word.with_event(Ready::READABLE);
        assert_eq!((wrapped.tick(), wrapped.generation(), wrapped.ready()), (0, 1, Ready::READABLE));
        let last = Word(usize::MAX << GENERATION_SHIFT);
        assert_eq!(last.next_generation().generation(), 0);
    }
}
