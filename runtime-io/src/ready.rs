//! What the operating system has said about a descriptor: a small set of flags.
//!
//! The readiness word stores these bits as they are; programs get them from `ready()` and the guards of `AsyncFd`.

use std::fmt;
use std::ops;

use crate::interest::Interest;

/// What a descriptor is ready for, as far as is known.
///
/// Readiness is a hint: an operation can still find that it would block, and must then be tried again later.
///
/// # Example
///
/// ```
/// use rt::io::Ready;
///
/// let ready = Ready::READABLE | Ready::WRITABLE;
/// assert!(ready.is_readable());
/// assert!((ready - Ready::READABLE).is_writable());
/// assert!(!Ready::EMPTY.is_readable());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ready(u8);

impl Ready {
    /// Ready for nothing.
    pub const EMPTY: Ready = Ready(0);
    /// A read may make progress.
    pub const READABLE: Ready = Ready(1);
    /// A write may make progress.
    pub const WRITABLE: Ready = Ready(1 << 1);
    /// The other side will send nothing more; reads find the end once they have taken what is there.
    pub const READ_CLOSED: Ready = Ready(1 << 2);
    /// Nothing more can be written.
    pub const WRITE_CLOSED: Ready = Ready(1 << 3);
    /// Something urgent is there (out-of-band data, a change of a sysfs file). Linux and Android report it.
    pub const PRIORITY: Ready = Ready(1 << 4);
    /// The descriptor has an error to report.
    pub const ERROR: Ready = Ready(1 << 5);
    /// Everything.
    pub const ALL: Ready = Ready((1 << 6) - 1);

    const CLOSED: Ready = Ready(Self::READ_CLOSED.0 | Self::WRITE_CLOSED.0);

    /// Whether no flag is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a read would not block: there is data, or the end of it.
    pub const fn is_readable(self) -> bool {
        self.intersects(Ready(Self::READABLE.0 | Self::READ_CLOSED.0))
    }

    /// Whether a write would not block: there is room, or it would fail at once.
    pub const fn is_writable(self) -> bool {
        self.intersects(Ready(Self::WRITABLE.0 | Self::WRITE_CLOSED.0))
    }

    /// Whether the other side will send nothing more.
    pub const fn is_read_closed(self) -> bool {
        self.intersects(Self::READ_CLOSED)
    }

    /// Whether nothing more can be written.
    pub const fn is_write_closed(self) -> bool {
        self.intersects(Self::WRITE_CLOSED)
    }

    /// Whether something urgent is there.
    pub const fn is_priority(self) -> bool {
        self.intersects(Self::PRIORITY)
    }

    /// Whether the descriptor has an error to report.
    pub const fn is_error(self) -> bool {
        self.intersects(Self::ERROR)
    }

    /// Whether every flag of `other` is set here too.
    pub const fn contains(self, other: Ready) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn intersects(self, other: Ready) -> bool {
        self.0 & other.0 != 0
    }

    /// The part of this that somebody with `interest` wants to hear of.
    #[inline]
    pub(crate) const fn satisfying(self, interest: Interest) -> Ready {
        Ready(self.0 & interest.mask().0)
    }

    pub(crate) const fn without_closed(self) -> Ready {
        Ready(self.0 & !Self::CLOSED.0)
    }

    pub(crate) const fn bits(self) -> usize {
        self.0 as usize
    }

    /// Takes the flags out of a word that holds them in its lowest bits.
    pub(crate) const fn from_low_bits(word: usize) -> Ready {
        Ready(word as u8 & Self::ALL.0)
    }

    pub(crate) const fn union(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }

    pub(crate) fn from_mio(event: &mio::event::Event) -> Ready {
        let mut ready = Ready::EMPTY;
        let flags = [
            (event.is_readable(), Ready::READABLE),
            (event.is_writable(), Ready::WRITABLE),
            (event.is_read_closed(), Ready::READ_CLOSED),
            (event.is_write_closed(), Ready::WRITE_CLOSED),
            (event.is_priority(), Ready::PRIORITY),
            // An error can come alone. A task that waits, for whichever direction, has to try in order to hear of it.
            (event.is_error(), Ready::ERROR.union(Ready::READABLE).union(Ready::WRITABLE)),
        ];
        for (set, flag) in flags {
            if set {
                ready |= flag;
            }
        }
        ready
    }
}

impl ops::BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        self.union(other)
    }
}

impl ops::BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        *self = *self | other;
    }
}

impl ops::BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl ops::Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Ready");
        f.field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error());
        if cfg!(any(target_os = "linux", target_os = "android")) {
            f.field("is_priority", &self.is_priority());
        }
        f.finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn it_prints_what_its_methods_say() {
        assert_eq!(
            format!("{:?}", Ready::READ_CLOSED | Ready::PRIORITY),
            "Ready { is_readable: true, is_writable: false, is_read_closed: true, is_write_closed: false, \
             is_error: false, is_priority: true }"
        );
    }
}
