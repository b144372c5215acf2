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

/// How many bits of the word the state takes.
pub(super) const STATE_BITS: u32 = 3;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;
/// The latest tick that fits above them: nine million years.
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

    /// The word of an entry that waits, and was extended to a tick.
    pub(super) fn waiting_until(when: u64) -> u64 {
        debug_assert!(when <= LATEST);
        Self::Waiting as u64 | when << STATE_BITS
    }
}
