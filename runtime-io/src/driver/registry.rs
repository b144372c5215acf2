//! [`Registry`]: puts descriptors into the poller and takes them out.
//!
//! # Holders
//!
//! The poller identifies a descriptor by its number, together with the open file that the number stood for when it
//! was registered. A caller can name the number only. So "take out number 7" takes out *whatever number 7 stands for
//! now*. That is mostly right: a socket keeps its number until it is closed, and is taken out before. But an object
//! in an `AsyncFd` may have closed its descriptor long ago, and so may a C library that lent us the number. The
//! system gives the number to a new descriptor, which may be registered in turn. Taking out the number for the old
//! registration would then leave the new one deaf.
//!
//! So the registry notes the *holder* of each number: the last registration that was put in under it. When a
//! registration ends:
//!
//! - If it is the holder, the number is taken out. If the descriptor was closed meanwhile, the poller has forgotten
//!   it; if the number belongs to something that is not registered here, the poller does not know it. In both cases
//!   the poller refuses, which does no harm.
//! - If another registration is the holder, nothing is taken out: the poller accepted that one under the number, so the
//!   descriptor of this one is closed, or stands under another number.
//!
//! The driver's own wake-up and the descriptor that tells of signals live as long as the driver and need no note.
//!
//! # The lock
//!
//! Between the look at the holder and the system call that takes the number out, no other registration may become the
//! holder; nor may a number be put in before its holder is noted. So both happen under a lock, system call included.
//! There are as many locks as shards, picked by the number, and each is held for that one call. (epoll itself runs
//! one such call at a time.) No user code runs under it: objects are asked for their descriptor before.

#[cfg_attr(not(unix), path = "registry/no_holders.rs")]
mod holders;

use std::io;

use mio::Token;
use mio::event::Source;

use holders::Holders;
pub(crate) use holders::{Number, Numbered};

/// Registers descriptors with the poller, and deregisters those that are still there.
#[derive(Debug)]
pub(super) struct Registry {
    poller: mio::Registry,
    holders: Holders,
}

impl Registry {
    /// Makes a registry with `locks` locks.
    ///
    /// # Errors
    ///
    /// What the operating system says: it is out of file descriptors, for example.
    pub(super) fn new(poller: &mio::Registry, locks: usize) -> io::Result<Self> {
        Ok(Self { poller: poller.try_clone()?, holders: Holders::new(locks) })
    }

    /// For what lives as long as the driver, and needs no note of its holder.
    #[cfg(all(unix, feature = "signal", not(loom)))]
    pub(super) fn poller(&self) -> &mio::Registry {
        &self.poller
    }

    /// Puts in a descriptor under its `number`, and notes `token` as the holder.
    ///
    /// # Errors
    ///
    /// The poller's: it does not take such descriptors, or has this one already, for example.
    pub(super) fn register(
        &self,
        source: &mut impl Source,
        number: Number,
        token: Token,
        interest: mio::Interest,
    ) -> io::Result<()> {
        self.holders.note(number, token, || self.poller.register(source, token, interest))
    }

    /// Takes out what was put in under this number and token, if that is still the holder.
    ///
    /// # Errors
    ///
    /// If it is not the holder, or the poller does not know it: the descriptor was closed.
    pub(super) fn deregister(&self, source: &mut impl Source, number: Number, token: Token) -> io::Result<()> {
        self.holders.forget(number, token, || self.poller.deregister(source))
    }
}
