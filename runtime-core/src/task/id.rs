//! Task identifiers.

use std::fmt;

/// Identifies a task among all those of the process.
///
/// Never used twice. Workers draw identifiers in blocks, so they say nothing about the order in which tasks were
/// spawned.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// let task = rt::spawn(async { rt::task::id() });
/// let id = task.id();
/// assert_eq!(task.await.unwrap(), id);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
