//! [`Id`]: which runtime of the process a runtime is.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies a runtime among all those of the process. Never used twice.
///
/// # Example
///
/// ```
/// let (one, other) = (rt::runtime::Runtime::new().unwrap(), rt::runtime::Runtime::new().unwrap());
/// assert_ne!(one.handle().id(), other.handle().id());
/// assert_eq!(one.block_on(async { rt::runtime::Handle::current().id() }), one.handle().id());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(NonZeroU64);

impl Id {
    /// One that no runtime, and no local set, had before.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(NonZeroU64::new(id).expect("a process does not start 2^64 runtimes"))
    }

    /// The number; never zero.
    pub(crate) fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
