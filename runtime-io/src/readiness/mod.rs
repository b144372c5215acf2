//! The readiness of one registered descriptor, and the tasks that wait for it.
//!
//! The driver delivers events into a [`ScheduledIo`]. An operation looks at it, tries if it is ready, and clears it
//! if the attempt shows that it is not. It knows nothing of descriptors, tokens or the poller.
//!
//! # The protocol
//!
//! A `ScheduledIo` is one atomic [`word`] and the [`waiters`] behind a lock. **Flags are set under the lock, and
//! cleared without it.** The rest follows.
//!
//! - *Deliver* (the driver): takes the lock, checks that the generation is the token's, sets flags, increments the
//!   tick, takes the wakers concerned, and releases the lock. The wakers are given to the scheduler later still.
//! - *Look* (any thread): one load. If flags are set, the operation is tried.
//! - *Wait* (any thread): takes the lock, looks again, and, still under the lock, leaves a waker. A delivery is
//!   either wholly before this, then the second look sees its flags; or wholly after, then it finds the waker. No
//!   wake is lost.
//! - *Clear* (after an attempt in vain): a compare-exchange that removes flags if the tick is still the one that was
//!   seen before the attempt. If an event came meanwhile, the tick differs and nothing is cleared: the attempt may
//!   have been just before that event. A clear never sets anything, so it needs no lock; it can only make a waiter
//!   wait that would otherwise have tried in vain.
//! - *Shut down* (the driver, once): under the lock, sets the bit that nothing clears, and takes all wakers.
//! - *Retire* (the owner of the registration, at its end): under the lock, takes all wakers and moves on to the next
//!   generation, with no flags. Nobody looks, waits or clears at that time or after it: they all borrow the
//!   registration. An event of an older generation, which the driver may hold at that moment, finds under the lock that
//!   the generation has changed, and does nothing.
//!
//! # Wakers
//!
//! A waker may be anybody's code: to clone, call or drop one can block, panic, or come back to this very descriptor. So
//! none of these happens under the lock. The exception is the clone of a task's waker, which just counts, unless
//! `tracing` is told of it. If another waker has to be cloned, *wait* releases the lock, clones, and begins anew with
//! the clone in hand; what came in between is seen by the new look. The old waker is dropped after the lock is
//! released. (To compare two wakers is to compare two pointers each, and calls nothing.)
//!
//! # Orderings
//!
//! The lock orders everything between deliver, wait, shut down and retire. Only looks and clears touch the word
//! outside of it. A look is an Acquire load and pairs with the Release half of a delivery's update: a thread that
//! sees a flag also sees what the delivering thread did before. The clear's compare-exchange only has to be atomic;
//! it is AcqRel so that such a chain stays intact.
//!
//! # What is cleared
//!
//! After *would block* the system has just said that there is nothing in this direction, neither data nor an end of
//! it nor an error. So all flags of the direction are cleared, the closed ones included. (Pollers report some passing
//! conditions as closed; if such a flag stayed, the direction would be tried in vain for ever.) If the operation was
//! for both directions, it is not known which of them it failed in, and the closed flags stay. So it is if the user
//! says that there is nothing. The event may have woken others by then, who could go on: those in the list try once,
//! though no flag is set any more. (*Clear* takes the lock for that.)
//!
//! After a *short* read or write of a TCP stream, or a short read of a Unix stream, there is, as a rule, nothing left
//! for now. The end of the stream may have been announced already, with no event to come, so the closed flags stay. The
//! next section says where the rule holds.
//!
//! After a read that filled its buffer nothing is cleared.
//!
//! # What a short transfer proves
//!
//! In short: this clears readiness, besides *would block*. A *wary* registration is one where short reads prove
//! nothing, and a *lent* one belongs to a stream whose descriptor other code may know.
//!
//! | operation | as a rule | lent | wary |
//! |---|---|---|---|
//! | TCP: a read, `try_read`, `try_read_buf` | a short read | a short read, by the call that tells more | nothing |
//! | TCP: `try_read_vectored` | a short read | nothing: it becomes wary | nothing |
//! | TCP: a write | a partial write | a partial write | nothing |
//! | Unix streams: a read | a short read | nothing: it becomes wary | nothing |
//! | all others, `try_write` among them | nothing | nothing | nothing |
//!
//! Descriptors are registered edge-triggered: data that was there when an event was delivered is not announced again.
//! So to clear readiness it must be certain that the next operation in this direction would block. *Would block*
//! itself is proof, for every kind of descriptor, but costs a system call. A transfer that moved some bytes, but
//! fewer than it was asked for, looks like proof as well, because the system would have gone on if it could. But
//! reads run short for other reasons, with more to be read behind:
//!
//! | what is read | where a read stops |
//! |---|---|
//! | TCP | at the mark of urgent data; also when the urgent byte was taken out already (`MSG_OOB`), or is in line |
//! | TCP with kernel TLS | before a record of another type |
//! | TCP with an error pending | in front of the error |
//! | Unix streams | at the mark of urgent data; after descriptors (`SCM_RIGHTS`); where credentials are passed and change |
//! | sequenced packets, SCTP, datagrams, pipes in packet mode (`O_DIRECT`) | after each packet |
//! | terminals and pseudo-terminals | after each line, or each control byte in packet mode |
//! | inotify, signalfd, devices | after each record, or anywhere |
//! | anything, with `MSG_PEEK` | nothing is taken away, so all of it is still there |
//!
//! (`SO_RCVLOWAT` is no such reason: it holds back events, and reads take what there is.)
//!
//! So only plain reads and writes of a [`TcpStream`](crate::net::TcpStream) use the rule, but for `try_write`, and
//! reads of a `UnixStream` as an `AsyncRead`; they call `Registration::poll_transfer` and `try_read`. All other
//! operations clear readiness by *would block* or not at all: `AsyncFd`, whatever is in it; `try_io`, `async_io` and
//! `peek`; and the listener, which accepts until it is refused.
//!
//! And the rule holds only until the registration becomes *wary*, which it then stays. It becomes wary when
//!
//! - an event tells of urgent data or of an error;
//! - a read was told that something came with the bytes: descriptors or credentials on a Unix stream
//!   (`net/unix/stream_read.rs`), the type of a record of kernel TLS (see *loans*);
//! - the descriptor comes from outside and is not known to be of TCP, or it was accepted by a listener of which that is
//!   so. (Likewise for Unix streams, which also become wary when they are lent.)
//!
//! Why that is enough: a read has stopped at a mark, with bytes behind it, and is about to clear what it saw at some
//! tick. If those bytes came after the event of that tick was collected, an event of their own will follow, or has
//! followed and changed the tick. Otherwise mark and bytes were in the socket when that event was collected. The urgent
//! byte was there too, and the event told of it: the registration was wary before the reader saw the tick.
//!
//! One case is left out: the urgent byte comes out of order, before any segment has announced the mark, and Linux
//! never says that it is there (`TCP_URG_NOTYET`, for good). Only a peer that forges segments does that, and it
//! starves its own connection only. (So does the peer of a Unix stream on Linux 5.15 and 5.16 where they have urgent
//! bytes of such streams and do not yet announce them. And before 3.10 reads of Unix streams ended where credentials
//! change without a word: these systems are too old for rt.)
//!
//! After descriptors, and where credentials change, it is the reader that learns why the read ended, before it clears.
//! If two read a stream at once, and the other one's read ran short at the same time, then either that came later, and
//! nothing was left, or what was left came after it, and an event with it.
//!
//! *Would block* has one known exception. At an urgent mark, Linux refuses a read while a signal is pending for the
//! thread, though there are bytes behind the mark.
//!
//! A *partial write* to a stream socket means that Linux came to where it would have refused to write, and made the
//! same arrangements for the event that tells of room. The same conditions apply, although only the kind of the socket
//! and errors matter here. One call moves [`MAX_BYTES_AT_ONCE`] at most, so no more than that can have been asked for.
//!
//! # Loans
//!
//! Other code that comes to know the descriptor of a TCP stream (`AsFd`, `AsRawFd`), or has made it, can have the
//! system speak TLS on it. Next to nobody does. They set options, as HTTP clients do with each connection, or take the
//! number for a name; so the stream should make no further system call for it. From the first loan on it reads by a
//! call that tells if something came with the bytes, as from a Unix stream. The type of each record of data does, so
//! the first read of one makes the registration wary before it is cleared. (The first read of another record fails,
//! which clears nothing.) Writes of such records run short for want of room only, as those of bytes do.
//!
//! A loan counts as a tick, and a reader asks after its look whether there has been one. If it came before the look,
//! the reader sees it. If it came later, the tick is another one, and the reader, which may not have read in that way,
//! clears nothing.
//!
//! Some things that others can do are not noticed. They take an urgent byte out (`MSG_OOB`) without having waited for
//! the event that tells of it: at the signal `SIGURG`, say. The mark stays behind, and who reads up to it goes on only
//! when more arrives, or the stream ends. Or they give the socket to a protocol of the system that makes messages of
//! the bytes: `espintcp`, OpenVPN, or a program of BPF. The documentation of `TcpStream` says so.

mod waiters;
mod wakes;
mod word;

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::io;
use std::task::{Context, Poll, Waker};

use runtime_core::driver::clone_task_waker;
use runtime_core::primitive::Mutex;
use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use crate::interest::Interest;
use crate::ready::Ready;
use crate::shut_down;

pub(crate) use waiters::Direction;
use waiters::Waiters;
pub(crate) use wakes::WakeBatch;
use wakes::discard;
use word::Word;

/// Width of the generation, for the token that carries it as well.
pub(crate) const GENERATION_BITS: u32 = Word::GENERATION_BITS;

/// Whether a partial write to a TCP stream proves that the next one would block: where the poller is edge-triggered
/// (epoll, kqueue). Windows reports again only after an operation has really been refused, and so does mio's
/// emulation over `poll`.
pub(crate) const SHORT_WRITE_FILLS: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_os = "illumos",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
));

/// Whether a short read of a stream proves that the next one would block: where, besides, the poller tells of urgent
/// data.
pub(crate) const SHORT_READ_DRAINS: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The most bytes that one call is sure to move on any system: the lowest limit is Linux's, less than 2 GiB by a page,
/// of which the largest have 256 KiB.
const MAX_BYTES_AT_ONCE: usize = 0x7ffc_0000;

/// The readiness of one registered descriptor, and the wakers of all that wait for it. Aligned to a cache line.
#[repr(align(64))]
pub(crate) struct ScheduledIo {
    word: AtomicUsize,
    waiters: Mutex<Waiters>,
}

const _: () = assert!(cfg!(loom) || size_of::<ScheduledIo>() == 64);

/// What a look saw: the flags, and the tick at that moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadyEvent {
    /// The flags that concern the caller's interest. Empty only if it comes from [`ScheduledIo::look`], or if others
    /// have cleared them for whom they did not hold.
    pub(crate) ready: Ready,
    /// Whether the caller's interest was one direction only.
    one_way: bool,
    /// The number of events by then.
    tick: usize,
}

impl ReadyEvent {
    /// The same moment, with fewer or other flags.
    #[cfg_attr(not(unix), allow(dead_code))] // for the guards of `AsyncFd`
    pub(crate) fn with_ready(self, ready: Ready) -> Self {
        Self { ready, ..self }
    }
}

impl ScheduledIo {
    pub(crate) fn new() -> Self {
        Self { word: AtomicUsize::new(Word::FIRST.raw()), waiters: Mutex::new(Waiters::default()) }
    }

    /// The number of the slot's current registration.
    pub(crate) fn generation(&self) -> usize {
        self.load().generation()
    }

    #[inline]
    fn load(&self) -> Word {
        Word::from_raw(self.word.load(Acquire))
    }

    /// Changes the word atomically, unless `change` decides against it.
    fn update(&self, mut change: impl FnMut(Word) -> Option<Word>) {
        let _ = self.word.fetch_update(AcqRel, Acquire, |raw| change(Word::from_raw(raw)).map(Word::raw));
    }

    /// Sets flags that no event has told of: a socket that was just accepted can be written to. Called before the
    /// descriptor is in the poller, so there is nobody to wake.
    pub(crate) fn assume(&self, ready: Ready) {
        self.update(|word| Some(word.with_ready(ready)));
    }

    /// Delivers an event for the registration of this generation. False if that registration is gone.
    pub(crate) fn deliver(&self, generation: usize, ready: Ready, wakes: &mut WakeBatch) -> bool {
        let mut waiters = self.waiters.lock();
        // Relaxed: the generation changes only under the lock, which we hold.
        if Word::from_raw(self.word.load(Relaxed)).generation() != generation {
            return false;
        }
        self.update(|word| Some(word.with_event(ready)));
        waiters.take_concerned(ready, wakes);
        true
    }

    /// Fails all that waits from now on, because the driver is gone.
    pub(crate) fn shut_down(&self, wakes: &mut WakeBatch) {
        let mut waiters = self.waiters.lock();
        self.update(|word| Some(word.shut_down()));
        waiters.take_concerned(Ready::ALL, wakes);
    }

    /// Ends the registration, and prepares the slot for the next one.
    pub(crate) fn retire(&self) {
        let mut waiters = self.waiters.lock();
        self.update(|word| Some(word.next_generation()));
        let gone = std::mem::take(&mut *waiters);
        drop(waiters);
        // Left by polls whose futures are gone as well.
        gone.discard();
    }

    /// What is known now. The flags can be empty.
    ///
    /// # Errors
    ///
    /// If the driver is gone.
    #[inline]
    pub(crate) fn look(&self, interest: Interest) -> io::Result<ReadyEvent> {
        let word = self.load();
        if word.is_shut_down() {
            return Err(shut_down());
        }
        Ok(ReadyEvent {
            ready: word.ready().satisfying(interest),
            one_way: interest == Interest::READABLE || interest == Interest::WRITABLE,
            tick: word.tick(),
        })
    }

    /// Waits in the slot of a direction. Of several callers, the last one will be woken.
    #[inline]
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<io::Result<ReadyEvent>> {
        let interest = direction.interest();
        let event = self.look(interest)?;
        if !event.ready.is_empty() {
            return Poll::Ready(Ok(event));
        }
        self.wait(interest, cx.waker(), |waiters| Some(waiters.slot(direction)))
    }

    /// Waits in the list. `key` is the caller's entry in it, to be removed by [`leave`](Self::leave).
    fn poll_listed(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        key: &mut Option<usize>,
    ) -> Poll<io::Result<ReadyEvent>> {
        let event = self.look(interest)?;
        if !event.ready.is_empty() {
            return Poll::Ready(Ok(event));
        }
        self.wait(interest, cx.waker(), |waiters| waiters.listed(key, interest))
    }

    /// Looks again under the lock, and leaves a waker in `place` if no flag is set. If there is no place, it is ready.
    fn wait(
        &self,
        interest: Interest,
        waker: &Waker,
        mut place: impl FnMut(&mut Waiters) -> Option<&mut Option<Waker>>,
    ) -> Poll<io::Result<ReadyEvent>> {
        let mut spare = None;
        let outcome = loop {
            if let Some(outcome) = self.try_wait(interest, waker, &mut spare, &mut place) {
                break outcome;
            }
            // May be user code, so without the lock.
            spare = Some(waker.clone());
        };
        discard(spare);
        outcome
    }

    /// One step of [`wait`](Self::wait), under the lock. `None` if it needs a clone of the waker that must be made
    /// without the lock; the next step finds that clone in `spare`. What is in there after the last step is to be
    /// dropped.
    fn try_wait(
        &self,
        interest: Interest,
        waker: &Waker,
        spare: &mut Option<Waker>,
        place: impl FnOnce(&mut Waiters) -> Option<&mut Option<Waker>>,
    ) -> Option<Poll<io::Result<ReadyEvent>>> {
        let mut waiters = self.waiters.lock();
        let event = match self.look(interest) {
            Ok(event) if event.ready.is_empty() => event,
            outcome => return Some(Poll::Ready(outcome)),
        };
        let Some(place) = place(&mut waiters) else { return Some(Poll::Ready(Ok(event))) };
        if !place.as_ref().is_some_and(|there| there.will_wake(waker)) {
            let clone = spare.take().or_else(|| clone_task_waker(waker))?;
            *spare = place.replace(clone);
        }
        Some(Poll::Pending)
    }

    fn leave(&self, key: usize) {
        let mut waiters = self.waiters.lock();
        let gone = waiters.unlist(key);
        drop(waiters);
        discard(gone);
    }

    /// Clears after an operation that `event` led to was refused. False if flags had to stay that will lead to it
    /// again.
    #[inline]
    pub(crate) fn clear_refused(&self, event: ReadyEvent) -> bool {
        if event.one_way {
            self.clear(event.tick, event.ready);
            return true;
        }
        let passing = event.ready.without_closed();
        self.clear_in_doubt(event.tick, passing);
        passing == event.ready
    }

    /// Makes the registration wary: from now on a short transfer proves nothing.
    pub(crate) fn be_wary(&self) {
        self.update(|word| (!word.is_wary()).then(|| word.wary()));
    }

    /// Notes a loan. Called before other code comes to know the descriptor.
    pub(crate) fn lend(&self) {
        self.update(|word| (!word.is_lent()).then(|| word.lent()));
    }

    /// Whether the descriptor has been lent. An operation asks between its look and the system call.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        // Relaxed: the look was a load of the same word. If a loan comes after this, the tick is no longer the look's.
        Word::from_raw(self.word.load(Relaxed)).is_lent()
    }

    /// Clears if a plain read or write of a stream, which `event` led to, was short: if it moved `moved` bytes of
    /// `wanted`.
    #[inline]
    pub(crate) fn note_transfer(&self, event: ReadyEvent, direction: Direction, moved: usize, wanted: usize) {
        let is_proof = match direction {
            Direction::Read => SHORT_READ_DRAINS,
            Direction::Write => SHORT_WRITE_FILLS,
        };
        // If nothing moved, it was the end of the stream, or nothing was wanted.
        let is_short = 0 < moved && moved < wanted.min(MAX_BYTES_AT_ONCE);
        if is_proof && is_short {
            let passing = event.ready.without_closed();
            self.update(|word| (word.tick() == event.tick && !word.is_wary()).then(|| word.without_ready(passing)));
        }
    }

    /// Clears these flags because the user says that they do not hold. The closed flags are kept, as they come only
    /// once.
    #[cfg_attr(not(unix), allow(dead_code))] // for the guards of `AsyncFd`
    pub(crate) fn clear_drained(&self, event: ReadyEvent) {
        self.clear_in_doubt(event.tick, event.ready.without_closed());
    }

    /// As [`clear`](Self::clear), if that others could go on is possible: those in the list who were woken try.
    fn clear_in_doubt(&self, tick: usize, ready: Ready) {
        if !ready.is_empty() {
            let mut waiters = self.waiters.lock();
            self.clear(tick, ready);
            waiters.let_woken_try(ready);
        }
    }

    fn clear(&self, tick: usize, ready: Ready) {
        self.update(|word| (word.tick() == tick).then(|| word.without_ready(ready)));
    }
}

impl fmt::Debug for ScheduledIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.load();
        f.debug_struct("ScheduledIo").field("ready", &word.ready()).field("shut_down", &word.is_shut_down()).finish()
    }
}

/// An entry in the list of waiters: an operation that waits with an interest of its own.
///
/// The entry is made by the first poll that has to wait, kept over wakes, and removed on drop.
#[derive(Debug)]
pub(crate) struct Waiter<'a> {
    io: &'a ScheduledIo,
    interest: Interest,
    key: Option<usize>,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(io: &'a ScheduledIo, interest: Interest) -> Self {
        Self { io, interest, key: None }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ReadyEvent>> {
        self.io.poll_listed(cx, self.interest, &mut self.key)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.io.leave(key);
        }
    }
}
