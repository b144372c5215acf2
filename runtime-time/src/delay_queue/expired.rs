//! What a [`DelayQueue`](super::DelayQueue) gives out: [`Key`] and [`Expired`].

use crate::Instant;

/// A value in a [`DelayQueue`](super::DelayQueue), for those who want to remove or reset it.
///
/// A queue uses no key twice: one whose value has come out stays void. To another queue it may mean another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub(super) u64);

/// What has come out of a [`DelayQueue`](super::DelayQueue): the value, and when it was due.
///
/// # Example
///
/// ```
/// use rt::time::{DelayQueue, Duration};
///
/// let mut queue = DelayQueue::new();
/// let key = queue.insert(String::from("value"), Duration::from_secs(1));
/// let deadline = queue.deadline(&key);
/// let mut removed = queue.remove(&key);
/// assert_eq!((removed.key(), removed.deadline()), (key, deadline));
/// removed.get_mut().push('s');
/// assert_eq!(removed.get_ref(), "values");
/// assert_eq!(removed.into_inner(), "values");
/// ```
#[derive(Debug)]
pub struct Expired<T> {
    pub(super) value: T,
    pub(super) deadline: Instant,
    pub(super) key: Key,
}

impl<T> Expired<T> {
    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// When its time came, or would have come if it was removed.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The key that it had in the queue, and is void now.
    pub fn key(&self) -> Key {
        self.key
    }
}
