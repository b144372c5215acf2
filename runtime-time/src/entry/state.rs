//! An entry's state, and the word that it shares with the tick to which the entry was extended.

/// Where an entry is in its life. See the table in the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum State {
    New,
    Ahead,
    Waiting,
    Fired,
    Closed,
    Past,
    Told,
}

const STATE_MASK: u64 = 0b111;
/// In `Waiting`: the entry has been set again, and nobody has polled it since, so nobody waits for it.
const UNPOLLED: u64 = 1 << 3;
/// How many bits of the word the two take.
pub(super) const STATE_BITS: u32 = 4;
/// The latest tick that fits above them: a million years.
pub(super) const LATEST: u64 = u64::MAX >> STATE_BITS;

impl State {
    /// The state in an entry's word.
    pub(super) fn of_word(word: u64) -> Self {
        match word & STATE_MASK {
            0 => Self::New,
            1 => Self::Ahead,
            2 => Self::Waiting,
            3 => Self::Fired,
            4 => Self::Closed,
            5 => Self::Past,
            _ => Self::Told,
        }
    }

    /// The word of an entry that waits.
    pub(super) fn waiting(is_unpolled: bool) -> u64 {
        Self::Waiting as u64 | if is_unpolled { UNPOLLED } else { 0 }
    }

    /// The word of an entry that has waited with this word, and was extended to a tick.
    pub(super) fn waiting_until(when: u64, word: u64) -> u64 {
        debug_assert!(when <= LATEST);
        Self::Waiting as u64 | word & UNPOLLED | when << STATE_BITS
    }

    /// Whether it is the word of an entry that waits, and that nobody has polled since it was set again.
    pub(super) fn is_unpolled(word: u64) -> bool {
        word & UNPOLLED != 0
    }

    /// What of the word of an entry that waits stays when it is polled.
    pub(super) fn polled() -> u64 {
        !UNPOLLED
    }

    /// What becomes of an entry that has waited with this word.
    pub(super) fn after_wait(self, word: u64) -> Self {
        if self == Self::Fired && Self::is_unpolled(word) { Self::Past } else { self }
    }
}
