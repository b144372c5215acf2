//! The futures of [`Notify`]. See the module above for the protocol.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use runtime_core::coop;
use runtime_core::task::LockKind;
use runtime_core::task::waits::{self, Leaf};

use super::state::{Round, State};
use super::{BY_ALL, BY_LAST, BY_ONE, Notify};
use crate::waiters::{LISTED, Waiter};

/// What the two futures have in common.
struct Wait {
    stage: Stage,
    /// That in which the future was made.
    round: Round,
    waiter: Waiter<Round>,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Not polled yet.
    New,
    /// Has been in the list.
    Waiting,
    /// Was notified in this way, and has not said so yet.
    Notified(u8),
    /// Has said so.
    Done,
}

impl Wait {
    fn new(notify: &Notify) -> Self {
        let round = notify.state().round();
        Self { stage: Stage::New, round, waiter: Waiter::new() }
    }

    /// Waits, or finds that it was notified.
    ///
    /// # Safety
    ///
    /// Both are those of one future, which is pinned, and cleans up when it is dropped.
    unsafe fn poll(&mut self, notify: &Notify, cx: Option<&Context<'_>>) -> Poll<()> {
        let notified = match self.stage {
            // SAFETY: passed on to the caller.
            Stage::New => unsafe { self.begin(notify, cx) },
            // SAFETY: as above.
            Stage::Waiting => unsafe { self.look_again(notify, cx) },
            Stage::Notified(_) | Stage::Done => return Poll::Ready(()),
        };
        self.stage = notified.map_or(Stage::Waiting, Stage::Notified);
        if notified.is_some() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Takes the permit, or a place in the line.
    unsafe fn begin(&mut self, notify: &Notify, cx: Option<&Context<'_>>) -> Option<u8> {
        let of_this_round = |state: State| state.round() == self.round;
        // First without the lock, and without a clone of the waker.
        let state = notify.state();
        if !of_this_round(state) {
            return Some(BY_ALL);
        }
        if state.has_permit() {
            let take = |state: State| (of_this_round(state) && state.has_permit()).then(|| state.with_permit(false));
            if notify.try_update(take).is_ok() {
                return Some(BY_ONE);
            }
        }
        let waker = cx.map(|cx| cx.waker().clone());
        let mut waiters = notify.waiters.lock();
        let wait = |state: State| match state {
            state if !of_this_round(state) => None,
            state if state.has_permit() => Some(state.with_permit(false)),
            state => Some(state.with_waiters(true)),
        };
        match notify.try_update(wait) {
            Err(_) => Some(BY_ALL),
            Ok((before, _)) if before.has_permit() => Some(BY_ONE),
            Ok(_) => {
                // SAFETY: it is new, and the future takes it out when it is dropped.
                unsafe { waiters.push(&self.waiter, waker, self.round) };
                None
            }
        }
    }

    /// Sees what the waiter was told. If nothing, sees to it that the right waker is woken.
    unsafe fn look_again(&mut self, notify: &Notify, cx: Option<&Context<'_>>) -> Option<u8> {
        let mut new_waker: Option<Waker> = None;
        loop {
            let told = self.waiter.status();
            if told != LISTED {
                return Some(told);
            }
            let mut waiters = notify.waiters.lock();
            let told = self.waiter.status();
            if told != LISTED {
                return Some(told);
            }
            if notify.state().round() != self.round {
                // SAFETY: it is in this list.
                let waker = unsafe { waiters.remove(&self.waiter) };
                notify.note_whether_empty(&waiters);
                drop(waiters);
                drop(waker);
                return Some(BY_ALL);
            }
            let cx = cx?;
            // SAFETY: it is in this list.
            if unsafe { waiters.has_waker(&self.waiter, cx.waker()) } {
                return None;
            }
            if let Some(waker) = new_waker.take() {
                // SAFETY: it is in this list.
                let old = unsafe { waiters.replace_waker(&self.waiter, waker) };
                drop(waiters);
                drop(old);
                return None;
            }
            drop(waiters);
            new_waker = Some(cx.waker().clone());
        }
    }

    /// As [`poll`](Self::poll), within the budget.
    unsafe fn poll_within_budget(&mut self, notify: &Notify, cx: &mut Context<'_>) -> Poll<()> {
        // First the place in the line, then the budget: a future that has been polled once is in line.
        // SAFETY: passed on to the caller.
        let polled = unsafe { self.poll(notify, Some(cx)) };
        ready!(waits::named(polled, Leaf::Lock(LockKind::Notify, 0)));
        let coop = ready!(coop::poll_proceed(cx));
        coop.made_progress();
        self.stage = Stage::Done;
        Poll::Ready(())
    }

    /// As [`poll`](Self::poll). When it is ready, the notification has been received.
    unsafe fn receive(&mut self, notify: &Notify, cx: Option<&Context<'_>>) -> Poll<()> {
        // SAFETY: passed on to the caller.
        ready!(unsafe { self.poll(notify, cx) });
        self.stage = Stage::Done;
        Poll::Ready(())
    }

    /// The future is dropped.
    fn cancel(&mut self, notify: &Notify) {
        let told = match self.stage {
            Stage::New | Stage::Done => return,
            Stage::Notified(told) => told,
            Stage::Waiting => self.take_out(notify),
        };
        if told == BY_ONE || told == BY_LAST {
            notify.notify(told);
        }
    }

    /// Returns what the waiter was told, if it was told anything.
    fn take_out(&self, notify: &Notify) -> u8 {
        let told = self.waiter.status();
        if told != LISTED {
            return told;
        }
        let mut waiters = notify.waiters.lock();
        // SAFETY: it is in this list, if in any.
        let waker = unsafe { waiters.remove(&self.waiter) };
        notify.note_whether_empty(&waiters);
        drop(waiters);
        drop(waker);
        self.waiter.status()
    }
}

macro_rules! future_of_notify {
    ($name:ident $(<$life:lifetime>)?, $notify:ty) => {
        impl $(<$life>)? $name $(<$life>)? {
            pub(super) fn new(notify: $notify) -> Self {
                Self { wait: Wait::new(&notify), notify }
            }

            /// Gets in line, as a first poll would, and returns whether the future is complete: by a permit, or because
            /// all were notified since it was made.
            ///
            /// For a condition that is looked at in between: enable, look, and await only if the condition does not
            /// hold. No notification is missed then. If this returns true, the notification counts as received.
            ///
            /// # Example
            ///
            /// ```
            /// use std::pin::pin;
            /// use std::sync::atomic::{AtomicBool, Ordering};
            /// use rt::sync::Notify;
            ///
            /// async fn wait_until(is_done: &AtomicBool, notify: &Notify) {
            ///     loop {
            ///         let mut notified = pin!(notify.notified());
            ///         notified.as_mut().enable();
            ///         if is_done.load(Ordering::Acquire) {
            ///             return;
            ///         }
            ///         notified.await;
            ///     }
            /// }
            /// # #[rt::main]
            /// # async fn main() { wait_until(&AtomicBool::new(true), &Notify::new()).await }
            /// ```
            pub fn enable(self: Pin<&mut Self>) -> bool {
                // SAFETY: nothing is moved.
                let this = unsafe { self.get_unchecked_mut() };
                // SAFETY: it is pinned, and cancels when it is dropped.
                unsafe { this.wait.receive(&this.notify, None) }.is_ready()
            }
        }

        impl $(<$life>)? Future for $name $(<$life>)? {
            type Output = ();

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                // SAFETY: nothing is moved.
                let this = unsafe { self.get_unchecked_mut() };
                // SAFETY: it is pinned, and cancels when it is dropped.
                unsafe { this.wait.poll_within_budget(&this.notify, cx) }
            }
        }

        impl $(<$life>)? Drop for $name $(<$life>)? {
            fn drop(&mut self) {
                self.wait.cancel(&self.notify);
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("stage", &self.wait.stage).finish_non_exhaustive()
            }
        }
    };
}

/// The future of [`Notify::notified`].
#[must_use = "futures do nothing unless polled"]
pub struct Notified<'a> {
    notify: &'a Notify,
    wait: Wait,
}

/// The future of [`Notify::notified_owned`].
#[must_use = "futures do nothing unless polled"]
pub struct OwnedNotified {
    notify: Arc<Notify>,
    wait: Wait,
}

future_of_notify!(Notified<'a>, &'a Notify);
future_of_notify!(OwnedNotified, Arc<Notify>);

impl Notified<'_> {
    /// As the future, but for the budget, which is left to a future around this one.
    pub(crate) fn poll_freely(self: Pin<&mut Self>, cx: &Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is pinned, and cancels when it is dropped.
        unsafe { this.wait.receive(this.notify, Some(cx)) }
    }
}

/// Waits for [`Notify::notify_waiters`] alone, beside a flag of the owner's, with whatever leads to the `Notify`. For
/// futures that own what they wait for.
pub(crate) struct Listening<N: Deref<Target = Notify>> {
    notify: N,
    wait: Wait,
}

impl<N: Deref<Target = Notify>> Listening<N> {
    pub(crate) fn new(notify: N) -> Self {
        Self { wait: Wait::new(&notify), notify }
    }

    /// What leads to the `Notify`.
    pub(crate) fn owner(&self) -> &N {
        &self.notify
    }

    /// Waits. Leaves the budget to the future around this one.
    pub(crate) fn poll_freely(self: Pin<&mut Self>, cx: &Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is pinned, and cancels when it is dropped. `N` is a reference or an `Arc` inside of this crate,
        // and always leads to the same `Notify`.
        unsafe { this.wait.receive(&this.notify, Some(cx)) }
    }
}

impl<N: Deref<Target = Notify>> Drop for Listening<N> {
    fn drop(&mut self) {
        self.wait.cancel(&self.notify);
    }
}

#[cfg(all(test, loom))]
impl Notified<'_> {
    /// Whether `notify_one` has taken it out of the list.
    pub(super) fn was_chosen(&self) -> bool {
        self.wait.waiter.status() == BY_ONE
    }
}
