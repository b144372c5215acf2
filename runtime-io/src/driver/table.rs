//! The table of all registrations' readiness, in shards of slots.
//!
//! The life of a slot: *free* -> [`Shard::claim`] -> *claimed* (its generation is in the token, events are delivered)
//! -> [`Slot`] dropped: first retired, which ends its generation, then *free*. The shard's lock orders the end of one
//! registration before the beginning of the next in the same slot.
//!
//! **Locks.** A worker registers in the shard of its own number, so the lock of a shard's free list is hardly ever
//! contended: other threads touch it only to close a socket of this worker's shard. All threads that are not workers
//! share one shard. The lock is held for a few instructions, and never over a system call.
//!
//! **Finding a slot takes no lock.** A shard's slots are in pages, each twice as big as the one before it. A page is
//! allocated when it is first needed, and stays in place until the shard is freed. The handle and every registration
//! keep the shard alive. So the driver can follow a token at any time, however old: it finds the readiness of *some*
//! registration, whose generation tells whether it is the one that the token was made for
//! ([`ScheduledIo::deliver`](crate::readiness::ScheduledIo::deliver)). Pages are not freed while the runtime
//! lives: they take 64 bytes for each of the most descriptors that were ever registered at a time.

use std::fmt;
use std::io;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use mio::Token;
use mio::event::Source;
use runtime_core::primitive::{Mutex, OnceLock};
use slab::Slab;

use crate::interest::Interest;
use crate::readiness::ScheduledIo;
use crate::shut_down;

use super::registry::{Number, Numbered, Registry};
use super::token::{Address, SLOT_BITS};

const FIRST_PAGE: usize = 32;
/// As many pages as the slot numbers of a token allow.
const PAGES: usize = (SLOT_BITS - FIRST_PAGE.trailing_zeros()) as usize;
/// How many slots a shard can have: 32 (2^pages - 1).
const CAPACITY: usize = FIRST_PAGE * ((1 << PAGES) - 1);

/// One shard of the table: slots in pages that stay where they are, and which of them are free.
pub(crate) struct Shard {
    number: usize,
    registry: Arc<Registry>,
    pages: [OnceLock<Box<[ScheduledIo]>>; PAGES],
    free: Free,
}

// No panic leaves it inconsistent: nothing that can panic runs under its lock or under those of its registrations.
// Wakers, which can, are called afterwards. So a program that catches a panic may go on to use sockets.
impl RefUnwindSafe for Shard {}

/// On a cache line of its own, apart from the pages, which every operation reads.
#[repr(align(128))]
struct Free(Mutex<Slots>);

struct Slots {
    /// Which slots are claimed.
    claimed: Slab<()>,
    /// How many of them have an object that the system has taken.
    registered: usize,
    /// How often it has taken one.
    registrations: u64,
    /// The driver is gone: nothing is given out any more.
    closed: bool,
}

/// Which page a slot is in, and where there.
#[inline]
fn locate(slot: usize) -> (usize, usize) {
    // Shifted by one first page, the pages begin at the powers of two.
    let shifted = slot + FIRST_PAGE;
    let page = shifted.ilog2() - FIRST_PAGE.ilog2();
    (page as usize, shifted - (FIRST_PAGE << page))
}

impl Shard {
    pub(super) fn new(number: usize, registry: Arc<Registry>) -> Self {
        Self {
            number,
            registry,
            pages: [const { OnceLock::new() }; PAGES],
            free: Free(Mutex::new(Slots { claimed: Slab::new(), registered: 0, registrations: 0, closed: false })),
        }
    }

    /// What the shard's slots are registered with.
    #[cfg(all(unix, feature = "signal", not(loom)))]
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Claims a free slot; `None` if the shard is full.
    ///
    /// # Errors
    ///
    /// If the driver is gone.
    pub(super) fn claim(self: &Arc<Self>) -> io::Result<Option<Slot>> {
        let mut slots = self.free.0.lock();
        if slots.closed {
            return Err(shut_down());
        }
        let slot = slots.claimed.vacant_key();
        if slot >= CAPACITY {
            return Ok(None);
        }
        let (page, _) = locate(slot);
        // Under the lock, so that a shutdown, which closes under the lock and then visits all pages, misses none.
        self.pages[page].get_or_init(|| (0..FIRST_PAGE << page).map(|_| ScheduledIo::new()).collect());
        slots.claimed.insert(());
        drop(slots);
        Ok(Some(Slot { shard: self.clone(), slot, number: None, is_counted: false }))
    }

    /// The readiness in a slot, if the slot was ever given out.
    #[inline]
    pub(super) fn get(&self, slot: usize) -> Option<&ScheduledIo> {
        let (page, offset) = locate(slot);
        self.pages.get(page)?.get()?.get(offset)
    }

    /// Gives out nothing more, and passes all slots, claimed or not, to `each`.
    pub(super) fn close(&self, each: impl FnMut(&ScheduledIo)) {
        self.free.0.lock().closed = true;
        self.pages.iter().filter_map(OnceLock::get).flatten().for_each(each);
    }

    /// How many objects are registered, and how often one was. The first is never more than the second.
    pub(super) fn counts(&self) -> (usize, u64) {
        let slots = self.free.0.lock();
        (slots.registered, slots.registrations)
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("number", &self.number).finish_non_exhaustive()
    }
}

/// A claimed slot of the table: one registration. Dropping it returns the slot to its shard.
#[derive(Debug)]
pub(crate) struct Slot {
    shard: Arc<Shard>,
    slot: usize,
    /// The number that the object is registered under, if it is.
    number: Option<Number>,
    /// Whether the system has taken the object.
    is_counted: bool,
}

impl Slot {
    #[inline]
    pub(crate) fn io(&self) -> &ScheduledIo {
        self.shard.get(self.slot).expect("a claimed slot has a page")
    }

    /// The token that events for this registration carry.
    pub(crate) fn token(&self) -> Token {
        Address { generation: self.io().generation(), shard: self.shard.number, slot: self.slot }.token()
    }

    /// The number of the object, for inspection.
    #[inline]
    pub(crate) fn number_word(&self) -> u64 {
        #[cfg(unix)]
        return self.number.map_or(u64::MAX, |number| number as u64);
        #[cfg(not(unix))]
        u64::MAX
    }

    /// Registers an object under the token of this slot.
    pub(crate) fn register(&mut self, source: &mut (impl Source + Numbered), interest: Interest) -> io::Result<()> {
        let number = source.number();
        let outcome = self.shard.registry.register(source, number, self.token(), interest.to_mio());
        if outcome.is_ok() {
            self.number = Some(number);
            self.is_counted = true;
            let mut slots = self.shard.free.0.lock();
            slots.registered += 1;
            slots.registrations += 1;
        }
        outcome
    }

    /// Takes the object out of the poller, unless its number stands for another registration by now.
    pub(crate) fn deregister(&mut self, source: &mut impl Source) -> io::Result<()> {
        let Some(number) = self.number.take() else { return Err(io::ErrorKind::NotFound.into()) };
        self.shard.registry.deregister(source, number, self.token())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.io().retire();
        let mut slots = self.shard.free.0.lock();
        slots.claimed.remove(self.slot);
        slots.registered -= usize::from(self.is_counted);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn shard() -> Arc<Shard> {
        let poll = mio::Poll::new().unwrap();
        Arc::new(Shard::new(0, Arc::new(Registry::new(poll.registry(), 1).unwrap())))
    }

    fn claimed(shard: &Shard) -> usize {
        shard.free.0.lock().claimed.len()
    }

    #[test]
    fn pages_are_where_the_arithmetic_says() {
        assert_eq!(locate(0), (0, 0));
        assert_eq!(locate(31), (0, 31));
        assert_eq!(locate(32), (1, 0));
        assert_eq!(locate(95), (1, 63));
        assert_eq!(locate(96), (2, 0));
        assert_eq!(locate(CAPACITY - 1), (PAGES - 1, (FIRST_PAGE << (PAGES - 1)) - 1));
        const { assert!(CAPACITY < (1 << SLOT_BITS) - 2) };
    }

    #[test]
    fn a_slot_used_again_is_known_by_another_token() {
        let shard = shard();
        let first = shard.claim().unwrap().unwrap();
        let (slot, token) = (first.slot, first.token());
        drop(first);
        let second = shard.claim().unwrap().unwrap();
        assert_eq!(second.slot, slot);
        assert_ne!(second.token(), token);
        assert_eq!(Address::of(second.token()).generation, Address::of(token).generation + 1);
    }

    #[test]
    fn slots_are_distinct_stay_in_place_and_come_back() {
        let shard = shard();
        let slots: Vec<_> = (0..500).map(|_| shard.claim().unwrap().unwrap()).collect();
        let mut places: Vec<_> = slots.iter().map(|slot| std::ptr::from_ref(slot.io())).collect();
        places.sort();
        places.dedup();
        assert_eq!((places.len(), claimed(&shard)), (500, 500));
        drop(slots);
        assert_eq!(claimed(&shard), 0);
        let again: Vec<_> = (0..500).map(|_| shard.claim().unwrap().unwrap()).collect();
        assert!(again.iter().all(|slot| places.binary_search(&std::ptr::from_ref(slot.io())).is_ok()));
    }

    #[cfg(unix)]
    #[test]
    fn what_the_system_refuses_is_not_counted() {
        /// The system takes it, or refuses it.
        struct Object(std::io::Stdin, bool);
        impl std::os::fd::AsRawFd for Object {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.0.as_raw_fd()
            }
        }
        impl Source for Object {
            fn register(&mut self, _: &mio::Registry, _: Token, _: mio::Interest) -> io::Result<()> {
                if self.1 { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
            }
            fn reregister(&mut self, _: &mio::Registry, _: Token, _: mio::Interest) -> io::Result<()> {
                unreachable!("it is registered once")
            }
            fn deregister(&mut self, _: &mio::Registry) -> io::Result<()> {
                Ok(())
            }
        }
        let shard = shard();
        for (number, is_taken) in [true, false].into_iter().enumerate() {
            let mut object = Object(std::io::stdin(), is_taken);
            let mut slot = shard.claim().unwrap().unwrap();
            assert_eq!(shard.counts(), (0, number as u64));
            assert_eq!(slot.register(&mut object, Interest::READABLE).is_ok(), is_taken);
            assert_eq!(shard.counts(), (usize::from(is_taken), 1));
            let _ = slot.deregister(&mut object);
            drop(slot);
            assert_eq!((shard.counts(), claimed(&shard)), ((0, 1), 0));
        }
    }

    #[test]
    fn a_closed_shard_gives_out_nothing() {
        let shard = shard();
        let before = shard.claim().unwrap().unwrap();
        let mut visited = 0;
        shard.close(|_| visited += 1);
        assert_eq!(visited, FIRST_PAGE);
        assert!(shard.claim().is_err());
        drop(before);
        assert_eq!(claimed(&shard), 0);
    }
}
