//! The right to send into a bounded channel. Who has it need not wait, also after the channel was closed.

use std::fmt;
use std::iter::FusedIterator;
use std::mem;

use super::bounded::Sender;
use super::channel::Channel;
use super::places::Places;

/// Puts a value in for which there is room.
fn push<T>(channel: &Channel<T, Places>, value: T) {
    if channel.push(value).is_err() {
        unreachable!("the list of a bounded channel is never closed");
    }
}

/// Room for a value in a bounded channel. Made by [`Sender::reserve`] and [`Sender::try_reserve`].
///
/// Dropped without being used, it gives the room to others.
pub struct Permit<'a, T> {
    channel: &'a Channel<T, Places>,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(channel: &'a Channel<T, Places>) -> Self {
        Self { channel }
    }

    /// Sends a value. If the receiver has been dropped meanwhile, the value is dropped with the channel.
    pub fn send(self, value: T) {
        let channel = self.channel;
        // Used up first: the waker of the receiver may panic.
        mem::forget(self);
        push(channel, value);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.channel.give_up(1);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Room for several values in a bounded channel, as an iterator over permits. Made by [`Sender::reserve_many`] and
/// [`Sender::try_reserve_many`].
///
/// Dropped, it gives the room that is left to others.
pub struct PermitIterator<'a, T> {
    channel: &'a Channel<T, Places>,
    n: usize,
}

impl<'a, T> PermitIterator<'a, T> {
    pub(super) fn new(channel: &'a Channel<T, Places>, n: usize) -> Self {
        Self { channel, n }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.n = self.n.checked_sub(1)?;
        Some(Permit::new(self.channel))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.n, Some(self.n))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.n > 0 {
            self.channel.give_up(self.n);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("permits", &self.n).finish_non_exhaustive()
    }
}

/// Room for a value in a bounded channel, and the sender. Made by [`Sender::reserve_owned`] and
/// [`Sender::try_reserve_owned`].
///
/// Dropped without being used, it gives the room to others.
pub struct OwnedPermit<T> {
    /// Empty when the permit was used.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(sender: Sender<T>) -> Self {
        Self { sender: Some(sender) }
    }

    fn use_up(mut self) -> Sender<T> {
        self.sender.take().expect("a permit is used once")
    }

    fn sender(&self) -> &Sender<T> {
        self.sender.as_ref().expect("a permit is used once")
    }

    /// Sends a value, and returns the sender. If the receiver has been dropped meanwhile, the value is dropped with the
    /// channel.
    pub fn send(self, value: T) -> Sender<T> {
        let sender = self.use_up();
        push(&sender.channel, value);
        sender
    }

    /// Gives the room to others, and returns the sender.
    pub fn release(self) -> Sender<T> {
        let sender = self.use_up();
        sender.channel.give_up(1);
        sender
    }

    /// Whether both are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender().same_channel(other.sender())
    }

    /// Whether this is of the channel of a sender.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender().same_channel(sender)
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.channel.give_up(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
