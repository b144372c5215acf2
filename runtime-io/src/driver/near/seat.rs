//! [`Seat`]: with which poller a socket is, and when it moves.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU16, AtomicU32};

use mio::unix::SourceFd;
use socket2::SockRef;

use super::Nearby;
use crate::interest::Interest;

/// A poller: the shared one, or that of a worker, by its number and one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) u16);

impl Place {
    pub(super) const SHARED: Self = Self(0);

    pub(super) fn worker(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }
}

/// What a socket is to the system.
pub(crate) use std::os::fd::AsFd as Raw;

/// With which poller a registration is. It moves while it is in use, and only then: who registers or takes out has it alone.
#[derive(Debug)]
pub(in crate::driver) struct Seat {
    /// A [`Place`], or [`MOVING`].
    place: AtomicU16,
    /// The socket, if it is with a worker's.
    socket: AtomicI32,
    /// Where it should have been the last time that the system was asked.
    wanted: AtomicU16,
    /// How often it was the same, one after the other.
    agreed: AtomicU8,
    /// How many reads until it is asked again, and above these bits something like a random number, so that the two ends of
    /// a connection, if both are here, do not change places for ever.
    reads: AtomicU32,
}

const MOVING: u16 = u16::MAX;
/// The system is asked once in so many reads, and up to twice as many; at first after some more. To move costs as much as a
/// handful of reads gain by it (an estimate: 5 us for the two system calls), so a connection of fewer than thirty does not, and one of many has lost little by waiting.
const READS: u32 = 8;
const FIRST_READS: u32 = 16;
/// What is above these bits of the count: a power of two.
const STEP: u32 = 128;
/// So many answers must be the same for a socket to move; and to move back to the shared poller, because the number of those
/// that are up goes up and down.
const AGREE: u8 = 2;
const AGREE_TO_LEAVE: u8 = 16;

impl Seat {
    /// With the shared poller. The number should be another one for each: the two ends of a connection must not be asked for at
    /// the same time for ever.
    pub(in crate::driver) fn new(number: usize) -> Self {
        let random = (number as u32).wrapping_mul(0x9e37_79b9) / STEP * STEP;
        Self {
            place: AtomicU16::new(0),
            socket: AtomicI32::new(-1),
            wanted: AtomicU16::new(0),
            agreed: AtomicU8::new(0),
            reads: AtomicU32::new(random + FIRST_READS),
        }
    }

    /// For who has the registration alone, and the socket still open: takes it out of a worker's poller. `None` if it is with
    /// the shared one.
    pub(in crate::driver) fn leave(&mut self, nearby: &Nearby) -> Option<io::Result<()>> {
        let place = Place(std::mem::take(self.place.get_mut()));
        let poller = place.worker().map(|_| nearby.registry(place))?;
        nearby.count(place, false);
        Some(poller.and_then(|poller| poller.deregister(&mut SourceFd(self.socket.get_mut()))))
    }

    /// The socket has been read from: every now and then it may have to move.
    #[inline]
    pub(in crate::driver) fn note_read(
        &self,
        nearby: &Nearby,
        socket: &impl Raw,
        token: impl FnOnce() -> mio::Token,
        interest: Interest,
    ) {
        // Two readers at once may count as one.
        let reads = self.reads.load(Relaxed);
        if reads.is_multiple_of(STEP) {
            self.settle(nearby, socket.as_fd(), token(), interest);
        } else {
            self.reads.store(reads - 1, Relaxed);
        }
    }

    #[cold]
    fn settle(&self, nearby: &Nearby, socket: BorrowedFd<'_>, token: mio::Token, interest: Interest) {
        // The constants are those of Numerical Recipes' generator; its upper bits are the good ones.
        let random = (self.reads.load(Relaxed) / STEP).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.reads.store(random.wrapping_mul(STEP) + READS + (random >> 24) % READS, Relaxed);
        if !nearby.is_enabled() {
            return;
        }
        let now = self.place.load(Relaxed);
        if now == MOVING {
            return;
        }
        let now = Place(now);
        if now == Place::SHARED && !nearby.is_any_other_up() {
            return;
        }
        // A system that does not tell has all sockets stay.
        let Ok(processor) = SockRef::from(&socket).cpu_affinity() else { return };
        let place = nearby.place_for(processor, now);
        let before = Place(self.wanted.swap(place.0, Relaxed));
        let agreed = if place == before { self.agreed.load(Relaxed).saturating_add(1) } else { 1 };
        self.agreed.store(agreed, Relaxed);
        if place != now && agreed >= if place == Place::SHARED { AGREE_TO_LEAVE } else { AGREE } {
            // If the system refuses, it stays where it is.
            let _ = self.move_to(nearby, place, socket, token, interest);
        }
    }

    pub(super) fn move_to(
        &self,
        nearby: &Nearby,
        place: Place,
        socket: BorrowedFd<'_>,
        token: mio::Token,
        interest: Interest,
    ) -> io::Result<()> {
        // Acquire, and Release below: who moves it next finds the socket as the last one registered it.
        let from = self.place.swap(MOVING, Acquire);
        if from == MOVING {
            return Ok(());
        }
        let from = Place(from);
        if from == place {
            // Another reader has done it.
            self.place.store(from.0, Release);
            return Ok(());
        }
        let socket = socket.as_raw_fd();
        self.socket.store(socket, Relaxed);
        // Before it is there: who finds none there does not look.
        nearby.count(place, true);
        // First in, then out: nothing is overheard. What both report is reported twice.
        let moved = nearby.register(place, socket, token, interest.to_mio());
        nearby.count(if moved.is_ok() { from } else { place }, false);
        if moved.is_ok() {
            // It is there: the descriptor is open, and of this registration.
            let _ = nearby.registry(from).and_then(|from| from.deregister(&mut SourceFd(&socket)));
        }
        self.place.store(if moved.is_ok() { place.0 } else { from.0 }, Release);
        moved
    }
}
