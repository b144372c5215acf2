//! Registered objects, and the loop that all operations are made of: wait until ready, try, clear if refused.
//!
//! A [`Registration`] owns a slot of the driver's table. An [`Evented`] owns a registration and the object that is
//! registered under the slot's token, and takes the object out of the poller before it drops either. Backends and
//! `AsyncFd` hold an `Evented`; nothing else talks to the driver.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use mio::event::Source;
use runtime_core::context;
use runtime_core::coop;
use runtime_core::task::waits::{self, Leaf};

use crate::driver::{Handle, Numbered, Slot};
use crate::interest::Interest;
use crate::readiness::{Direction, ReadyEvent, ScheduledIo, Waiter};
use crate::ready::Ready;

/// The I/O driver of the current runtime.
///
/// # Panics
///
/// If there is none, with the location of the caller.
#[track_caller]
pub(crate) fn current_driver() -> Arc<Handle> {
    match context::with_io(|handle: &Arc<Handle>| handle.clone()) {
        Ok(handle) => handle,
        Err(missing) => panic!("{missing}"),
    }
}

/// The I/O driver of the current runtime, or `otherwise` if there is none.
pub(crate) fn current_driver_or(otherwise: &Arc<Handle>) -> Arc<Handle> {
    context::with_io(|handle: &Arc<Handle>| handle.clone()).unwrap_or_else(|_| otherwise.clone())
}

/// One object's registration with the driver: its slot, and the ways to wait for it and to try operations.
#[derive(Debug)]
pub(crate) struct Registration {
    slot: Slot,
}

impl Registration {
    #[inline]
    fn io(&self) -> &ScheduledIo {
        self.slot.io()
    }

    /// If this waits, it is for the descriptor.
    #[inline]
    fn named<T>(&self, poll: Poll<T>) -> Poll<T> {
        waits::named(poll, Leaf::Descriptor(self.slot.number_word()))
    }

    /// Tries, and if it would block waits in the slot of its direction. One unit of budget for each success.
    #[inline]
    pub(crate) fn poll_io<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        operation: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.poll_settling(cx, direction, operation, |_, _| {})
    }

    /// As [`poll_io`](Self::poll_io), for plain reads and writes of TCP streams that move up to `wanted` bytes, and for
    /// reads of Unix streams. If the operation moves fewer, readiness is cleared without another attempt, which saves a
    /// system call a message. [`readiness`](crate::readiness) says why this is for nothing else.
    #[inline]
    pub(crate) fn poll_transfer(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        wanted: usize,
        operation: impl FnMut() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_settling(cx, direction, operation, |event, &moved| {
            self.io().note_transfer(event, direction, moved, wanted);
        })
    }

    /// The loop of both. `settle` gets the result of a success, and the look that led to it.
    #[inline]
    fn poll_settling<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut operation: impl FnMut() -> io::Result<R>,
        mut settle: impl FnMut(ReadyEvent, &R),
    ) -> Poll<io::Result<R>> {
        let coop = ready!(coop::poll_proceed(cx));
        let io = self.io();
        loop {
            let event = ready!(self.named(io.poll_ready(cx, direction)))?;
            match operation() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // Either nothing is left to look at, or an event has come meanwhile and is worth another try.
                    io.clear_refused(event);
                }
                outcome => {
                    if let Ok(value) = &outcome {
                        settle(event, value);
                    }
                    coop.made_progress();
                    return Poll::Ready(outcome);
                }
            }
        }
    }

    /// As [`poll_ready`](Self::poll_ready), for those who spend the budget themselves.
    #[cfg(all(target_os = "linux", feature = "process", not(loom)))] // for the ends of processes
    pub(crate) fn poll_event(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<io::Result<ReadyEvent>> {
        self.named(self.io().poll_ready(cx, direction))
    }

    /// Waits in the slot of a direction, without trying anything. One unit of budget.
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<io::Result<ReadyEvent>> {
        let coop = ready!(coop::poll_proceed(cx));
        let event = ready!(self.named(self.io().poll_ready(cx, direction)))?;
        coop.made_progress();
        Poll::Ready(Ok(event))
    }

    /// Waits in the list, without trying anything. One unit of budget, if there is one.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<ReadyEvent> {
        let mut waiter = Waiter::new(self.io(), interest);
        poll_fn(|cx| {
            let coop = ready!(coop::poll_proceed_unless_foreign(cx));
            let event = ready!(self.named(waiter.poll(cx)))?;
            coop.made_progress();
            Poll::Ready(Ok(event))
        })
        .await
    }

    /// Tries, and if it would block waits in the list: any number of tasks can do so at a time.
    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        let mut waiter = Waiter::new(self.io(), interest);
        poll_fn(|cx| {
            let coop = ready!(coop::poll_proceed(cx));
            loop {
                let event = ready!(self.named(waiter.poll(cx)))?;
                match operation() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if !self.io().clear_refused(event) {
                            // An operation for both directions, of which one is closed for good: there is nothing to
                            // wait for, but others should have their turn before it is tried again.
                            cx.waker().wake_by_ref();
                            return Poll::Pending;
                        }
                    }
                    outcome => {
                        coop.made_progress();
                        return Poll::Ready(outcome);
                    }
                }
            }
        })
        .await
    }

    /// Tries, unless it is known that it would block. If the driver is gone nothing is known any more, so it tries, and
    /// says that the driver is gone only if the operation would block.
    pub(crate) fn try_io<R>(&self, interest: Interest, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        let event = match self.io().look(interest) {
            Ok(event) => event,
            Err(gone) => {
                return operation().map_err(|error| match error.kind() {
                    io::ErrorKind::WouldBlock => gone,
                    _ => error,
                });
            }
        };
        if event.ready.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.io().clear_refused(event);
                // The same error, whether it was tried or not.
                Err(io::ErrorKind::WouldBlock.into())
            }
            outcome => outcome,
        }
    }

    /// As [`try_io`](Self::try_io), for reads, with the rule of [`poll_transfer`](Self::poll_transfer).
    pub(crate) fn try_read(&self, wanted: usize, operation: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        let seen = self.io().look(Interest::READABLE);
        let outcome = self.try_io(Interest::READABLE, operation);
        if let (Ok(event), Ok(moved)) = (seen, &outcome) {
            self.io().note_transfer(event, Direction::Read, *moved, wanted);
        }
        outcome
    }

    /// From now on a short transfer proves nothing.
    pub(crate) fn be_wary(&self) {
        self.io().be_wary();
    }

    /// Notes that other code knows the descriptor of a TCP stream, or is about to.
    pub(crate) fn lend(&self) {
        self.io().lend();
    }

    /// Whether other code knows the descriptor. Reads that clear by [`poll_transfer`](Self::poll_transfer) must then be
    /// made in such a way that they are told of what comes with the bytes.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        self.io().is_lent()
    }

    /// Clears after an operation that `event` led to was refused.
    #[cfg_attr(not(unix), allow(dead_code))] // for the guards of `AsyncFd`
    pub(crate) fn clear_refused(&self, event: ReadyEvent) {
        self.io().clear_refused(event);
    }

    /// Clears these flags because the user says that they do not hold. The closed flags are kept, as they come only
    /// once.
    #[cfg_attr(not(unix), allow(dead_code))] // for the guards of `AsyncFd`
    pub(crate) fn clear_drained(&self, event: ReadyEvent) {
        self.io().clear_drained(event);
    }
}

/// An object registered with the driver. Dropping it takes it out of the poller, then drops it.
#[derive(Debug)]
pub(crate) struct Evented<S: Source> {
    /// `None` only while `into_inner` or the drop is at work.
    source: Option<S>,
    registration: Registration,
}

impl<S: Source + Numbered> Evented<S> {
    /// Registers an object. `assumed` is what it is known to be ready for already.
    ///
    /// # Errors
    ///
    /// If the driver is gone or the system refuses; the object comes back with the error.
    pub(crate) fn new(
        driver: &Handle,
        mut source: S,
        interest: Interest,
        assumed: Ready,
    ) -> Result<Self, (S, io::Error)> {
        let mut slot = match driver.claim() {
            Ok(slot) => slot,
            Err(error) => return Err((source, error)),
        };
        slot.io().assume(assumed);
        match slot.register(&mut source, interest) {
            Ok(()) => Ok(Self { source: Some(source), registration: Registration { slot } }),
            Err(error) => Err((source, error)),
        }
    }
}

impl<S: Source> Evented<S> {
    #[inline]
    pub(crate) fn source(&self) -> &S {
        self.source.as_ref().expect("only into_inner takes the source, and it takes self")
    }

    #[cfg_attr(not(unix), allow(dead_code))] // for `AsyncFd`
    pub(crate) fn source_mut(&mut self) -> &mut S {
        self.parts_mut().0
    }

    /// The object to change, and its readiness to wait for at the same time.
    #[cfg_attr(not(unix), allow(dead_code))] // for `AsyncFd`
    pub(crate) fn parts_mut(&mut self) -> (&mut S, &Registration) {
        let source = self.source.as_mut().expect("only into_inner takes the source, and it takes self");
        (source, &self.registration)
    }

    #[inline]
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Takes the object back, out of the poller, and says whether the system let go of it.
    pub(crate) fn into_inner(mut self) -> (S, io::Result<()>) {
        let mut source = self.source.take().expect("only into_inner takes the source, and it takes self");
        let outcome = self.registration.slot.deregister(&mut source);
        (source, outcome)
    }
}

impl<S: Source> Drop for Evented<S> {
    fn drop(&mut self) {
        if let Some(source) = &mut self.source {
            // If it is not there (somebody closed the descriptor behind our back), then it need not be taken out.
            let _ = self.registration.slot.deregister(source);
        }
    }
}
