//! The wakers that wait for one descriptor: a slot for a reader, a slot for a writer, and a list for all others.
//!
//! Plain data, behind the lock of a [`ScheduledIo`](super::ScheduledIo). It moves wakers in and out and never clones,
//! calls or drops one: a waker may be user code, which must run without the lock.

use std::task::Waker;

use slab::Slab;

use crate::interest::Interest;
use crate::ready::Ready;

use super::WakeBatch;
use super::wakes::discard;

/// Which of the two slots an operation waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    pub(crate) const fn interest(self) -> Interest {
        match self {
            Direction::Read => Interest::READABLE,
            Direction::Write => Interest::WRITABLE,
        }
    }
}

/// The wakers that wait for one descriptor. A waker is here from the poll that found nothing ready until the event that
/// ends the wait takes it.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Boxed, because most descriptors never have any: one word each.
    #[allow(clippy::box_collection)]
    others: Option<Box<Slab<Entry>>>,
}

#[derive(Debug)]
struct Entry {
    interest: Interest,
    /// `None` until the first poll has left it, and again from the event that took it until the owner is polled again.
    waker: Option<Waker>,
    /// The owner was woken, and is to try, though what it was woken for was cleared since.
    tries_anyway: bool,
}

impl Waiters {
    /// The slot of a direction.
    pub(super) fn slot(&mut self, direction: Direction) -> &mut Option<Waker> {
        match direction {
            Direction::Read => &mut self.reader,
            Direction::Write => &mut self.writer,
        }
    }

    /// The waker of an entry of the list; `None` if its owner is to try. Without a `key`, a new entry is made and `key`
    /// is set to it.
    pub(super) fn listed(&mut self, key: &mut Option<usize>, interest: Interest) -> Option<&mut Option<Waker>> {
        let others = self.others.get_or_insert_default();
        let key = *key.get_or_insert_with(|| others.insert(Entry { interest, waker: None, tries_anyway: false }));
        let entry = &mut others[key];
        if std::mem::take(&mut entry.tries_anyway) { None } else { Some(&mut entry.waker) }
    }

    /// Has those in the list who were woken, and not polled since, try though `ready` is cleared.
    pub(super) fn let_woken_try(&mut self, ready: Ready) {
        for (_, entry) in self.others.iter_mut().flat_map(|others| others.iter_mut()) {
            entry.tries_anyway |= entry.waker.is_none() && ready.intersects(entry.interest.mask());
        }
    }

    /// Removes an entry of the list, and returns its waker.
    #[must_use]
    pub(super) fn unlist(&mut self, key: usize) -> Option<Waker> {
        self.others.as_mut().and_then(|others| others.try_remove(key)).and_then(|entry| entry.waker)
    }

    /// Moves the wakers that `ready` concerns into the batch: the reader and the writer first, then the list.
    pub(super) fn take_concerned(&mut self, ready: Ready, wakes: &mut WakeBatch) {
        let concerned = |interest: Interest| ready.intersects(interest.mask());
        if concerned(Interest::READABLE) {
            wakes.extend(self.reader.take());
        }
        if concerned(Interest::WRITABLE) {
            wakes.extend(self.writer.take());
        }
        if let Some(others) = &mut self.others {
            for (_, entry) in others.iter_mut() {
                if concerned(entry.interest) {
                    wakes.extend(entry.waker.take());
                }
            }
        }
    }

    /// Drops the wakers one by one: if two panicked in one drop, the second panic would end the process.
    pub(super) fn discard(self) {
        discard(self.reader);
        discard(self.writer);
        for (_, entry) in self.others.into_iter().flat_map(|others| *others) {
            discard(entry.waker);
        }
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn number_listed(&self) -> usize {
        self.others.as_ref().map_or(0, |others| others.len())
    }
}
