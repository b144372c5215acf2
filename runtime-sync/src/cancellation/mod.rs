//! [`CancellationToken`]: to ask tasks to come to an end.
//!
//! `tree.rs` has the protocol. Programs use this as a part of `rt::task`; the scopes of this crate use it for their
//! gentle end. It must never call a waker, or drop anything of the user's, under the lock of a tree.

mod future;
mod guard;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
mod tree;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

pub use self::future::{WaitForCancellationFuture, WaitForCancellationFutureOwned};
pub use self::guard::{DropGuard, DropGuardRef};
use self::tree::Node;

/// Asks tasks to come to an end, which they do at a place of their own choice.
///
/// A token is cancelled once, and stays so. Clones are the same token. A [`child_token`](Self::child_token) is
/// cancelled with the token that it comes from, and may be cancelled by itself: so a server has a token for all, one
/// for each connection below that, and one for each request below these.
///
/// Dropping a token cancels nothing; [`drop_guard`](Self::drop_guard) does. The children of a token that is dropped
/// belong to the token above it from then on.
///
/// It works on rt, in any other executor, and on plain threads.
///
/// # Fairness
///
/// Those that wait for one token are woken in the order in which they began. Between tokens no order is promised.
///
/// # Memory
///
/// A token without children has three small allocations, each child of it one. The tokens that come from one root
/// share a table of 24 bytes a token (on 64-bit systems) and the lock of that, for an instant, when a child is made or
/// dropped. The table keeps the size that it had once until the last of these tokens is dropped; it has a place for
/// those that were there at a time, not for all that ever were. Who waits is part of the future that waits.
///
/// A tree may be as large and as deep as memory allows: to cancel it, or to drop it, uses a fixed amount of stack.
///
/// # Example
///
/// ```
/// use std::future::pending;
/// use rt::task::CancellationToken;
///
/// # #[rt::main]
/// # async fn main() {
/// let token = CancellationToken::new();
/// let worker = rt::spawn({
///     let token = token.clone();
///     async move {
///         rt::select! {
///             _ = token.cancelled() => "told to end",
///             _ = pending::<()>() => "done",
///         }
///     }
/// });
/// token.cancel();
/// assert_eq!(worker.await.unwrap(), "told to end");
/// # }
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    node: Arc<Node>,
}

// What is behind locks is in order whenever foreign code runs, so a panic of that does no harm.
impl UnwindSafe for CancellationToken {}
impl RefUnwindSafe for CancellationToken {}

impl CancellationToken {
    /// Makes one that is not cancelled, and comes from no other.
    pub fn new() -> Self {
        Self { node: Node::root() }
    }

    /// Makes one that is cancelled when this one is, at once if it has been. To cancel the child does nothing to this.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::CancellationToken;
    ///
    /// let server = CancellationToken::new();
    /// let (first, second) = (server.child_token(), server.child_token());
    /// first.cancel();
    /// assert!(!server.is_cancelled() && !second.is_cancelled());
    /// server.cancel();
    /// assert!(second.is_cancelled() && server.child_token().is_cancelled());
    /// ```
    pub fn child_token(&self) -> Self {
        Self { node: self.node.child() }
    }

    /// Cancels this token and all that come from it, and wakes those that wait for them.
    ///
    /// It is not one step: others may see a token cancelled, and one that comes from it not yet. When the call returns
    /// all are cancelled. What was done before the call is seen by a thread that finds one of them cancelled.
    ///
    /// # Panics
    ///
    /// If a waker panics; with its panic, after all others were called. But not if the thread is panicking already, so
    /// that a guard that is dropped in a panic does not end the process.
    ///
    /// # Example
    ///
    /// ```
    /// let token = rt::task::CancellationToken::new();
    /// assert!(!token.is_cancelled());
    /// token.cancel();
    /// assert!(token.is_cancelled());
    /// ```
    pub fn cancel(&self) {
        self.node.cancel();
    }

    /// Whether the token is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.node.is_cancelled()
    }

    /// Waits until the token is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, nothing happens.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let token = rt::task::CancellationToken::new();
    /// let waits = token.cancelled();
    /// token.cancel();
    /// waits.await;
    /// # }
    /// ```
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        WaitForCancellationFuture::new(&self.node)
    }

    /// As [`cancelled`](Self::cancelled), for a future that owns the token and can be spawned.
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() {
    /// let token = rt::task::CancellationToken::new();
    /// let waits = rt::spawn(token.clone().cancelled_owned());
    /// token.cancel();
    /// waits.await.unwrap();
    /// # }
    /// ```
    pub fn cancelled_owned(self) -> WaitForCancellationFutureOwned {
        WaitForCancellationFutureOwned::new(self.node)
    }

    /// A guard that cancels the token when it is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// let token = rt::task::CancellationToken::new();
    /// {
    ///     let _guard = token.clone().drop_guard();
    ///     assert!(!token.is_cancelled());
    /// }
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(self) -> DropGuard {
        DropGuard::new(self)
    }

    /// As [`drop_guard`](Self::drop_guard), for a guard that borrows the token.
    ///
    /// # Example
    ///
    /// ```
    /// let token = rt::task::CancellationToken::new();
    /// drop(token.drop_guard_ref());
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard_ref(&self) -> DropGuardRef<'_> {
        DropGuardRef::new(self)
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal are clones of each other: to cancel one cancels the other, both ways.
impl PartialEq for CancellationToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }
}

impl Eq for CancellationToken {}

impl Hash for CancellationToken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.node).hash(state);
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken").field("is_cancelled", &self.is_cancelled()).finish()
    }
}
