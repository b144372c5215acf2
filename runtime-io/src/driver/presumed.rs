//! Sockets that are presumed to be empty, so that the read which would have been refused is not made.
//!
//! Edges oblige who reads to go on until a read is refused, or runs short: only then is it certain that the next data comes
//! with an event. Where messages fill their buffers that is one system call in four of a conversation, and it hardly ever
//! finds anything. So a registration which has that habit (`readiness/habit.rs`) takes a read that filled its buffer for
//! the last one, as if it had run short: its readiness is cleared, and the task waits.
//!
//! # Why nothing is lost
//!
//! If the presumption is right, the next data comes with an event. If it is wrong, data lies in the socket and no event need
//! come for it. So each presumption is *noted*, with the worker on which it was made, before the readiness is cleared; and a
//! presumption that is *given up* puts the readiness back, as an event would, unless there was an event meanwhile
//! ([`ScheduledIo::reopen`](crate::readiness::ScheduledIo::reopen)). Then the read is made after all. Given up are
//!
//! - all that a worker has, before it sleeps, when it steps aside, and when the monitor sees it stuck;
//! - when it comes by the drivers, those that have stood for [`SHORTEST`] and a few times as long as what is queued with it takes. In a
//!   conversation on a busy runtime the answer comes about two such lines later.
//!
//! A worker that is up comes by, sleeps, steps aside or gets stuck: so each presumption comes to its end, and one that was wrong
//! costs that delay. It does not happen often: a registration that it happens to gives up the habit, for twice as many messages
//! each time.
//!
//! An event for the other direction counts as well: epoll tells with every event all that a descriptor is ready for at that moment.
//! So this is for systems with epoll only ([`PRESUMES`](crate::readiness::PRESUMES)).
//!
//! Only a worker in the poll of a task may presume: nobody else is sure to come by. If it is stopped between the note and the
//! clearing, and the monitor gives the presumption up meanwhile, that counts as an event, and nothing is cleared.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use runtime_core::clock::Clock;
use runtime_core::primitive::Mutex;

use super::token::Address;

/// How long a presumption stands at least, unless its worker goes to sleep.
const SHORTEST: Duration = Duration::from_millis(4);
/// How many times what is queued with its worker may be worked off meanwhile.
const LINES: u32 = 4;
/// A worker has no more at a time: it is a bound for memory, 100 KiB, not one that is met in practice.
const MOST: usize = 4096;

/// A registration that is presumed to be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presumption {
    pub(super) of: Address,
    /// The count of events that the reader had seen.
    pub(super) tick: usize,
}

/// The presumptions of all workers. See the file.
#[derive(Debug)]
pub(super) struct Presumed {
    workers: Box<[Worker]>,
}

/// On lines of its own: its lock is taken by its worker only, but for a monitor that stands in.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Worker(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// Oldest first, with the clock's time at the first visit that found them there.
    waiting: VecDeque<(Presumption, Option<Instant>)>,
    counts: Counts,
}

/// What has become of presumptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) made: u64,
    pub(super) given_up: u64,
}

impl Presumed {
    /// For workers with these numbers, from zero, that come by the drivers.
    pub(super) fn new(workers: usize) -> Self {
        Self { workers: (0..workers).map(|_| Worker::default()).collect() }
    }

    /// Notes a presumption, if that worker may have one more.
    pub(super) fn note(&self, worker: usize, presumption: Presumption) -> bool {
        let Some(worker) = self.workers.get(worker) else { return false };
        let mut noted = worker.0.lock();
        if noted.waiting.len() >= MOST {
            return false;
        }
        noted.waiting.push_back((presumption, None));
        noted.counts.made += 1;
        true
    }

    /// The worker comes by, with so much queued: gives up what has stood for long enough. `reopen` says whether that was one
    /// that no event had come for.
    pub(super) fn give_up_old(&self, worker: usize, line: Duration, reopen: impl FnMut(Presumption) -> bool) {
        let stands = SHORTEST.saturating_add(line.saturating_mul(LINES));
        let Some(worker) = self.workers.get(worker) else { return };
        let mut noted = worker.0.lock();
        if noted.waiting.is_empty() {
            return;
        }
        let now = Clock::real();
        noted.waiting.iter_mut().rev().map_while(|(_, since)| since.is_none().then_some(since)).for_each(|since| {
            *since = Some(now);
        });
        let is_old = |since: Option<Instant>| since.is_some_and(|since| now.saturating_duration_since(since) >= stands);
        let old = noted.waiting.iter().take_while(|&&(_, since)| is_old(since)).count();
        noted.give_up(old, reopen);
    }

    /// The worker will not come by for a while: gives up all that it has.
    pub(super) fn give_up_all(&self, worker: usize, reopen: impl FnMut(Presumption) -> bool) {
        let Some(worker) = self.workers.get(worker) else { return };
        let mut noted = worker.0.lock();
        let all = noted.waiting.len();
        noted.give_up(all, reopen);
    }

    pub(super) fn counts(&self) -> Counts {
        self.workers.iter().map(|worker| worker.0.lock().counts).fold(Counts::default(), |sum, counts| Counts {
            made: sum.made + counts.made,
            given_up: sum.given_up + counts.given_up,
        })
    }
}

impl Noted {
    fn give_up(&mut self, oldest: usize, mut reopen: impl FnMut(Presumption) -> bool) {
        let reopened = self.waiting.drain(..oldest).filter(|&(presumption, _)| reopen(presumption)).count();
        self.counts.given_up += reopened as u64;
    }
}
