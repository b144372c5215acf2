//! In place of `holders.rs`, for systems on which only this crate's own sockets are registered: they are taken out
//! before they are closed, so no number can stand for another registration.

use std::io;

use mio::Token;

/// Nothing: a socket is known by itself.
pub(crate) type Number = ();

/// Any socket.
pub(crate) trait Numbered {
    fn number(&self) -> Number;
}

impl<T> Numbered for T {
    fn number(&self) -> Number {}
}

/// Notes nothing, and makes the calls that go with a note.
#[derive(Debug)]
pub(super) struct Holders;

impl Holders {
    pub(super) fn new(_: usize) -> Self {
        Self
    }

    pub(super) fn note(&self, (): Number, _: Token, put_in: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        put_in()
    }

    pub(super) fn forget(&self, (): Number, _: Token, take_out: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        take_out()
    }
}
