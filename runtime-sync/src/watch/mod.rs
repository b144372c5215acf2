//! A channel that keeps one value, the latest, for any number of receivers to look at and to wait for.
//!
//! [`channel`] makes a sender and a receiver; both can be cloned. A receiver sees the value by reference, knows which
//! *version* of it it has seen, and can wait for another. It may miss versions, but never the last. For configuration,
//! state, and the signal to shut down.
//!
//! # Borrowed values
//!
//! [`Receiver::borrow`] locks the value for reading: until the [`Ref`] is dropped, senders block their threads, and so
//! may later readers. So let go of it soon, never hold it over an `await` (the compiler refuses that in a spawned
//! task), and do not borrow twice at a time on one thread. The closures of [`send_modify`](Sender::send_modify) and the
//! like run with the value locked, and must not use the channel.
//!
//! # Memory
//!
//! One allocation for a channel, of the size of the value and some 34 words. A receiver is two words, a waiter part of
//! the future that waits.
//!
//! # Fairness
//!
//! A send wakes all receivers that wait. Each list of them is woken in the order in which they began to wait.
//!
//! # How it works
//!
//! The value lies behind a lock for readers and writers. One word beside it holds the version, and whether somebody
//! waits for the next. A sender writes the value and advances the version under the lock. In the same exchange it
//! learns whether anybody waits, and says that nobody does any more. Only if somebody did it wakes them: it takes out
//! of each list who waits for another version than the present. There are several lists, each with a lock of its own.
//!
//! A receiver that would wait takes the lock of a list, looks at the word again, sets the bit if it is not set, and
//! puts itself in. If the bit is set, and the version the one that it knows, the sender that advances it has yet to
//! come, and will look through the list: had it done so already, the receiver would have seen its version, as it has
//! the lock of the list.

mod changed;
pub mod error;
#[cfg(all(test, loom))]
mod loom_tests;
mod receiver;
mod sender;
mod shared;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;

use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use runtime_core::primitive::RwLockReadGuard;

pub use self::receiver::Receiver;
pub use self::sender::Sender;
use self::shared::Shared;
use self::state::Version;

/// Makes a channel with its first value, which the receiver counts as seen.
///
/// # Example
///
/// ```
/// use rt::sync::watch;
///
/// # #[rt::main]
/// # async fn main() {
/// let (tx, mut rx) = watch::channel("starting");
/// let watcher = rt::spawn(async move {
///     while rx.changed().await.is_ok() {
///         println!("now it is {}", *rx.borrow_and_update());
///     }
/// });
/// tx.send("running").unwrap();
/// drop(tx);
/// watcher.await.unwrap();
/// # }
/// ```
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared::new(init, 1));
    (Sender { shared: shared.clone() }, Receiver { shared, known: Version::FIRST })
}

/// The value of a channel, locked for reading. See the [module](self) about how long.
#[derive(Debug)]
pub struct Ref<'a, T> {
    guard: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

// The lock is not poisoned by a panic: the value is the user's, who sees what is left of it.
impl<T> UnwindSafe for Ref<'_, T> {}
impl<T> RefUnwindSafe for Ref<'_, T> {}

impl<T> Ref<'_, T> {
    /// Whether the receiver had not seen this version when it borrowed the value. Always false if the sender did.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::watch::channel(1);
    /// tx.send(2).unwrap();
    /// assert!(rx.borrow_and_update().has_changed());
    /// assert!(!rx.borrow_and_update().has_changed());
    /// ```
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}
