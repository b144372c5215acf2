//! [`Endpoint`]: a socket or pipe of any kind but TCP, registered with the driver.
//!
//! The public types hold one each, and add names, addresses and options to it. It has all that they have in common:
//! trying an operation, and waiting. (TCP has a backend of its own, for what its short transfers prove; bytes to and
//! from Unix streams and pipes are in `unix/byte_io.rs`.) Nothing here reads meaning into a short read or a partial
//! write: of datagrams and pipes it proves nothing; [`readiness`](crate::readiness) has the list. So readiness is
//! cleared when the system refuses an operation, and only then. Unix streams have a way of reading that tells more
//! (`unix/stream_read.rs`).

use std::io;
use std::task::{Context, Poll};

use mio::event::Source;

use crate::driver::{Handle, Numbered};
use crate::interest::Interest;
use crate::readiness::Direction;
use crate::ready::Ready;
use crate::registration::{Evented, Registration};

/// What all of them are registered for, but for listeners and the ends of pipes. Errors are told of in any case.
pub(super) const BOTH_WAYS: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// What mio carries bytes with.
pub(super) trait Carrier: Source {
    /// Runs somebody's operation on it, so that its refusal is noticed where the poller has to know.
    fn run<R>(&self, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R>;
}

/// Implements [`Carrier`] for types of mio, all of which have the method, but no trait for it.
macro_rules! carriers {
    ($($source:ty),*) => {$(
        impl crate::net::endpoint::Carrier for $source {
            #[inline]
            fn run<R>(&self, operation: impl FnOnce() -> std::io::Result<R>) -> std::io::Result<R> {
                self.try_io(operation)
            }
        }
    )*};
}
pub(super) use carriers;

/// A registered socket, or end of a pipe. Dropping it takes it out of the driver and closes it.
#[derive(Debug)]
pub(super) struct Endpoint<S: Source>(Evented<S>);

impl<S: Source + Numbered> Endpoint<S> {
    /// Registers it. `assumed` is what it is known to be ready for already.
    ///
    /// # Errors
    ///
    /// If the driver is gone or the system refuses; `source` is closed then.
    pub(super) fn register(driver: &Handle, source: S, interest: Interest, assumed: Ready) -> io::Result<Self> {
        Evented::new(driver, source, interest, assumed).map(Self).map_err(|(_, error)| error)
    }
}

impl<S: Source> Endpoint<S> {
    #[inline]
    pub(super) fn registration(&self) -> &Registration {
        self.0.registration()
    }

    #[inline]
    pub(super) fn source(&self) -> &S {
        self.0.source()
    }

    /// For somebody outside who wants the raw handle of the operating system. Of a Unix stream a short read proves
    /// nothing from then on; for the others this is one load.
    pub(super) fn lend(&self) -> &S {
        self.registration().be_wary();
        self.0.source()
    }

    /// Takes it out of the driver.
    ///
    /// # Errors
    ///
    /// If the driver cannot let go of it; it is closed then.
    pub(super) fn into_source(self) -> io::Result<S> {
        let (source, outcome) = self.0.into_inner();
        outcome.map(|()| source)
    }

    pub(super) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        Ok(self.registration().ready(interest).await?.ready)
    }
}

/// Operations of any kind.
impl<S: Carrier> Endpoint<S> {
    #[inline]
    pub(super) fn try_io<R>(&self, interest: Interest, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.registration().try_io(interest, || self.source().run(operation))
    }

    #[inline]
    pub(super) async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration().async_io(interest, || self.source().run(&mut operation)).await
    }

    #[inline]
    pub(super) fn poll_io<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.registration().poll_io(cx, direction, || self.source().run(&mut operation))
    }
}
