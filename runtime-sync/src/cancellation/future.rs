//! The futures of [`CancellationToken`].

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime_core::coop;
use runtime_core::task::LockKind;
use runtime_core::task::waits::{self, Leaf};

use super::CancellationToken;
use super::tree::Node;
use crate::Notify;
use crate::notify::Listening;

/// Leads to the `Notify` of a token.
struct OfToken<T>(T);

impl Deref for OfToken<&Node> {
    type Target = Notify;

    fn deref(&self) -> &Notify {
        &self.0.notify
    }
}

impl Deref for OfToken<Arc<Node>> {
    type Target = Notify;

    fn deref(&self) -> &Notify {
        &self.0.notify
    }
}

macro_rules! future_of_token {
    ($name:ident $(<$life:lifetime>)?, $node:ty) => {
        impl $(<$life>)? $name $(<$life>)? {
            pub(super) fn new(node: $node) -> Self {
                Self { listening: Listening::new(OfToken(node)) }
            }

            /// As the future, but for the budget, which is left to a future around this one.
            fn poll_freely(self: Pin<&mut Self>, cx: &Context<'_>) -> Poll<()> {
                // After the `Listening` was made: if the flag is set from here on, that is notified.
                if self.listening.owner().0.is_cancelled() {
                    return Poll::Ready(());
                }
                // SAFETY: the field is pinned when this is: nothing moves it out, and there is no `Drop`.
                let listening = unsafe { self.map_unchecked_mut(|this| &mut this.listening) };
                waits::named(listening.poll_freely(cx), Leaf::Lock(LockKind::CancellationToken, 0))
            }
        }

        impl $(<$life>)? Future for $name $(<$life>)? {
            type Output = ();

            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                // First the place among those that wait, then the budget.
                ready!(self.as_mut().poll_freely(cx));
                ready!(coop::poll_proceed(cx)).made_progress();
                Poll::Ready(())
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

/// The future of [`CancellationToken::cancelled`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitForCancellationFuture<'a> {
    listening: Listening<OfToken<&'a Node>>,
}

/// The future of [`CancellationToken::cancelled_owned`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitForCancellationFutureOwned {
    listening: Listening<OfToken<Arc<Node>>>,
}

future_of_token!(WaitForCancellationFuture<'a>, &'a Node);
future_of_token!(WaitForCancellationFutureOwned, Arc<Node>);

impl CancellationToken {
    /// Runs the future until it is complete or the token is cancelled. `None` if it was cancelled first.
    ///
    /// With a token that is cancelled already the future is not polled. From then on the future goes first in each
    /// poll: if it is complete when the token is cancelled, its output is returned.
    ///
    /// # Cancel safety
    ///
    /// As cancel safe as the future is, which is dropped with this one, and when the token is cancelled.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::CancellationToken;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let token = CancellationToken::new();
    /// assert_eq!(token.run_until_cancelled(async { 7 }).await, Some(7));
    /// token.cancel();
    /// assert_eq!(token.run_until_cancelled(async { 7 }).await, None);
    /// # }
    /// ```
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        if self.is_cancelled() {
            return None;
        }
        let mut cancelled = pin!(self.cancelled());
        let mut future = pin!(future);
        poll_fn(|cx| {
            let said = waits::said();
            said.unless_pending(match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                // Without the budget: a future that spends it all must not keep itself from being cancelled.
                Poll::Pending => cancelled.as_mut().poll_freely(cx).map(|()| None),
            })
        })
        .await
    }

    /// As [`run_until_cancelled`](Self::run_until_cancelled), for a future that owns the token and can be spawned.
    ///
    /// # Cancel safety
    ///
    /// As [`run_until_cancelled`](Self::run_until_cancelled).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::task::CancellationToken;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let token = CancellationToken::new();
    /// let task = rt::spawn(token.clone().run_until_cancelled_owned(std::future::pending::<()>()));
    /// token.cancel();
    /// assert_eq!(task.await.unwrap(), None);
    /// # }
    /// ```
    pub async fn run_until_cancelled_owned<F: Future>(self, future: F) -> Option<F::Output> {
        self.run_until_cancelled(future).await
    }
}
