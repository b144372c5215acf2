//! Cooperative budgets: why one busy task cannot keep its neighbours waiting.
//!
//! Each poll of a task starts with a budget (128 units unless the builder says otherwise). A leaf future of the runtime
//! (a socket, a join handle, a timer that is past already when it is first polled) spends one unit before it makes
//! progress, through [`poll_proceed`]. When none is left the leaf wakes its task and reports `Pending`, although it
//! could go on: the task goes to the end of the line and finds a full budget at its next turn. A timer that has waited
//! for its time is the exception (see below). Outside a task there is no budget, and nothing is withheld.
//!
//! A future that does much work without touching a leaf can take part by calling [`consume_budget`] now and then, or be
//! wrapped in [`cooperative`]. A future that must not be interrupted can be wrapped in [`unconstrained`].
//!
//! # When nobody returns to the scheduler
//!
//! A leaf that is refused relies on its caller to return `Pending` in turn, until the poll of the task is over. Two
//! kinds of callers poll it again instead:
//!
//! - A combinator with wakers of its own polls the child that was woken once or twice more, and then returns.
//! - The `block_on` of another crate, called by a synchronous function inside the task, never returns: it polls the
//!   leaf until it is ready. If it were refused each time, the thread would spin for ever.
//!
//! The leaf cannot tell them apart; both wakers are foreign to it. But the number of refusals can: a combinator is
//! refused a few times for each of its children, `block_on` without end. So refusals are counted, and **after as many
//! of them as the budget has units, in one poll of the task, the budget is renewed**. A poll of a task therefore does
//! at most one operation for each unit and one for each refusal: a combinator over any number of children stays within
//! a constant factor of what it costs to ask all its children once, and `block_on` goes on.
//!
//! # What needs no budget
//!
//! A timer that has waited for its time: see `Sleep` in the crate of the timers. A deadline would otherwise not be seen
//! by a task whose other branches spend the whole budget in each poll. Such a leaf calls [`charge`], which refuses
//! nothing. It must not be ready so more than once for each time that it was `Pending`: a loop over it would never let
//! others run.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::task::current;

/// The budget of a poll: two small words in thread-local storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// What the poll started with. Zero: nothing is counted, and nothing refused.
    units: i32,
    /// What is left; below zero, how many leaves have been refused since there was none left.
    left: i32,
}

impl Budget {
    pub(crate) const UNCONSTRAINED: Self = Self { units: 0, left: 0 };

    /// A full budget. More than `i32::MAX` units make no difference to anybody, and count as that.
    pub(crate) fn limited(units: u32) -> Self {
        let units = i32::try_from(units).unwrap_or(i32::MAX);
        Self { units, left: units }
    }

    /// Whether all of it is left.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    #[inline]
    pub(crate) fn is_untouched(self) -> bool {
        self.left == self.units
    }

    const fn is_constrained(self) -> bool {
        self.units != 0
    }

    /// Called when a leaf finds no budget. False if the leaf is not to be refused: as many were refused as the budget
    /// has units, and the budget is renewed.
    fn refuse(&mut self) -> bool {
        debug_assert!(self.left <= 0);
        let refused = self.left > -self.units;
        self.left = if refused { self.left - 1 } else { self.units };
        refused
    }
}

/// Gives the unit back that [`poll_proceed`] took, unless [`made_progress`](Self::made_progress) was called: a leaf
/// that had nothing to do did not use the task's turn.
#[must_use = "dropping this gives the unit of budget back at once"]
#[derive(Debug)]
pub struct RestoreOnPending {
    /// A cell, for `made_progress` to take `&self`: libraries that are written for Tokio bind it without `mut`.
    has_taken: Cell<bool>,
    /// The budget is that of the poll that this thread is in: on another one, or after an `await`, it would be given to
    /// the wrong task.
    _stays: PhantomData<*const ()>,
}

impl RestoreOnPending {
    /// Keeps the unit spent.
    #[inline]
    pub fn made_progress(&self) {
        self.has_taken.set(false);
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        if self.has_taken.get() {
            let mut budget = current::budget();
            // If another leaf was refused meanwhile, that stays known. (Else a `block_on` inside of this one would
            // never be refused often enough.)
            if budget.is_constrained() && budget.left >= 0 {
                // The budget may have been renewed meanwhile, and is full then.
                budget.left = budget.left.saturating_add(1).min(budget.units);
                current::set_budget(budget);
            }
        }
    }
}

/// Spends one unit of the running task's budget, or wakes the task and returns `Pending` when none is left.
///
/// A leaf future calls this first, tries its operation, and says [`RestoreOnPending::made_progress`] if the operation
/// succeeded. It is meant for leaves: a future that polls others that take part should not hold a unit meanwhile,
/// which may be the last. ([`cooperative`] does without.)
///
/// # Example
///
/// ```
/// # use std::task::{Context, Poll, ready};
/// fn poll_leaf(cx: &mut Context<'_>, mut try_it: impl FnMut() -> Option<u32>) -> Poll<u32> {
///     let coop = ready!(rt::task::coop::poll_proceed(cx));
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
    let mut budget = current::budget();
    let has_taken = budget.is_constrained();
    if has_taken {
        if budget.left <= 0 {
            budget = ready!(poll_renewed(cx, budget));
        }
        budget.left -= 1;
        current::set_budget(budget);
    }
    Poll::Ready(RestoreOnPending { has_taken: Cell::new(has_taken), _stays: PhantomData })
}

/// As [`poll_proceed`], but a poll with another waker than the task's own is never refused.
///
/// For what only looks whether something is ready. A combinator or a test harness that polls it with a waker of its
/// own is told how it is, as by Tokio; the loop of a task, which polls with the task's waker, lets others run.
#[inline]
pub fn poll_proceed_unless_foreign(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let budget = current::budget();
    if budget.is_constrained() && budget.left <= 0 && !current::is_own_waker(cx.waker()) {
        return Poll::Ready(RestoreOnPending { has_taken: Cell::new(false), _stays: PhantomData });
    }
    poll_proceed(cx)
}

/// As [`poll_proceed`], where a unit is left. Else `None`, which refuses nothing: the caller goes on to a leaf that
/// calls that.
///
/// For an operation that mostly succeeds at once, and makes its leaf only when it does not.
///
/// # Example
///
/// ```
/// async fn receive(try_it: impl Fn() -> Option<u32>, leaf: impl Future<Output = u32>) -> u32 {
///     if let Some(coop) = rt::task::coop::proceed_now()
///         && let Some(value) = try_it()
///     {
///         coop.made_progress();
///         return value;
///     }
///     leaf.await
/// }
/// # #[rt::main]
/// # async fn main() { assert_eq!(receive(|| Some(1), std::future::pending()).await, 1) }
/// ```
#[doc(hidden)]
#[inline]
pub fn proceed_now() -> Option<RestoreOnPending> {
    let mut budget = current::budget();
    let has_taken = budget.is_constrained();
    if has_taken {
        if budget.left <= 0 {
            return None;
        }
        budget.left -= 1;
        current::set_budget(budget);
    }
    Some(RestoreOnPending { has_taken: Cell::new(has_taken), _stays: PhantomData })
}

/// When no unit is left: refuses, or renews the budget.
#[cold]
fn poll_renewed(cx: &mut Context<'_>, mut budget: Budget) -> Poll<Budget> {
    if budget.left == 0 {
        current::count_budget_yield();
    }
    let refused = budget.refuse();
    current::set_budget(budget);
    if !refused {
        return Poll::Ready(budget);
    }
    current::wake_in_poll(cx.waker());
    Poll::Pending
}

/// Wakes the task and returns `Pending` if the budget of this poll is used up, as [`poll_proceed`] does, but spends
/// nothing otherwise.
///
/// For a combinator that is asked to begin something new, and does not know whether what it polls takes part.
#[doc(hidden)]
pub fn poll_budget_available(cx: &mut Context<'_>) -> Poll<()> {
    let budget = current::budget();
    if budget.is_constrained() && budget.left <= 0 { poll_renewed(cx, budget).map(drop) } else { Poll::Ready(()) }
}

/// Spends one unit of the running task's budget, if there is one left.
///
/// For what takes a turn of the task, but must not be held back.
#[inline]
pub fn charge() {
    let mut budget = current::budget();
    if budget.left > 0 {
        budget.left -= 1;
        current::set_budget(budget);
    }
}

/// Whether the running task may still make progress in this poll. Always true outside a task.
pub fn has_budget_remaining() -> bool {
    let budget = current::budget();
    !budget.is_constrained() || budget.left > 0
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
///         rt::task::coop::consume_budget().await;
///     }
///     total
/// }
/// ```
pub async fn consume_budget() {
    poll_fn(|cx| {
        let coop = ready!(poll_proceed(cx));
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

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `inner` is pinned whenever `self` is: it is never moved out, `Unconstrained` has no Drop and its
        // Unpin is the derived, structural one.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        let _restore = current::replace_budget(Budget::UNCONSTRAINED);
        inner.poll(cx)
    }
}

/// Makes a future of a foreign library take part: each poll of it that completes spends one unit of the budget.
///
/// Useful around a channel or a lock that knows nothing of this runtime and is always ready.
pub fn cooperative<F: Future>(inner: F) -> Coop<F> {
    Coop { inner }
}

/// The future of [`cooperative`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Coop<F> {
    inner: F,
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: as in `Unconstrained`: structural pinning of the only field.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        // Nothing is held while the future is polled: it may want the last unit itself.
        drop(ready!(poll_proceed(cx)));
        let output = ready!(inner.poll(cx));
        charge();
        Poll::Ready(output)
    }
}
