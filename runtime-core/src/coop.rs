//! Cooperative budgets: why one busy task cannot keep its neighbours waiting.
//!
//! Each poll of a task starts with a budget (128 units unless the builder says otherwise). Every leaf future of the
//! runtime (sockets, timers, join handles) spends one unit before it makes progress, through
//! [`poll_proceed`]. When none is left the leaf wakes its task and reports `Pending`, although it could go on: the task
//! goes to the end of the line and finds a full budget at its next turn. Outside a task there is no budget, and
//! nothing is withheld.
//!
//! A future that does much work without touching a leaf can take part by calling [`consume_budget`] now and then, or be
//! wrapped in [`cooperative`]. A future that must not be interrupted can be wrapped in [`unconstrained`].

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::context;

/// The budget of a poll, as one small word in thread-local storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget(Option<u32>);

impl Budget {
    pub(crate) const UNCONSTRAINED: Self = Self(None);

    pub(crate) const fn limited(units: u32) -> Self {
        Self(Some(units))
    }

    /// Spends one unit; false if there was none.
    fn spend(&mut self) -> bool {
        match &mut self.0 {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

/// Gives the unit back that [`poll_proceed`] took, unless [`made_progress`](Self::made_progress) was called: a leaf
/// that had nothing to do did not use the task's turn.
#[must_use = "dropping this gives the unit of budget back at once"]
#[derive(Debug)]
pub struct RestoreOnPending {
    before: Budget,
}

impl RestoreOnPending {
    /// Keeps the unit spent.
    #[inline]
    pub fn made_progress(&mut self) {
        self.before = Budget::UNCONSTRAINED;
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        // An unconstrained budget is never changed by spending, so it needs no restoring and can stand for "keep".
        if self.before != Budget::UNCONSTRAINED {
            context::set_budget(self.before);
        }
    }
}

/// Spends one unit of the running task's budget, or wakes the task and returns `Pending` when none is left.
///
/// A leaf future calls this first, tries its operation, and says [`RestoreOnPending::made_progress`] if the operation
/// succeeded.
///
/// # Example
///
/// ```
/// # use std::task::{Context, Poll, ready};
/// fn poll_leaf(cx: &mut Context<'_>, mut try_it: impl FnMut() -> Option<u32>) -> Poll<u32> {
///     let mut coop = ready!(runtime_core::coop::poll_proceed(cx));
///     match try_it() {
///         Some(value) => {
///             coop.made_progress();
///             Poll::Ready(value)
///         }
///         None => Poll::Pending, // after registering the waker
///     }
/// }
/// ```
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let before = context::budget();
    let mut budget = before;
    if budget.spend() {
        if budget != before {
            context::set_budget(budget);
        }
        Poll::Ready(RestoreOnPending { before })
    } else {
        exhausted(cx)
    }
}

#[cold]
fn exhausted(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    context::count_budget_yield();
    context::wake_in_poll(cx.waker());
    Poll::Pending
}

/// Whether the running task may still make progress in this poll. Always true outside a task.
pub fn has_budget_remaining() -> bool {
    context::budget() != Budget::limited(0)
}

/// Spends one unit of the task's budget; when none is left, lets other tasks run first.
///
/// Call it now and then in a loop that computes without awaiting anything else.
///
/// # Cancel safety
///
/// Cancel safe: dropping the future loses nothing.
///
/// # Example
///
/// ```
/// async fn sum(numbers: &[u64]) -> u64 {
///     let mut total = 0;
///     for chunk in numbers.chunks(1024) {
///         total += chunk.iter().sum::<u64>();
///         runtime_core::coop::consume_budget().await;
///     }
///     total
/// }
/// ```
pub async fn consume_budget() {
    poll_fn(|cx| {
        let mut coop = ready!(poll_proceed(cx));
        coop.made_progress();
        Poll::Ready(())
    })
    .await;
}

/// Runs a future without a budget: no leaf inside it yields because the task has had its turn.
///
/// For a future that reacts badly to spurious `Pending`s, or that must finish what it can in one poll. It can keep
/// other tasks of its worker waiting, so use it on something that waits by itself often enough.
pub fn unconstrained<F>(inner: F) -> Unconstrained<F> {
    Unconstrained { inner }
}

/// The future of [`unconstrained`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Unconstrained<F> {
    inner: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `inner` is pinned whenever `self` is: it is never moved out, `Unconstrained` has no Drop and its
        // Unpin is the derived, structural one.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        let _restore = context::replace_budget(Budget::UNCONSTRAINED);
        inner.poll(cx)
    }
}

/// Makes a future of a foreign library take part: each poll of it that completes spends one unit of the budget.
///
/// Useful around a channel or a lock that knows nothing of this runtime and is always ready.
pub fn cooperative<F: Future>(inner: F) -> Cooperative<F> {
    Cooperative { inner }
}

/// The future of [`cooperative`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Cooperative<F> {
    inner: F,
}

impl<F: Future> Future for Cooperative<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: as in `Unconstrained`: structural pinning of the only field.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        let mut coop = ready!(poll_proceed(cx));
        let output = ready!(inner.poll(cx));
        coop.made_progress();
        Poll::Ready(output)
    }
}
