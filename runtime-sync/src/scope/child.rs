//! What is around the future of a child: it tells the scope how that ends.

use std::any::Any;
use std::future::Future;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime_core::discard_payload;
use runtime_core::primitive::Mutex;

use super::group::{Group, Seat};
use crate::panics::Panics;

/// How a scope fails.
pub(super) enum Failure<E> {
    Error(E),
    Panic(Box<dyn Any + Send>),
}

/// What a scope's future, its children and its handles share.
pub(super) struct Shared<E> {
    pub(super) group: Arc<Group>,
    /// The first.
    failure: Mutex<Option<Failure<E>>>,
}

impl<E> Shared<E> {
    pub(super) fn new(group: Arc<Group>) -> Arc<Self> {
        Arc::new(Self { group, failure: Mutex::new(None) })
    }

    /// Keeps the failure, if it is the first. Somebody has to close the group next.
    pub(super) fn note(&self, failure: Failure<E>) {
        let mut first = self.failure.lock();
        if first.is_none() {
            *first = Some(failure);
            return;
        }
        drop(first);
        // Caught: the scope has yet to wait for its children.
        if let Err(again) = panic::catch_unwind(AssertUnwindSafe(|| drop(failure))) {
            discard_payload(again);
        }
    }

    /// Notes the failure, and closes the group.
    pub(super) fn fail(&self, failure: Failure<E>) {
        self.note(failure);
        self.close();
    }

    /// Closes the group. Should a waker panic, that is noted.
    pub(super) fn close(&self) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| self.group.close())) {
            self.note(Failure::Panic(payload));
        }
    }

    pub(super) fn take_failure(&self) -> Option<Failure<E>> {
        self.failure.lock().take()
    }

    /// Drops what is in its place, outside of all locks. If that panics, the scope fails.
    pub(super) fn drop_in_place<F>(&self, mut place: Pin<&mut Option<F>>) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| place.set(None))) {
            self.fail(Failure::Panic(payload));
        }
    }
}

/// Polls the future that is in its place. If that panics, the future is dropped while the panic is on its way, so that
/// its drop finds that the thread is [panicking](std::thread::panicking), as in a plain task. What a lock poisons, and
/// what a guard rolls back, depends on that.
pub(super) fn poll_in_place<F: Future>(
    place: Pin<&mut Option<F>>,
    cx: &mut Context<'_>,
) -> Result<Poll<F::Output>, Box<dyn Any + Send>> {
    panic::catch_unwind(AssertUnwindSafe(|| {
        let mut drop_on_panic = DropOnPanic(place);
        let future = drop_on_panic.0.as_mut().as_pin_mut().expect("it is there until it is done");
        let polled = future.poll(cx);
        mem::forget(drop_on_panic);
        polled
    }))
}

/// Empties the place. See [`poll_in_place`].
struct DropOnPanic<'a, F>(Pin<&'a mut Option<F>>);

impl<F> Drop for DropOnPanic<'_, F> {
    fn drop(&mut self) {
        let mut panics = Panics::new();
        panics.catch(|| self.0.set(None));
        panics.pass_on();
    }
}

/// A child: its future, until that has failed. Then it waits for the abort that it has caused, so that its handle says
/// that it was cancelled.
pub(super) struct Child<F, E> {
    /// Dropped by `Drop`, before the seat: what has a seat still has its future.
    future: Option<F>,
    shared: Arc<Shared<E>>,
    _seat: Seat,
}

impl<F, E> Child<F, E> {
    pub(super) fn new(future: F, shared: Arc<Shared<E>>, seat: Seat) -> Self {
        Self { future: Some(future), shared, _seat: seat }
    }

    /// The place of the future, and the rest.
    fn project(self: Pin<&mut Self>) -> (Pin<&mut Option<F>>, &Shared<E>) {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the field is pinned when this is: nothing moves it out, `Drop` drops it where it is, and this is
        // `Unpin` only if the field is.
        (unsafe { Pin::new_unchecked(&mut this.future) }, &this.shared)
    }
}

impl<F: Future<Output = Result<T, E>>, T, E> Future for Child<F, E> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let (mut place, shared) = self.project();
        if place.is_none() {
            return Poll::Pending;
        }
        let failure = match poll_in_place(place.as_mut(), cx) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(Ok(value))) => return Poll::Ready(value),
            Ok(Poll::Ready(Err(error))) => Failure::Error(error),
            Err(payload) => Failure::Panic(payload),
        };
        // In this order, so that the failure goes before one of the drop, and what the future holds is gone when others
        // hear of the failure. (After a panic it is gone already.)
        shared.note(failure);
        shared.drop_in_place(place);
        // This aborts the task that is being polled, too.
        shared.close();
        Poll::Pending
    }
}

impl<F, E> Drop for Child<F, E> {
    fn drop(&mut self) {
        // SAFETY: it has been pinned, if anything was, and is not moved from here on.
        let (place, shared) = unsafe { Pin::new_unchecked(self) }.project();
        shared.drop_in_place(place);
    }
}
