//! What somebody wants to know about a descriptor: never the empty set.

use std::fmt;
use std::ops;

use crate::ready::Ready;

/// What to wait for.
///
/// # Example
///
/// ```
/// use rt::io::Interest;
///
/// let both = Interest::READABLE | Interest::WRITABLE;
/// assert!(both.is_readable() && both.is_writable());
/// assert_eq!(both.remove(Interest::WRITABLE), Some(Interest::READABLE));
/// assert_eq!(Interest::READABLE.remove(Interest::READABLE), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interest(u8);

const READABLE: u8 = 1;
const WRITABLE: u8 = 1 << 1;
const PRIORITY: u8 = 1 << 2;
const ERROR: u8 = 1 << 3;

impl Interest {
    /// Reads, which includes the end of what there is to read.
    pub const READABLE: Interest = Interest(READABLE);
    /// Writes, which includes that writing has become impossible.
    pub const WRITABLE: Interest = Interest(WRITABLE);
    /// Something urgent. Only Linux and Android report it; elsewhere it never comes.
    pub const PRIORITY: Interest = Interest(PRIORITY);
    /// Errors, which come in any case; this asks to be woken by them alone.
    pub const ERROR: Interest = Interest(ERROR);

    /// Whether this includes [`READABLE`](Self::READABLE).
    pub const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Whether this includes [`WRITABLE`](Self::WRITABLE).
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Whether this includes [`PRIORITY`](Self::PRIORITY).
    pub const fn is_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }

    /// Whether this includes [`ERROR`](Self::ERROR).
    pub const fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }

    /// Both interests together; the same as `|`, for constants.
    #[allow(clippy::should_implement_trait)] // the established name; the operator for this is `|`
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// This without `other`, or `None` if nothing is left.
    pub const fn remove(self, other: Interest) -> Option<Interest> {
        match self.0 & !other.0 {
            0 => None,
            left => Some(Interest(left)),
        }
    }

    /// The readiness that ends a wait with this interest.
    pub(crate) const fn mask(self) -> Ready {
        let mut mask = Ready::EMPTY;
        if self.is_readable() {
            mask = mask.union(Ready::READABLE).union(Ready::READ_CLOSED);
        }
        if self.is_writable() {
            mask = mask.union(Ready::WRITABLE).union(Ready::WRITE_CLOSED);
        }
        if self.is_priority() {
            mask = mask.union(Ready::PRIORITY).union(Ready::READ_CLOSED);
        }
        if self.is_error() {
            mask = mask.union(Ready::ERROR);
        }
        mask
    }

    pub(crate) fn to_mio(self) -> mio::Interest {
        let mut wanted: Option<mio::Interest> = None;
        let mut want = |interest| wanted = Some(wanted.map_or(interest, |sofar: mio::Interest| sofar | interest));
        if self.is_readable() {
            want(mio::Interest::READABLE);
        }
        if self.is_writable() {
            want(mio::Interest::WRITABLE);
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.is_priority() {
            want(mio::Interest::PRIORITY);
        }
        // An interest in errors alone, and in what this platform does not report: errors come with any registration.
        wanted.unwrap_or(mio::Interest::READABLE)
    }
}

impl ops::BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

impl ops::BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Interest) {
        *self = *self | other;
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(READABLE, "READABLE"), (WRITABLE, "WRITABLE"), (PRIORITY, "PRIORITY"), (ERROR, "ERROR")];
        let mut first = true;
        for (bit, name) in names {
            if self.0 & bit != 0 {
                if !first {
                    f.write_str(" | ")?;
                }
                f.write_str(name)?;
                first = false;
            }
        }
        Ok(())
    }
}
