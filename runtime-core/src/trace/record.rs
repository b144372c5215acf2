//! [`Record`]: what 16 bytes say of an event.
//!
//! ```text
//! first word     8 bits kind      56 bits ticks (`clock/ticks.rs`), without those above
//! second word   16 bits site      48 bits number of the task
//!               or 64 bits: how many tasks wait
//! ```
//!
//! 56 bits of ticks last for more than five months at 5 GHz; a reader takes a record for the youngest that it can be.
//! Of a task's number the lowest 48 bits are kept, of which a program that spawns ten million tasks a second has enough
//! for most of a year.
//!
//! A *site* is where the task was spawned, and its name: their number in the recording's table (`sites.rs`). It
//! stands in each record of a task, not only in that of its spawn: that of a task which has lived for long was
//! overwritten long ago.

use super::ring::Words;

const TICK_BITS: u32 = 56;
const TASK_BITS: u32 = 48;

/// What happened. The numbers are those in the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Spawned = 1,
    Polled = 2,
    Pending = 3,
    Completed = 4,
    Panicked = 5,
    Woken = 6,
    Parked = 7,
    Unparked = 8,
    QueueDepth = 9,
    InjectorDepth = 10,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Spawned,
        Self::Polled,
        Self::Pending,
        Self::Completed,
        Self::Panicked,
        Self::Woken,
        Self::Parked,
        Self::Unparked,
        Self::QueueDepth,
        Self::InjectorDepth,
    ];

    /// Whether it is about a task.
    pub(super) fn has_task(self) -> bool {
        !matches!(self, Self::Parked | Self::Unparked | Self::QueueDepth | Self::InjectorDepth)
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    /// When, if it is packed without the bits above the lowest 56.
    pub(super) ticks: u64,
    /// The second word.
    pub(super) payload: u64,
}

impl Record {
    #[inline]
    pub(super) fn of_task(kind: Kind, ticks: u64, task: u64, site: u16) -> Self {
        let payload = (u64::from(site) << TASK_BITS) | (task & ((1 << TASK_BITS) - 1));
        Self { kind, ticks, payload }
    }

    #[inline]
    pub(super) fn pack(self) -> Words {
        [(u64::from(self.kind as u8) << TICK_BITS) | (self.ticks & ((1 << TICK_BITS) - 1)), self.payload]
    }

    /// What was packed at `now` or before. `None` for a record that nobody has written.
    pub(super) fn unpack(words: Words, now: u64) -> Option<Self> {
        let kind = Kind::ALL.get(((words[0] >> TICK_BITS) as usize).wrapping_sub(1))?;
        let age = now.wrapping_sub(words[0]) & ((1 << TICK_BITS) - 1);
        Some(Self { kind: *kind, ticks: now.wrapping_sub(age), payload: words[1] })
    }

    pub(super) fn task(self) -> u64 {
        self.payload & ((1 << TASK_BITS) - 1)
    }

    pub(super) fn site(self) -> u16 {
        (self.payload >> TASK_BITS) as u16
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for (number, kind) in (1..).zip(Kind::ALL) {
            assert_eq!(kind as usize, number);
            let record = Record::of_task(kind, (7 << TICK_BITS) + 5, (1 << TASK_BITS) - 3, 0xfedc);
            // Up to nearly 2^56 ticks later.
            for now in [(7 << TICK_BITS) + 5, (7 << TICK_BITS) + 900, (8 << TICK_BITS) + 4] {
                assert_eq!(Record::unpack(record.pack(), now), Some(record));
            }
            assert_eq!((record.task(), record.site()), ((1 << TASK_BITS) - 3, 0xfedc));
        }
        assert_eq!(Record::unpack([0, 0], 100), None);
        assert_eq!(Record::unpack([0xff << TICK_BITS, 0], 100), None);
    }
}
