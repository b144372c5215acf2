//! The future that waits for another version.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use runtime_core::task::ChannelKind;
use runtime_core::task::waits::{self, Leaf};

use super::error::RecvError;
use super::shared::Shared;
use super::state::Version;
use crate::waiters::{LISTED, Waiter};

/// Ready when the version is another than the known one, which it then replaces, or when there will be no other.
///
/// A version counts before the end: the last value is seen, though its sender is gone.
pub(super) struct Changed<'a, T> {
    shared: &'a Shared<T>,
    known: &'a mut Version,
    waiter: Waiter<Version>,
    list: usize,
}

impl<'a, T> Changed<'a, T> {
    pub(super) fn new(shared: &'a Shared<T>, known: &'a mut Version) -> Self {
        Self { shared, known, waiter: Waiter::new(), list: Shared::<T>::list_of_this_thread() }
    }

    fn look(&mut self) -> Option<Result<(), RecvError>> {
        let state = self.shared.state.load();
        if state.version() != *self.known {
            *self.known = state.version();
            return Some(Ok(()));
        }
        state.is_closed().then_some(Err(RecvError(())))
    }

    /// Sees to it that this waker is woken. False if there is something to see instead.
    fn wait(&self, waker: &Waker) -> bool {
        if self.waiter.status() != LISTED {
            // SAFETY: the drop takes it out.
            return unsafe { self.shared.wait(self.list, &self.waiter, waker.clone(), *self.known) };
        }
        let mut new_waker = None;
        loop {
            let mut waiters = self.shared.list(self.list);
            if self.waiter.status() != LISTED {
                return false;
            }
            // SAFETY: it is in this list.
            if unsafe { waiters.has_waker(&self.waiter, waker) } {
                return true;
            }
            if let Some(waker) = new_waker.take() {
                // SAFETY: as above.
                let old = unsafe { waiters.replace_waker(&self.waiter, waker) };
                drop(waiters);
                drop(old);
                return true;
            }
            drop(waiters);
            new_waker = Some(waker.clone());
        }
    }
}

impl<T> Future for Changed<'_, T> {
    type Output = Result<(), RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            if let Some(result) = this.look() {
                return Poll::Ready(result);
            }
            if this.wait(cx.waker()) {
                return waits::pending(Leaf::Channel(ChannelKind::WatchReceiver));
            }
        }
    }
}

impl<T> Drop for Changed<'_, T> {
    fn drop(&mut self) {
        if self.waiter.status() == LISTED {
            let mut waiters = self.shared.list(self.list);
            // SAFETY: it is in this list, if in any.
            let waker = unsafe { waiters.remove(&self.waiter) };
            drop(waiters);
            drop(waker);
        }
    }
}
