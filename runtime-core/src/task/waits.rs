//! What a task waits for: how leaf futures say it, and how it is told.
//!
//! A leaf that is about to return `Pending` calls [`note`]: two words, stored in what the thread knows of the poll. At
//! the end of the poll they go into the task's record (`record.rs`), and inspection makes a [`WaitsFor`] of them. The
//! words are values. None is a pointer that anybody follows, since what it pointed to could be gone.
//!
//! If several leaves do so in one poll, as in a `select!`, the last one counts; but a deadline, a cancellation token or
//! a signal does only if there is no other, since what a limit is put on says more than the limit.
//!
//! A leaf may be given up in the poll in which it has said something: it has lost a race, or its limit has come. Nobody
//! wakes the task for that, so what it said would stand until something else does. So `select!`, `try_join!`, timeouts
//! and cancellation take it back ([`said`]); and where others give up the leaves on whose word a stall is reported,
//! these do it themselves ([`withdraw`]).

#![cfg_attr(loom, allow(dead_code))] // models do not inspect

use std::fmt;
use std::net::SocketAddr;
use std::task::{Poll, Waker};
use std::time::Instant;

use super::{Id, current};
use crate::clock::{Clock, Moment};
use crate::inspect;

/// What a task waits for. Of several things, one: see [`TaskInfo::waits_for_others`](super::TaskInfo).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A socket, or another descriptor.
    #[non_exhaustive]
    Socket {
        /// What kind of socket it is.
        kind: SocketKind,
        /// Its own address, if it has one.
        local: Option<SocketAddr>,
        /// The address of the other end, if there is one.
        peer: Option<SocketAddr>,
    },
    /// A point in time, by the clock of the runtime.
    #[non_exhaustive]
    Timer {
        /// When it comes. `None`: never, or not in the time that an `Instant` can tell.
        deadline: Option<Instant>,
    },
    /// A channel: a message, or room for one.
    #[non_exhaustive]
    Channel {
        /// Which kind of channel, and which end.
        kind: ChannelKind,
    },
    /// A lock, or something else that tasks share.
    #[non_exhaustive]
    Lock {
        /// Which kind of lock.
        kind: LockKind,
        /// The task that has it, if that is known: the one that acquired it last, and has not given it back. If there
        /// is no such task any more, it has ended without giving the lock back: the guard was forgotten, or given away.
        /// Of a guard that owns its lock (`lock_owned` and its kind) the holder is not known.
        holder: Option<Id>,
    },
    /// The end of a task: its join handle.
    #[non_exhaustive]
    Join {
        /// The task.
        task: Id,
    },
    /// The end of a task of a group: of a `JoinSet`, a scope or a tracker.
    TaskGroup,
    /// The end of a job of `spawn_blocking`, or of an operation on a file or a standard stream.
    BlockingJob,
    /// A signal, from the user or another process.
    #[non_exhaustive]
    Signal {
        /// Its number, such as 2 for `SIGINT`.
        number: i32,
    },
    /// The other end of a stream in memory, such as `duplex`.
    MemoryStream,
    /// Something that the runtime does not know: a future of the program's own, or of another library.
    Unknown,
}

impl WaitsFor {
    /// A socket, for the crate that knows sockets.
    #[doc(hidden)]
    pub fn socket(kind: SocketKind, local: Option<SocketAddr>, peer: Option<SocketAddr>) -> Self {
        Self::Socket { kind, local, peer }
    }
}

/// Kinds of sockets, for [`WaitsFor::Socket`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SocketKind {
    /// A TCP stream or listener, or a connection attempt.
    Tcp,
    /// A UDP socket.
    Udp,
    /// A socket of the Unix domain.
    Unix,
    /// Another descriptor: a pipe, a process, or one of the program's own.
    Other,
}

/// Kinds and ends of channels, for [`WaitsFor::Channel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChannelKind {
    /// The receiver of an mpsc channel.
    MpscReceiver,
    /// A sender of a bounded mpsc channel that is full.
    MpscSender,
    /// The receiver of a oneshot channel.
    OneshotReceiver,
    /// The sender of a oneshot channel, which waits for the receiver to go.
    OneshotSender,
    /// A receiver of a broadcast channel.
    BroadcastReceiver,
    /// A receiver of a watch channel.
    WatchReceiver,
    /// The sender of a watch channel, which waits for the receivers to go.
    WatchSender,
}

/// Kinds of locks and the like, for [`WaitsFor::Lock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockKind {
    /// A mutex.
    Mutex,
    /// A read-write lock, to read.
    RwLockRead,
    /// A read-write lock, to write.
    RwLockWrite,
    /// A semaphore.
    Semaphore,
    /// A `Notify`.
    Notify,
    /// A barrier.
    Barrier,
    /// A cell that is set once.
    OnceCell,
    /// A cancellation token.
    CancellationToken,
}

/// What a leaf says that it waits for. See [`note`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Leaf {
    /// Until then.
    Timer(Instant),
    /// A descriptor, by its number.
    Descriptor(u64),
    Channel(ChannelKind),
    /// A lock, by an address that stands for it as long as anybody waits for it. Zero for none.
    Lock(LockKind, u64),
    Join(Id),
    TaskGroup,
    BlockingJob,
    /// A signal, by its number.
    Signal(i32),
    MemoryStream,
}

/// Says what the calling leaf future waits for, just before it returns `Pending`.
#[doc(hidden)]
#[inline]
pub fn note(leaf: Leaf) {
    if inspect::is_watched() {
        note_now(leaf, None);
    }
}

/// Outside of the leaves, which are meant to be as short as if nobody ever looked.
#[cold]
fn note_now(leaf: Leaf, left: Option<&Waker>) {
    let direct = if left.is_some_and(current::is_waker_of_current_task) { DIRECT } else { 0 };
    let note = Note::of(leaf);
    current::note_wait(Note { code: note.code | direct, ..note });
}

/// What a leaf future returns that waits for this.
#[doc(hidden)]
#[inline]
pub fn pending<T>(leaf: Leaf) -> Poll<T> {
    note(leaf);
    Poll::Pending
}

/// As [`note`], for a leaf that has left this waker where it waits.
#[doc(hidden)]
#[inline]
pub fn note_with(leaf: Leaf, waker: &Waker) {
    if inspect::is_watched() {
        note_now(leaf, Some(waker));
    }
}

/// The calling leaf future does not wait any more, and has taken its waker back. If that happens in the poll in which
/// it said what it waits for, the task is not known to wait for that: another leaf, which says nothing, may be all that
/// it waits for now.
#[doc(hidden)]
#[inline]
pub fn withdraw(leaf: Leaf) {
    if inspect::is_watched() {
        withdraw_now(leaf);
    }
}

#[cold]
fn withdraw_now(leaf: Leaf) {
    current::withdraw_wait(Note::of(leaf));
}

/// What a leaf future returns that waits for this, and has left this waker there.
#[doc(hidden)]
#[inline]
pub fn pending_with<T>(leaf: Leaf, waker: &Waker) -> Poll<T> {
    note_with(leaf, waker);
    Poll::Pending
}

/// What a leaf future returns that waits for this, unless it is ready.
#[doc(hidden)]
#[inline]
pub fn named<T>(poll: Poll<T>, leaf: Leaf) -> Poll<T> {
    if poll.is_pending() {
        note(leaf);
    }
    poll
}

/// What was said in a poll before a combinator was polled: see [`said`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Said(Option<Note>);

/// For a combinator that may be ready while futures in it still wait, to call before it polls them. If it is ready,
/// what they have said is over, and it calls [`Said::only`].
#[doc(hidden)]
#[inline]
pub fn said() -> Said {
    Said(if inspect::is_watched() { current::wait() } else { None })
}

impl Said {
    /// Forgets what was said since.
    #[doc(hidden)]
    #[inline]
    pub fn only(self) {
        if let Some(note) = self.0 {
            current::restore_wait(note);
        }
    }

    /// The same, if the combinator is ready.
    #[doc(hidden)]
    #[inline]
    pub fn unless_pending<T>(self, polled: Poll<T>) -> Poll<T> {
        if polled.is_ready() {
            self.only();
        }
        polled
    }
}

/// What a leaf has said: two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The class, the kind, whether there were others, and [`DIRECT`], in [`CODE_BITS`] bits.
    code: u32,
    word: u64,
}

const TIMER: u32 = 1;
const DESCRIPTOR: u32 = 2;
const CHANNEL: u32 = 3;
const LOCK: u32 = 4;
const JOIN: u32 = 5;
const BLOCKING_JOB: u32 = 6;
const TASK_GROUP: u32 = 7;
const SIGNAL: u32 = 8;
const MEMORY_STREAM: u32 = 9;
/// Up to 15 classes.
const CLASS: u32 = 0xf;
/// Above the class, the kind: up to 32 of each.
const KIND_SHIFT: u32 = 4;
/// Other leaves have said something in the same poll.
const AND_OTHERS: u32 = 1 << 9;
/// The leaf has left the waker of the task itself where it waits, not one of a combinator above it.
const DIRECT: u32 = 1 << 10;
/// How much of its word a code takes. A record has something else in the rest.
pub(super) const CODE_BITS: u32 = 11;
const _: () = assert!(MEMORY_STREAM <= CLASS && (LockKind::CancellationToken as u32) << KIND_SHIFT < AND_OTHERS);

impl Note {
    /// No leaf has said anything.
    pub(super) const NOTHING: Self = Self { code: 0, word: 0 };

    #[inline(always)]
    pub(super) fn of(leaf: Leaf) -> Self {
        let (code, word) = match leaf {
            Leaf::Timer(deadline) => (TIMER, Moment::of(deadline).word()),
            Leaf::Descriptor(number) => (DESCRIPTOR, number),
            Leaf::Channel(kind) => (CHANNEL | (kind as u32) << KIND_SHIFT, 0),
            Leaf::Lock(kind, address) => (LOCK | (kind as u32) << KIND_SHIFT, address),
            Leaf::Join(task) => (JOIN, task.0),
            Leaf::BlockingJob => (BLOCKING_JOB, 0),
            Leaf::TaskGroup => (TASK_GROUP, 0),
            Leaf::Signal(number) => (SIGNAL, u64::from(number.unsigned_abs())),
            Leaf::MemoryStream => (MEMORY_STREAM, 0),
        };
        Self { code, word }
    }

    /// From a word whose lowest bits are the code.
    #[inline]
    pub(super) fn from_parts(code: u64, word: u64) -> Self {
        Self { code: code as u32 & ((1 << CODE_BITS) - 1), word }
    }

    #[inline]
    pub(super) fn code(self) -> u32 {
        self.code
    }

    #[inline]
    pub(super) fn word(self) -> u64 {
        self.word
    }

    /// Whether any leaf has said anything.
    #[inline]
    pub(super) fn is_known(self) -> bool {
        self.code != 0
    }

    /// Whether that is what the task waits for: with a limit, there may be something else that nobody has told of.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    pub(super) fn is_certain(self) -> bool {
        self.is_known() && !self.is_secondary()
    }

    /// Whether it is certain that the leaf has left the task's own waker.
    pub(crate) fn is_direct(self) -> bool {
        self.code & DIRECT != 0
    }

    /// The same, but where the leaf has left a waker is not certain any more.
    pub(super) fn without_waker(self) -> Self {
        Self { code: self.code & !DIRECT, ..self }
    }

    pub(crate) fn has_others(self) -> bool {
        self.code & AND_OTHERS != 0
    }

    /// Without what one leaf has said.
    pub(super) fn without(self, leaf: Self) -> Self {
        let is_its = self.code & !(AND_OTHERS | DIRECT) == leaf.code && self.word == leaf.word;
        if is_its { Self { code: self.code & AND_OTHERS, word: 0 } } else { self }
    }

    /// Whether it puts an end to waiting for something else, mostly.
    fn is_secondary(self) -> bool {
        let code = self.code & !DIRECT;
        code == TIMER || code == SIGNAL || code == LOCK | (LockKind::CancellationToken as u32) << KIND_SHIFT
    }

    /// Both of them.
    #[inline]
    pub(super) fn and(self, later: Self) -> Self {
        if self == Self::NOTHING || self.code & !AND_OTHERS == later.code && self.word == later.word {
            return Self { code: self.code & AND_OTHERS | later.code, word: later.word };
        }
        let chosen = if later.is_secondary() { self } else { later };
        Self { code: chosen.code | AND_OTHERS, word: chosen.word }
    }

    /// What it says. The number of a descriptor is left to `socket`, and the holder of a lock to `holder`.
    pub(crate) fn tell(self, socket: impl FnOnce(u64) -> WaitsFor, holder: impl FnOnce(u64) -> Option<Id>) -> WaitsFor {
        let kind = (self.code & !(AND_OTHERS | DIRECT)) >> KIND_SHIFT;
        match self.code & CLASS {
            TIMER => WaitsFor::Timer { deadline: Moment::from_word(self.word).and_then(Moment::instant) },
            DESCRIPTOR => socket(self.word),
            CHANNEL => ChannelKind::from_number(kind).map_or(WaitsFor::Unknown, |kind| WaitsFor::Channel { kind }),
            LOCK => LockKind::from_number(kind)
                .map_or(WaitsFor::Unknown, |kind| WaitsFor::Lock { kind, holder: holder(self.word) }),
            JOIN => WaitsFor::Join { task: Id(self.word) },
            BLOCKING_JOB => WaitsFor::BlockingJob,
            TASK_GROUP => WaitsFor::TaskGroup,
            SIGNAL => WaitsFor::Signal { number: i32::try_from(self.word).unwrap_or_default() },
            MEMORY_STREAM => WaitsFor::MemoryStream,
            _ => WaitsFor::Unknown,
        }
    }
}

macro_rules! numbered {
    ($name:ident { $($kind:ident = $text:literal),* $(,)? }) => {
        impl $name {
            fn from_number(number: u32) -> Option<Self> {
                [$(Self::$kind),*].into_iter().find(|kind| *kind as u32 == number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$kind => $text,)*
                })
            }
        }
    };
}

numbered!(ChannelKind {
    MpscReceiver = "mpsc channel, to receive",
    MpscSender = "mpsc channel, to send",
    OneshotReceiver = "oneshot channel, to receive",
    OneshotSender = "oneshot channel, to be closed",
    BroadcastReceiver = "broadcast channel, to receive",
    WatchReceiver = "watch channel, to change",
    WatchSender = "watch channel, to be closed",
});
numbered!(LockKind {
    Mutex = "mutex",
    RwLockRead = "read-write lock, to read",
    RwLockWrite = "read-write lock, to write",
    Semaphore = "semaphore",
    Notify = "notify",
    Barrier = "barrier",
    OnceCell = "cell, to be set",
    CancellationToken = "cancellation token",
});

impl fmt::Display for SocketKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "TCP socket",
            Self::Udp => "UDP socket",
            Self::Unix => "Unix socket",
            Self::Other => "descriptor",
        })
    }
}

/// One line, as `TCP socket 127.0.0.1:80, peer 127.0.0.1:51234` or `mutex, held by task 7`.
impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket { kind, local, peer } => {
                kind.fmt(f)?;
                if let Some(local) = local {
                    write!(f, " {local}")?;
                }
                match peer {
                    Some(peer) => write!(f, ", peer {peer}"),
                    None => Ok(()),
                }
            }
            Self::Timer { deadline } => {
                let Some(deadline) = deadline else { return f.write_str("timer, for ever") };
                let left = deadline.saturating_duration_since(Clock::real());
                write!(f, "timer, in {left:?}")
            }
            Self::Channel { kind } => kind.fmt(f),
            Self::Lock { kind, holder: None } => kind.fmt(f),
            Self::Lock { kind, holder: Some(holder) } => write!(f, "{kind}, held by task {holder}"),
            Self::Join { task } => write!(f, "end of task {task}"),
            Self::BlockingJob => f.write_str("blocking job"),
            Self::TaskGroup => f.write_str("end of tasks of a group"),
            Self::Signal { number } => write!(f, "signal {number}"),
            Self::MemoryStream => f.write_str("stream in memory"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
