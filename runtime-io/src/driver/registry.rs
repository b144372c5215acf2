//! [`Registry`]: the shared poller, for those who put a descriptor into it or take one out.
//!
//! The poller knows a descriptor by its number; and by what the number stood for when it was put in, but that nobody can tell it
//! afterwards. So to take out number 7 is to take out *whatever stands under number 7 now*. Mostly that is the right thing, for a
//! socket has its number until it is closed, and is taken out before. But an object in an `AsyncFd` may have closed its
//! descriptor long ago, or a C library may have, which gave us no more than the number. The system hands the number on, to a connection
//! that is registered in turn, say. Whoever took it out then, in the belief that it was still theirs, would leave that one deaf.
//!
//! So there is a note of each number's *holder*: the last registration that was put in under it. When a registration goes:
//!
//! - It is the holder: the number is taken out. If the descriptor was closed meanwhile the poller has forgotten it by itself; and if
//!   the number is somebody's again who is not registered here, the poller does not know them. Either way it refuses, harmlessly.
//! - Another has become the holder: the poller took that one in under the number, so what this one had put in stands for something else,
//!   or is gone. Nothing is taken out.
//!
//! **The lock.** Between looking who the holder is and taking the number out nobody else must become the holder, and a number must not
//! be put in before its holder is noted. So all this is done under a lock, system call included. There are as many locks as
//! shards, picked by the number, and each is held for that one call. (epoll itself allows one such call at a time.) No code of a user's
//! runs under it: objects are asked for their descriptor before.
//!
//! What lives as long as the driver does, its own wake-up, needs no note. All else that is put into the poller is noted.

#[cfg_attr(not(unix), path = "registry/no_holders.rs")]
mod holders;

use std::io;

use mio::Token;
use mio::event::Source;

use holders::Holders;
pub(crate) use holders::{Number, Numbered};

/// Puts descriptors into the shared poller, and takes out those that are still there.
#[derive(Debug)]
pub(super) struct Registry {
    poller: mio::Registry,
    holders: Holders,
}

impl Registry {
    /// With so many locks.
    ///
    /// # Errors
    ///
    /// What the operating system says: it is out of file descriptors, for example.
    pub(super) fn new(poller: &mio::Registry, locks: usize) -> io::Result<Self> {
        Ok(Self { poller: poller.try_clone()?, holders: Holders::new(locks) })
    }

    /// Puts a descriptor in, which has this number.
    ///
    /// # Errors
    ///
    /// What the poller says: that it does not take such descriptors, or has this one already, for example.
    pub(super) fn register(
        &self,
        source: &mut impl Source,
        number: Number,
        token: Token,
        interest: mio::Interest,
    ) -> io::Result<()> {
        self.holders.note(number, token, || self.poller.register(source, token, interest))
    }

    /// Takes out what was put in under this number and token, if it is there.
    ///
    /// # Errors
    ///
    /// If it is not: the descriptor was closed.
    pub(super) fn deregister(&self, source: &mut impl Source, number: Number, token: Token) -> io::Result<()> {
        self.holders.forget(number, token, || self.poller.deregister(source))
    }
}
