//! Who waits for one descriptor: a slot for a reader, a slot for a writer, and a list for everybody else.
//!
//! Plain data, owned by the lock of a [`ScheduledIo`](super::ScheduledIo). It moves wakers in and out and never clones, calls
//! or drops one: that is foreign code, which must run without the lock.

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

/// The wakers of all who wait for one descriptor. A waker is here from the poll that found nothing ready until the event that ends the
/// wait takes it.
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
    /// `None` before it is left for the first time, and once an event has taken it, until its owner is polled again.
    waker: Option<Waker>,
}

impl Waiters {
    /// Where the waker of a direction is.
    pub(super) fn slot(&mut self, direction: Direction) -> &mut Option<Waker> {
        match direction {
            Direction::Read => &mut self.reader,
            Direction::Write => &mut self.writer,
        }
    }

    /// Where the waker of one on the list is. Without a key the caller is put on the list, and gets one.
    pub(super) fn listed(&mut self, key: &mut Option<usize>, interest: Interest) -> &mut Option<Waker> {
        let others = self.others.get_or_insert_default();
        let key = *key.get_or_insert_with(|| others.insert(Entry { interest, waker: None }));
        &mut others[key].waker
    }

    /// Takes somebody off the list.
    #[must_use]
    pub(super) fn unlist(&mut self, key: usize) -> Option<Waker> {
        self.others.as_mut().and_then(|others| others.try_remove(key)).and_then(|entry| entry.waker)
    }

    /// Moves the wakers of all whom `ready` concerns into the batch: the reader and the writer first, then the list.
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

    /// Drops all wakers, each by itself: of two that panic in one drop the second would end the process.
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
